package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Files with the output that is expected. {@code -Dgolden.regenerate=true} writes them anew; the test fails even then,
 * so that a difference is looked at before it counts.
 */
final class Golden {

    private static final String REGENERATE = "golden.regenerate";
    private static final Path FOLDER = Path.of("src", "test", "resources", "org", "brickprofiler", "trace", "read");

    private Golden() {}

    static void assertSame(String actual, String name) throws IOException {
        Path path = FOLDER.resolve(name);
        if (Boolean.getBoolean(REGENERATE)) {
            Files.writeString(path, actual);
            fail("%s was written anew: look at the difference, then run without -D%s", path, REGENERATE);
        }
        assertThat(actual).as(name).isEqualTo(Files.readString(path).replace("\r\n", "\n"));
    }
}
