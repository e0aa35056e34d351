package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.SourceTree;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Each published POM lists the artifacts that the classes of its jar use, and no other. */
@OneJdk
final class PublishedPomTest {

    private static final Pattern DEPENDENCY = Pattern.compile(
            "<dependency>\\s*<groupId>[^<]*</groupId>\\s*<artifactId>([^<]*)</artifactId>(?:(?!</dependency>).)*</dependency>",
            Pattern.DOTALL);

    /** A line of jdeps: the class that uses, the used one, and the jar of that one. */
    private static final Pattern USE = Pattern.compile("^ +\\S+ +-> (\\S+) +(\\S+)$");

    private static final Pattern JAR = Pattern.compile("(.+?)-\\d[\\w.]*(?:-SNAPSHOT)?\\.jar");

    /** Libraries found at run time, which no class names, have this scope. */
    private static final String RUNTIME = "<scope>runtime</scope>";

    private static Set<String> listed(Path project) throws IOException {
        Set<String> artifacts = new TreeSet<>();
        Matcher dependency =
                DEPENDENCY.matcher(Files.readString(project.resolve(Path.of("target", "published-pom.xml")))
                        .replaceFirst("(?s)<profiles>.*</profiles>", ""));
        while (dependency.find()) {
            if (!dependency.group().contains(RUNTIME)) {
                artifacts.add(dependency.group(1));
            }
        }
        return artifacts;
    }

    private static Set<String> used(Path project, Map<String, String> ours) {
        StringWriter out = new StringWriter();
        int exit = ToolProvider.findFirst("jdeps")
                .orElseThrow()
                .run(
                        new PrintWriter(out),
                        new PrintWriter(out),
                        "--multi-release",
                        "17",
                        "-verbose:class",
                        "-cp",
                        System.getProperty("java.class.path"),
                        classes(project).toString());
        assertThat(exit).as(out.toString()).isZero();
        String own = SourceTree.artifact(project);
        Set<String> artifacts = new TreeSet<>();
        out.toString().lines().map(USE::matcher).filter(Matcher::matches).forEach(use -> {
            String artifact = ours.get(use.group(1));
            Matcher jar = JAR.matcher(use.group(2));
            if (artifact != null) {
                artifacts.add(artifact);
            } else if (jar.matches()) {
                artifacts.add(jar.group(1));
            }
        });
        artifacts.remove(own);
        return artifacts;
    }

    /** Returns the artifact of each class of the projects. */
    private static Map<String, String> ours() {
        Map<String, String> ours = new HashMap<>();
        for (Path project : SourceTree.published()) {
            Path root = classes(project);
            try (Stream<Path> files = Files.walk(root)) {
                files.map(file -> root.relativize(file).toString())
                        .filter(name -> name.endsWith(".class"))
                        .forEach(name -> ours.put(
                                name.substring(0, name.length() - ".class".length())
                                        .replace('/', '.'),
                                SourceTree.artifact(project)));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return ours;
    }

    private static Path classes(Path project) {
        return project.resolve(Path.of("target", "classes"));
    }

    @TestFactory
    Stream<DynamicTest> listsWhatItsClassesUse() {
        Map<String, String> ours = ours();
        return SourceTree.published().stream()
                .map(project ->
                        DynamicTest.dynamicTest(SourceTree.artifact(project), () -> assertThat(used(project, ours))
                                .isEqualTo(listed(project))));
    }
}
