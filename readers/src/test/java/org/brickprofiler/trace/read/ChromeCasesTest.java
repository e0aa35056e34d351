package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.brickprofiler.BrickStats;
import org.brickprofiler.testing.Golden;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Compares the profile of each trace of the folder {@code chrome} with the text file beside the trace. A file of rules
 * beside the trace replaces the built-in rules.
 */
final class ChromeCasesTest {

    private static final Path FOLDER =
            Path.of("src", "test", "resources", "org", "brickprofiler", "trace", "read", "chrome");

    private static List<String> cases(String ending) throws IOException {
        try (Stream<Path> files = Files.list(FOLDER)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(ending))
                    .map(name -> name.substring(0, name.length() - ending.length()))
                    .sorted()
                    .toList();
        }
    }

    private static List<String> traces() throws IOException {
        return cases(".json");
    }

    @ParameterizedTest
    @MethodSource("traces")
    void isReadAsTheTextSays(String name) throws IOException {
        Path rules = FOLDER.resolve(name + ".rules");
        ReadOptions options = Files.exists(rules)
                ? ReadOptions.defaults().withRules(TraceRules.parse(Files.readString(rules)))
                : ReadOptions.defaults();
        Golden.assertSame(
                text(Traces.read(Files.readString(FOLDER.resolve(name + ".json")), options)),
                ChromeCasesTest.class,
                "chrome/" + name + ".txt");
    }

    @Test
    void everyTextAndEveryRuleBelongsToATrace() throws IOException {
        assertThat(cases(".txt")).isEqualTo(traces());
        assertThat(traces()).containsAll(cases(".rules"));
    }

    /** The result of reading a trace; times in ns. */
    private static String text(TraceProfile reading) {
        StringBuilder text = new StringBuilder()
                .append("counts %s: wall %d, busy %d, idle %d, rows %d%n"
                        .formatted(
                                reading.counting(),
                                reading.wallNs(),
                                reading.busyNs(),
                                reading.idleNs(),
                                reading.rows()));
        for (BrickStats brick : reading.snapshot().bricks()) {
            text.append("brick %s (%s): %d x, total %d, least %d, most %d, elements %d, bytes %d%n"
                    .formatted(
                            brick.name(),
                            brick.category().displayName(),
                            brick.count(),
                            brick.totalNs(),
                            brick.minNs(),
                            brick.maxNs(),
                            brick.totalElements(),
                            brick.totalBytes()));
        }
        TraceProfile.Unmatched unmatched = reading.unmatched();
        text.append("unmatched: names %d, events %d, time %d%n"
                .formatted(unmatched.kernels(), unmatched.events(), unmatched.elapsedNs()));
        for (Omission omission : reading.omissions()) {
            text.append("omits %s '%s': %d x, time %d%s%n"
                    .formatted(
                            omission.reason(),
                            omission.name(),
                            omission.count(),
                            omission.elapsedNs(),
                            omission.firstOffset() == Omission.NO_OFFSET
                                    ? ""
                                    : ", first at " + omission.firstOffset()));
        }
        return text.toString().replace("\r\n", "\n");
    }
}
