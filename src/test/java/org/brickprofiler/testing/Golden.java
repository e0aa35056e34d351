package org.brickprofiler.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Compares outputs with the expected ones in files. With {@code -Dgolden.regenerate=true} it writes the files anew, and
 * the test fails all the same, so that somebody looks at the difference first.
 */
public final class Golden {

    /** The system property that has the files written anew. */
    public static final String REGENERATE = "golden.regenerate";

    private static final Path RESOURCES = Path.of("src", "test", "resources");

    private Golden() {}

    /** Returns a file in the folder of a test's package. */
    public static Path path(Class<?> test, String name) {
        return RESOURCES.resolve(test.getPackageName().replace('.', '/')).resolve(name);
    }

    /** Compares with a file in the folder of a test's package. */
    public static void assertSame(String actual, Class<?> test, String name) throws IOException {
        assertSame(actual, path(test, name));
    }

    /** Compares with a page of {@code docs}. */
    public static void assertSameDocument(String actual, String name) throws IOException {
        assertSame(actual, SourceTree.path("docs", name));
    }

    /** Compares with a file of the project. */
    public static void assertSame(String actual, Path path) throws IOException {
        if (Boolean.getBoolean(REGENERATE)) {
            Files.writeString(path, actual);
            fail("%s was written anew: look at the difference, then run without -D%s", path, REGENERATE);
        }
        String expected = Files.readString(path).replace("\r\n", "\n");
        assertThat(actual).as(path.toString()).isEqualTo(expected);
    }
}
