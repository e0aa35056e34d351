package org.brickprofiler.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The class path of a program of a user: a part of the one of these tests. */
public final class UserClassPath {

    private UserClassPath() {}

    /**
     * Returns the class path with the library, its dependencies, and more.
     *
     * @param artifacts the names of further artifacts: of a project here, such as {@code brick-profiler-metrics}, or of
     *     a library, such as {@code micrometer-core}
     */
    public static String of(String... artifacts) {
        return Stream.concat(Stream.of("brick-profiler", "jackson-core"), Stream.of(artifacts))
                .map(UserClassPath::entry)
                .map(Path::toString)
                .collect(Collectors.joining(File.pathSeparator));
    }

    /** Returns the jar of an artifact, or the folder of its classes if it is a project whose jar is not made yet. */
    public static Path entry(String artifact) {
        List<Path> found = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(each -> Path.of(each).toAbsolutePath())
                .filter(each -> each.getFileName().toString().matches(artifact + "-[\\d.]+(-SNAPSHOT)?\\.jar")
                        || each.equals(classes(artifact)))
                .toList();
        assertThat(found).as("entries of the class path for " + artifact).hasSize(1);
        return found.get(0);
    }

    private static Path classes(String artifact) {
        String project = artifact.replaceFirst("brick-profiler-?", "");
        return SourceTree.path(project, "target", "classes");
    }
}
