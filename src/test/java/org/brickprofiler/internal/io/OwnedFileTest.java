package org.brickprofiler.internal.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.brickprofiler.internal.io.OwnedFile.Writer;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Spec("23.13")
final class OwnedFileTest {

    private static OwnedFile<String> begin(Path path) throws IOException {
        return OwnedFile.begin(path, (value, file) -> Files.writeString(file, value), Files::readString);
    }

    private static OwnedFile<String> withoutHardLinks(Path path) throws IOException {
        return OwnedFile.begin(
                path, (value, file) -> Files.writeString(file, value), Files::readString, (link, existing) -> {
                    throw new FileSystemException(link.toString(), existing.toString(), "Operation not permitted");
                });
    }

    @TempDir
    private Path folder;

    private List<String> files() throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.map(each -> each.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void deletesTheFileOfAnEarlierRunAtTheBeginning() throws Exception {
        Path path = Files.writeString(folder.resolve("run.json"), "earlier");
        OwnedFile<String> file = begin(path);
        assertThat(path).doesNotExist();
        assertThat(file.write("now", "now"::equals)).isEqualTo(Writer.THIS);
        assertThat(path).hasContent("now");
    }

    @Test
    void leavesWhatTheApplicationHasWritten() throws Exception {
        Path path = folder.resolve("run.json");
        OwnedFile<String> file = begin(path);
        Files.writeString(path, "own");
        assertThat(file.write("library", "own"::equals)).isEqualTo(Writer.APPLICATION);
        assertThat(path).hasContent("own");
        assertThat(files()).containsExactly("run.json");
    }

    @Test
    void aSecondWriteReplacesTheFirst() throws Exception {
        OwnedFile<String> file = begin(folder.resolve("run.json"));
        assertThat(file.write("first", "first"::equals)).isEqualTo(Writer.THIS);
        assertThat(file.write("second", "first"::equals)).isEqualTo(Writer.THIS);
        assertThat(folder.resolve("run.json")).hasContent("second");
        assertThat(files()).containsExactly("run.json");
    }

    @Test
    void aFileThatIsReplacedIsNeverMissing() throws Exception {
        Path path = folder.resolve("run.json");
        OwnedFile<String> file = begin(path);
        file.write("complete", "complete"::equals);
        AtomicBoolean isDone = new AtomicBoolean();
        CompletableFuture<Integer> missing = CompletableFuture.supplyAsync(() -> {
            int times = 0;
            while (!isDone.get()) {
                times += Files.exists(path) ? 0 : 1;
            }
            return times;
        });
        for (int i = 0; i < 2_000; i++) {
            file.write("complete", "complete"::equals);
        }
        isDone.set(true);
        assertThat(missing.get()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void ofManyProcessesOneHasTheFile(boolean hasHardLinks) throws Exception {
        List<OwnedFile<String>> processes = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            processes.add(
                    hasHardLinks ? begin(folder.resolve("run.json")) : withoutHardLinks(folder.resolve("run.json")));
        }
        AtomicInteger first = new AtomicInteger();
        processes.parallelStream().forEach(process -> {
            try {
                if (process.write("of one", value -> false) == Writer.THIS) {
                    first.incrementAndGet();
                }
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        assertThat(first).hasValue(1);
        assertThat(files())
                .containsExactlyInAnyOrder(
                        "run.json", processes.get(0).besidePath().getFileName().toString());
    }

    /** Another process writes its file between the look at the folder and the write. */
    @Test
    void withoutHardLinksTheFileOfAnotherProcessIsLeft() throws Exception {
        Path path = folder.resolve("run.json");
        OwnedFile<String> file =
                OwnedFile.begin(path, (value, to) -> Files.writeString(to, value), Files::readString, (link, from) -> {
                    Files.writeString(path, "of another process");
                    throw new UnsupportedOperationException("no hard links");
                });
        assertThat(file.write("own", "own"::equals)).isEqualTo(Writer.OTHER_PROCESS);
        assertThat(path).hasContent("of another process");
        assertThat(file.besidePath()).hasContent("own");
    }

    @Spec("8.3")
    @Test
    void theNewFileHasThePermissionsOfTheEarlierOne() throws Exception {
        Path path = Files.writeString(folder.resolve("run.json"), "earlier");
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
        OwnedFile<String> file = begin(path);
        for (String value : List.of("first", "second")) {
            file.write(value, value::equals);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                    .isEqualTo("rw-------");
        }
    }

    @Spec("8.3")
    @Test
    void aLinkWithoutATargetIsRefused() throws Exception {
        Path link = Files.createSymbolicLink(folder.resolve("run.json"), Path.of("missing"));
        assertThatThrownBy(() -> begin(link))
                .hasMessageStartingWith("cannot write " + link + ": it is a link to missing, which leads to no file");
    }

    @Test
    void refusesAtTheBeginningWhatCannotBeWrittenAtTheEnd() throws Exception {
        Path missing = folder.resolve("none").resolve("run.json");
        assertThatThrownBy(() -> begin(missing))
                .isInstanceOf(IOException.class)
                .hasMessage("cannot write " + missing + ": the folder " + missing.getParent() + " does not exist");
        assertThatThrownBy(() -> begin(folder)).hasMessage("cannot write " + folder + ": it is a folder");
        Path plain = Files.writeString(folder.resolve("plain"), "x").resolve("run.json");
        assertThatThrownBy(() -> begin(plain)).hasMessageEndingWith("plain is a file");
    }
}
