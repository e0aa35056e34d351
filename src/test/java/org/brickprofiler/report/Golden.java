package org.brickprofiler.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Files with the output that is expected. {@code -Dgolden.regenerate=true} writes them anew; the test fails even then,
 * so that a difference is looked at before it counts.
 */
public final class Golden {

    private static final String REGENERATE = "golden.regenerate";
    private static final Path FOLDER = Path.of("src", "test", "resources", "org", "brickprofiler", "report");

    private Golden() {}

    static Path path(String name) {
        return FOLDER.resolve(name);
    }

    static void assertSame(String actual, String name) throws IOException {
        assertSame(actual, path(name));
    }

    /** Compares with a file, or writes it anew. */
    public static void assertSame(String actual, Path file) throws IOException {
        if (Boolean.getBoolean(REGENERATE)) {
            Files.writeString(file, actual);
            fail("%s was written anew: look at the difference, then run without -D%s", file, REGENERATE);
        }
        String expected = Files.readString(file).replace("\r\n", "\n");
        assertThat(actual).as(file.toString()).isEqualTo(expected);
    }
}
