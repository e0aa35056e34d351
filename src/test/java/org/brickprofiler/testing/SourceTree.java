package org.brickprofiler.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The whole source tree, of which the tests of each project see their own folder as the current one. */
public final class SourceTree {

    private static final Pattern ARTIFACT = Pattern.compile("</parent>\\s*<artifactId>(.*?)</artifactId>");

    private static final Path TOP = top(Path.of("").toAbsolutePath());

    private SourceTree() {}

    /** Returns a file or folder of the tree, by its path from the top. */
    public static Path path(String first, String... more) {
        return TOP.resolve(Path.of(first, more));
    }

    /** Returns the folders of all projects, that of the library first. */
    public static List<Path> projects() {
        try (Stream<Path> folders = Files.list(TOP)) {
            return Stream.concat(
                            Stream.of(TOP),
                            folders.filter(each -> Files.exists(each.resolve("pom.xml")))
                                    .filter(each -> Files.isDirectory(each.resolve("src")))
                                    .sorted())
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the folders of the projects that have more than tests, that of the library first. */
    public static List<Path> published() {
        return projects().stream()
                .filter(project -> Files.isDirectory(project.resolve(Path.of("src", "main"))))
                .toList();
    }

    /** Returns the name of a project's artifact. */
    public static String artifact(Path project) {
        try {
            Matcher artifact = ARTIFACT.matcher(Files.readString(project.resolve("pom.xml")));
            if (artifact.find()) {
                return artifact.group(1);
            }
            throw new IllegalStateException("no artifact in " + project);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the Java sources of all projects, with tests and benchmarks. */
    public static List<Path> javaFiles() {
        List<Path> all = new ArrayList<>();
        for (Path project : projects()) {
            try (Stream<Path> files = Files.walk(project.resolve("src"))) {
                files.filter(each -> each.toString().endsWith(".java")).forEach(all::add);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return all;
    }

    private static Path top(Path folder) {
        Path parent = folder;
        while (!Files.isDirectory(parent.resolve(".mvn"))) {
            parent = parent.getParent();
            if (parent == null) {
                throw new IllegalStateException("no folder above " + folder + " is the top of the source tree");
            }
        }
        return parent;
    }
}
