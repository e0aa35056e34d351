package org.brickprofiler.internal.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.brickprofiler.internal.io.OwnedFile.Writer;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Spec("16.20")
final class OwnedFileTest {

    private static final FileFormat<String> TEXT = new FileFormat<>(String.class) {
        @Override
        public void write(String value, Map<String, ?> further, Path path) throws IOException {
            throw new IOException("not asked for");
        }

        @Override
        public void writeFull(String value, Path path) throws IOException {
            Files.writeString(path, value);
        }

        @Override
        public String read(Path path) throws IOException {
            return Files.readString(path);
        }

        @Override
        public void requireLibraries() {}
    };

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
        OwnedFile<String> file = OwnedFile.begin(path, TEXT);
        assertThat(path).doesNotExist();
        assertThat(file.write("now", "now"::equals)).isEqualTo(Writer.THIS);
        assertThat(path).hasContent("now");
    }

    @Test
    void leavesWhatTheApplicationHasWritten() throws Exception {
        Path path = folder.resolve("run.json");
        OwnedFile<String> file = OwnedFile.begin(path, TEXT);
        Files.writeString(path, "own");
        assertThat(file.write("library", "own"::equals)).isEqualTo(Writer.APPLICATION);
        assertThat(path).hasContent("own");
        assertThat(files()).containsExactly("run.json");
    }

    @Test
    void ofManyProcessesOneHasTheFile() throws Exception {
        OwnedFile<String> file = OwnedFile.begin(folder.resolve("run.json"), TEXT);
        AtomicInteger first = new AtomicInteger();
        IntStream.range(0, 16).parallel().forEach(writer -> {
            try {
                if (file.write("of " + writer, value -> false) == Writer.THIS) {
                    first.incrementAndGet();
                }
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        assertThat(first).hasValue(1);
        assertThat(files())
                .containsExactlyInAnyOrder(
                        "run.json", file.besidePath().getFileName().toString());
    }

    @Test
    void refusesAtTheBeginningWhatCannotBeWrittenAtTheEnd() throws Exception {
        Path missing = folder.resolve("none").resolve("run.json");
        assertThatThrownBy(() -> OwnedFile.begin(missing, TEXT))
                .isInstanceOf(IOException.class)
                .hasMessage("cannot write " + missing + ": the folder " + missing.getParent() + " does not exist");
        assertThatThrownBy(() -> OwnedFile.begin(folder, TEXT))
                .hasMessage("cannot write " + folder + ": it is a folder");
        Path plain = Files.writeString(folder.resolve("plain"), "x").resolve("run.json");
        assertThatThrownBy(() -> OwnedFile.begin(plain, TEXT)).hasMessageEndingWith("plain is a file");
    }
}
