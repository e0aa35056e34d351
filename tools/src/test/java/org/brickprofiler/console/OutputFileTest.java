package org.brickprofiler.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class OutputFileTest {

    @TempDir
    Path folder;

    @Test
    void acceptsANewFileAndLeavesNoTrace() {
        OutputFile.requireWritable(folder.resolve("new.json"));

        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void acceptsAnExistingFileAndLeavesItAsItIs() throws IOException {
        Path existing = Files.writeString(folder.resolve("old.json"), "old");

        OutputFile.requireWritable(existing);

        assertThat(existing).hasContent("old");
    }

    @Test
    void acceptsABareName() {
        assertThatCode(() -> OutputFile.requireWritable(Path.of("some.json"))).doesNotThrowAnyException();
    }

    @Test
    void refusesAFolder() {
        assertRefused(folder, "cannot write " + folder + ": it is a folder");
        assertRefused(Path.of("/"), "cannot write " + Path.of("/") + ": it is a folder");
    }

    @Test
    void refusesAFolderThatDoesNotExist() {
        Path missing = folder.resolve("missing");

        assertRefused(
                missing.resolve("a.json"),
                "cannot write " + missing.resolve("a.json") + ": the folder " + missing + " does not exist");
    }

    @Test
    void refusesAFileInAFile() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));

        assertRefused(
                file.resolve("a.json"), "cannot write " + file.resolve("a.json") + ": " + file + " is not a folder");
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "needs a folder that not even root can write to")
    void refusesAFolderThatCannotBeWrittenTo() {
        assertRefused(Path.of("/proc/a.json"), "cannot write /proc/a.json: the folder /proc cannot be written to");
    }

    @Test
    void looksAtTheFileThatALinkLeadsTo() throws IOException {
        Path file = Files.createDirectory(folder.resolve("other")).resolve("a.json");
        Path link = Files.createSymbolicLink(folder.resolve("link.json"), file);

        assertRefused(
                link,
                "cannot write " + link + ": it is a link to " + file + ", which leads to no file; create that file, or"
                        + " remove the link");
        Files.createFile(file);
        OutputFile.requireWritable(link);
        assertThat(file.getParent()).isDirectoryContaining("glob:**a.json");
    }

    private static void assertRefused(Path file, String message) {
        assertThatThrownBy(() -> OutputFile.requireWritable(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }
}
