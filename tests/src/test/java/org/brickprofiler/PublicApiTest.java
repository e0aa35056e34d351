package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedSet;
import java.util.function.IntSupplier;
import org.brickprofiler.testing.Golden;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.SourceTree;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Compares the public API of each artifact with its file in {@code docs/api}. Until a release, a file has the current
 * signatures. From then on it has those of the release, its first line says so, and only a change that breaks code of
 * users fails the test, unless the changelog names what has changed. Public, since its stand-ins have to be.
 */
@OneJdk
public final class PublicApiTest {

    private static final String UNRELEASED = "not released";

    static List<Path> projects() {
        return PublicApi.projects();
    }

    @ParameterizedTest
    @MethodSource("projects")
    void theApiIsThatOfItsFile(Path project) throws IOException {
        String artifact = SourceTree.artifact(project);
        Path file = SourceTree.path("docs", "api", artifact + ".txt");
        SortedSet<String> now = PublicApi.ofProject(project);
        String release = System.getProperty("api.release", UNRELEASED);
        List<String> known = Files.exists(file) ? Files.readAllLines(file) : List.of("# " + artifact + ", " + release);
        if (Boolean.getBoolean(Golden.REGENERATE) || known.get(0).endsWith(UNRELEASED)) {
            Golden.assertSame("# " + artifact + ", " + release + "\n" + String.join("\n", now) + "\n", file);
        }
        SortedSet<String> released = PublicApi.signatures();
        released.addAll(known.subList(1, known.size()));
        assertThat(PublicApi.breaks(released, now, Files.readString(SourceTree.path("CHANGELOG.md"))))
                .as("changes of %s that break code of users, and that CHANGELOG.md does not name", artifact)
                .isEmpty();
    }

    /** Stands for a type of a release. */
    public interface Before extends IntSupplier {
        int CONSTANT = 1;

        void kept();

        void gone(List<? extends Number> numbers) throws IOException;

        default <T extends Comparable<T>> T changed(T given) {
            return given;
        }
    }

    /** Stands for the same type later. */
    public interface After {
        int CONSTANT = 2;

        void kept();

        default <T extends Comparable<T>> void changed(T given) {}

        void demanded();

        default void offered() {}
    }

    abstract static class Hidden {
        public void inherited() {}
    }

    /** Stands for a class that may not be extended, with a superclass that is not public. */
    public static final class Open extends Hidden {
        private Open() {}

        @SuppressWarnings("ProtectedMembersInFinalClass") // it must not become a signature
        protected void unreachable() {}
    }

    private static SortedSet<String> of(Class<?> type) {
        SortedSet<String> renamed = PublicApi.signatures();
        PublicApi.ofType(type)
                .forEach(signature -> renamed.add(
                        signature.replaceAll("org\\.brickprofiler\\.PublicApiTest\\.\\w+", "example.Type")));
        return renamed;
    }

    @Test
    void whatUsersCanCallIsASignature() {
        assertThat(of(Before.class))
                .containsExactly(
                        "example.Type is a java.util.function.IntSupplier",
                        "extensible example.Type",
                        "interface example.Type",
                        "static int example.Type.CONSTANT",
                        "<T extends java.lang.Comparable<T>> T example.Type.changed(T)",
                        "abstract void example.Type.gone(java.util.List<? extends java.lang.Number>) throws"
                                + " java.io.IOException",
                        "abstract void example.Type.kept()");
        assertThat(of(Open.class)).containsExactly("class example.Type", "void example.Type.inherited()");
        assertThat(of(Hidden.class)).isEmpty();
    }

    @Test
    void whatBreaksCodeOfUsersIsFoundUnlessItIsNamed() {
        assertThat(PublicApi.breaks(of(Before.class), of(Before.class), "")).isEmpty();
        assertThat(PublicApi.breaks(of(Before.class), of(After.class), "`Type.other`"))
                .containsExactly(
                        "example.Type is a java.util.function.IntSupplier",
                        "<T extends java.lang.Comparable<T>> T example.Type.changed(T)",
                        "abstract void example.Type.gone(java.util.List<? extends java.lang.Number>) throws"
                                + " java.io.IOException",
                        "abstract void example.Type.demanded()");
        assertThat(PublicApi.breaks(
                        of(Before.class), of(After.class), "`Type.changed`, `Type.gone`, `Type.demanded` and `Type`"))
                .isEmpty();
        assertThat(PublicApi.breaks(of(Before.class), PublicApi.signatures(), ""))
                .hasSize(of(Before.class).size());
    }
}
