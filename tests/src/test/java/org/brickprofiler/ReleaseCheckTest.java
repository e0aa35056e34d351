package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.brickprofiler.testing.OneJdk;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** A release that lacks anything is refused with its name. */
@OneJdk
final class ReleaseCheckTest {

    private static final String VERSION = "1.2.3";

    private static final String POM = """
            <project xmlns="http://maven.apache.org/POM/4.0.0">
              <groupId>org.brickprofiler</groupId><artifactId>a</artifactId><version>1.2.3</version>
              <name>N</name><description>D</description><url>https://u</url>
              <licenses><license><name>L</name><url>https://l</url></license></licenses>
              <developers><developer>
                <name>M</name><organization>O</organization><organizationUrl>https://o</organizationUrl>
              </developer></developers>
              <scm>
                <connection>scm:c</connection><developerConnection>scm:d</developerConnection><url>https://s</url>
              </scm>
              <dependencies><dependency>
                <groupId>g</groupId><artifactId>b</artifactId><version>4</version>
              </dependency></dependencies>
            </project>
            """;

    @TempDir
    Path folder;

    private Path home;

    @BeforeEach
    void release() throws Exception {
        home = Files.createDirectories(folder.resolve(Path.of("org", "brickprofiler", "a", VERSION)));
        for (String end : ReleaseCheck.FILES) {
            store(home.resolve("a-" + VERSION + end), end.equals(".pom") ? POM : end);
        }
    }

    private static void store(Path file, String text) throws Exception {
        Files.writeString(file, text);
        for (Map.Entry<String, String> checksum : ReleaseCheck.CHECKSUMS.entrySet()) {
            byte[] digest = MessageDigest.getInstance(checksum.getValue()).digest(Files.readAllBytes(file));
            Files.writeString(
                    file.resolveSibling(file.getFileName() + checksum.getKey()),
                    HexFormat.of().formatHex(digest));
        }
    }

    private List<String> problems() throws IOException {
        return ReleaseCheck.problems(folder, VERSION, false, List.of("a"));
    }

    private void storePom(String text) throws Exception {
        store(home.resolve("a-1.2.3.pom"), text);
    }

    @Test
    void acceptsACompleteRelease() throws Exception {
        assertThat(problems()).isEmpty();
    }

    @TestFactory
    Stream<DynamicTest> refusesWithoutAFile() throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.list(home)) {
            files = all.toList();
        }
        assertThat(files).hasSize(ReleaseCheck.FILES.size() * (1 + ReleaseCheck.CHECKSUMS.size()));
        return files.stream()
                .map(file -> DynamicTest.dynamicTest(file.getFileName().toString(), () -> {
                    byte[] bytes = Files.readAllBytes(file);
                    Files.delete(file);
                    assertThat(problems()).containsExactly("no " + file.getFileName());
                    Files.write(file, bytes);
                }));
    }

    @TestFactory
    Stream<DynamicTest> refusesAPomWithoutAField() {
        return ReleaseCheck.FIELDS.stream()
                .map(field -> DynamicTest.dynamicTest(field, () -> {
                    Path path = Path.of("project", field);
                    String last = path.getFileName().toString();
                    String above = path.getName(path.getNameCount() - 2).toString();
                    String before = "<" + above + (above.equals("project") ? "" : ">") + "(?s:.*?)";
                    String without = POM.replaceFirst("(" + before + ")<" + last + ">[^<]*</" + last + ">", "$1");
                    assertThat(without).isNotEqualTo(POM);
                    storePom(without);
                    assertThat(problems()).containsExactly("a-1.2.3.pom has no " + field);
                }));
    }

    @Test
    void refusesWhatIsWrong() throws Exception {
        Files.writeString(home.resolve("a-1.2.3.jar.sha1"), "0");
        assertThat(problems()).containsExactly("a-1.2.3.jar.sha1 is not that of its file");
        store(home.resolve("a-1.2.3.jar"), "classes");

        storePom(POM.replace("<version>4</version>", "<version>4-SNAPSHOT</version>"));
        assertThat(problems()).containsExactly("a-1.2.3.pom depends on b 4-SNAPSHOT");
        storePom(POM.replace("<version>4</version>", ""));
        assertThat(problems()).containsExactly("a-1.2.3.pom depends on b of no version");
        storePom(POM.replace("https://u", "${home}"));
        assertThat(problems()).containsExactly("a-1.2.3.pom has an expression");
        storePom("<project>");
        assertThat(problems()).singleElement().asString().startsWith("a-1.2.3.pom is no POM: ");
        storePom(POM);

        assertThat(ReleaseCheck.problems(folder, "1.2.3-SNAPSHOT", false, List.of()))
                .containsExactly("the version 1.2.3-SNAPSHOT is none of a release");
    }

    @Test
    void refusesWithoutASignatureIfThereIsAKey() throws Exception {
        assertThat(ReleaseCheck.problems(folder, VERSION, true, List.of("a")))
                .containsExactlyInAnyOrder(
                        "no signature of a-1.2.3.jar",
                        "no signature of a-1.2.3-cyclonedx.json",
                        "no signature of a-1.2.3-javadoc.jar",
                        "no signature of a-1.2.3-sources.jar",
                        "no signature of a-1.2.3.pom");

        for (String end : ReleaseCheck.FILES) {
            Files.writeString(
                    home.resolve("a-" + VERSION + end + ".asc"),
                    end.equals(".jar") ? "signature" : "-----BEGIN PGP SIGNATURE-----\n");
        }
        assertThat(ReleaseCheck.problems(folder, VERSION, true, List.of("a")))
                .containsExactly("a-1.2.3.jar.asc is no signature");
        assertThat(problems())
                .hasSize(ReleaseCheck.FILES.size())
                .allMatch(each -> each.contains("of an earlier build"));
    }

    @Test
    void copiesTheProgramsUnderPlainNames() throws Exception {
        Path programs = folder.resolve("programs");
        assertThat(ReleaseCheck.copyPrograms(folder, VERSION, programs))
                .containsExactlyInAnyOrder(
                        "no brick-profiler-agent-1.2.3-agent.jar",
                        "no brick-profiler-cli-1.2.3-all.jar",
                        "no brick-profiler-cli-1.2.3-manual.1");

        for (List<String> program : ReleaseCheck.PROGRAMS.values()) {
            String artifact = program.get(0);
            Path home = Files.createDirectories(folder.resolve(Path.of("org", "brickprofiler", artifact, VERSION)));
            Files.writeString(home.resolve(artifact + "-" + VERSION + program.get(1)), artifact);
        }
        assertThat(ReleaseCheck.copyPrograms(folder, VERSION, programs)).isEmpty();
        assertThat(programs.resolve("brick.jar")).hasContent("brick-profiler-cli");
        assertThat(programs.resolve("SHA256SUMS"))
                .content()
                .contains(
                        "f802a9155f60a78ad8abca5c32804343826136bd836b1c57f0fea5b07c4eb761",
                        "  brick.jar\n",
                        "  brick.1\n",
                        "  brick-profiler-agent.jar\n");
    }
}
