package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.SourceTree;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The script {@code brick}, in a source tree with a Maven and a Java that only print how they were called. */
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "Windows runs brick.cmd")
class BrickScriptTest {

    private static final Instant BUILT = Instant.parse("2024-05-06T07:08:09Z");
    private static final String BUILDS =
            "brick: building tools/target/brick.jar, which is missing or older than its sources";

    @TempDir
    Path folder;

    private Path root;
    private Path jar;

    @BeforeEach
    void layOut() throws IOException {
        root = Files.createDirectory(folder.resolve("a tree"));
        for (String each : List.of("src/main", "tools/src/main", "tools/src/test", "tools/target", "agent", "build")) {
            Files.createDirectories(root.resolve(each));
        }
        for (String each :
                List.of("src/main/A.java", "pom.xml", "tools/pom.xml", "build/parent.xml", "agent/assembly.xml")) {
            Files.createFile(root.resolve(each));
        }
        jar = Files.createFile(root.resolve("tools").resolve("target").resolve("brick.jar"));
        try (Stream<Path> all = Files.walk(root)) {
            for (Path each : all.toList()) {
                Files.setLastModifiedTime(each, FileTime.from(BUILT.minusSeconds(60)));
            }
        }
        Files.setLastModifiedTime(jar, FileTime.from(BUILT));
        Files.copy(SourceTree.path("brick"), root.resolve("brick"));

        Path programs = Files.createDirectories(folder.resolve("jdk").resolve("bin"));
        program(programs.resolve("mvn"), "echo \"mvn $*\"; touch '" + jar + "'");
        program(programs.resolve("java"), "printf '<%s>\\n' \"$@\"; exit \"${EXIT_CODE:-0}\"");
    }

    private static void program(Path file, String body) throws IOException {
        Files.writeString(file, "#!/bin/sh\n" + body + "\n");
        assertThat(file.toFile().setExecutable(true)).isTrue();
    }

    private ProcessResult brick(Path script, Map<String, String> variables, String... arguments) throws IOException {
        return ChildProcess.of(script.toString())
                .arguments(List.of(arguments))
                .environment(Map.of(
                        "JAVA_HOME",
                        folder.resolve("jdk").toString(),
                        "PATH",
                        folder.resolve("jdk").resolve("bin") + ":" + System.getenv("PATH")))
                .environment(variables)
                .in(folder)
                .limit(Duration.ofSeconds(60))
                .run();
    }

    private ProcessResult brick(String... arguments) throws IOException {
        return brick(root.resolve("brick"), Map.of(), arguments);
    }

    @Test
    void aJarThatIsNewerThanItsSourcesIsNotBuilt() throws IOException {
        Files.createFile(root.resolve("tools").resolve("src").resolve("test").resolve("ATest.java"));

        ProcessResult result = brick("--help");

        assertThat(result.err()).isEmpty();
        assertThat(result.out().lines()).containsSubsequence("<-jar>", "<" + jar + ">", "<--help>");
        assertThat(result.exitCode()).isZero();
    }

    @Test
    void aMissingJarIsBuilt() throws IOException {
        Files.delete(jar);

        ProcessResult result = brick("--help");

        assertThat(result.err().lines())
                .containsExactly(
                        BUILDS, "mvn -q -f " + root.resolve("build") + " package -DskipTests -pl ../tools -am");
        assertThat(result.out().lines()).containsSubsequence("<-jar>", "<" + jar + ">", "<--help>");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"src/main/A.java", "src/main", "tools/src/main", "pom.xml", "tools/pom.xml", "build/parent.xml"})
    void aJarThatIsOlderThanASourceIsBuiltOnce(String source) throws IOException {
        Files.setLastModifiedTime(root.resolve(source), FileTime.from(BUILT.plusSeconds(1)));

        assertThat(brick("--help").err()).startsWith(BUILDS);
        assertThat(brick("--help").err()).isEmpty();
    }

    @Test
    void aBuildThatFailsEndsTheScript() throws IOException {
        Files.delete(jar);
        program(folder.resolve("jdk").resolve("bin").resolve("mvn"), "echo broken; exit 5");

        ProcessResult result = brick("--help");

        assertThat(result.exitCode()).isEqualTo(5);
        assertThat(result.out()).isEmpty();
        assertThat(result.err()).contains("broken");
    }

    @Test
    void argumentsArriveUnchangedThroughALink() throws IOException {
        Path links = Files.createDirectory(folder.resolve("some links"));
        Path relative = Files.createSymbolicLink(links.resolve("first link"), Path.of("..", "a tree", "brick"));
        Path link = Files.createSymbolicLink(folder.resolve("second"), relative);

        ProcessResult result = brick(link, Map.of(), "report", "a file.json", "", "*", "--title=\"a  b\"");

        assertThat(result.err()).isEmpty();
        assertThat(result.out())
                .endsWith("<-jar>\n<" + root.toRealPath().resolve("tools/target/brick.jar")
                        + ">\n<report>\n<a file.json>\n<>\n<*>\n<--title=\"a  b\">\n");
    }

    @Test
    void theExitCodeIsThatOfTheCommand() throws IOException {
        assertThat(brick(root.resolve("brick"), Map.of("EXIT_CODE", "3"), "compare")
                        .exitCode())
                .isEqualTo(3);
    }

    @Test
    void commandsThatMeasureHaveTheCompilersOfEveryProgram() throws IOException {
        assertThat(brick("report", "demo").out()).contains("<-XX:TieredStopAtLevel=1>");
        for (String command : List.of("demo", "roofline", "devices")) {
            assertThat(brick(command).out()).doesNotContain("TieredStopAtLevel", "GC");
        }
    }

    /** Replaces the Java by one that notes its calls, and writes an archive of classes. */
    private Path javaWithArchives(Path jdk) throws IOException {
        Path calls = folder.resolve("calls");
        Path bin = Files.createDirectories(jdk.resolve("bin"));
        program(
                bin.resolve("java"),
                "echo \"$*\" >> '" + calls + "'\ncase $* in *-Xshare:dump*) for each; do case $each in"
                        + " -XX:SharedArchiveFile=*) echo classes > \"${each#*=}\";; esac; done;; esac");
        Files.setLastModifiedTime(bin.resolve("java"), FileTime.from(BUILT.minusSeconds(60)));
        return calls;
    }

    private long archivesMade(Path calls) throws IOException {
        try (Stream<String> lines = Files.lines(calls)) {
            return lines.filter(call -> call.contains("-Xshare:dump")).count();
        }
    }

    @Test
    void eachJavaMapsAnArchiveOfClassesThatIsMadeAgainOnlyIfTheJarOrTheJavaIsNewer() throws IOException {
        Path calls = javaWithArchives(folder.resolve("jdk"));
        javaWithArchives(folder.resolve("other"));
        Map<String, String> other = Map.of("JAVA_HOME", folder.resolve("other").toString());

        brick("--help");
        brick("--help");
        assertThat(archivesMade(calls)).isEqualTo(1);
        brick(root.resolve("brick"), other, "--help");
        brick("--help");
        assertThat(archivesMade(calls)).isEqualTo(2);

        Instant later = Instant.now().plusSeconds(60);
        for (Path changed : List.of(jar, folder.resolve("jdk/bin/java"))) {
            Files.setLastModifiedTime(changed, FileTime.from(later));
            long before = archivesMade(calls);
            brick("--help");
            assertThat(archivesMade(calls)).as("newer: %s", changed).isEqualTo(before + 1);
            Files.setLastModifiedTime(changed, FileTime.from(BUILT));
        }
        String run = Files.readAllLines(calls).get(Files.readAllLines(calls).size() - 1);
        String archive = run.replaceFirst("^-XX:SharedArchiveFile=(.*[.]jsa) -Xshare:auto -Xlog:disable .*", "$1");
        assertThat(Path.of(archive)).hasContent("classes");
    }

    @Test
    void aJavaThatCanMakeNoArchiveRunsWithoutOneAndIsAskedOnce() throws IOException {
        Path calls = javaWithArchives(folder.resolve("jdk"));
        program(
                folder.resolve("jdk/bin/java"),
                "echo \"$*\" >> '" + calls + "'\necho warning >&2\ncase $* in *-Xshare:dump*) exit 1;; esac");

        assertThat(brick("--help").err()).isEqualTo("warning\n");
        assertThat(brick("--help").exitCode()).isZero();
        assertThat(archivesMade(calls)).isEqualTo(1);
        try (Stream<Path> files = Files.list(jar.getParent())) {
            assertThat(files)
                    .as("no unfinished archive")
                    .noneMatch(file -> file.getFileName().toString().matches("brick\\.[0-9]+\\..*"));
        }
    }
}
