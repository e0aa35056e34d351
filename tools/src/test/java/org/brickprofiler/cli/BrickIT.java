package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.spi.ToolProvider;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.SourceTree;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The jar that the build makes, as a person starts it. */
@Timeout(120)
class BrickIT {

    private static final Path JAR = Path.of(System.getProperty("cli.jar"));
    private static final Path TRACE =
            Cli.TRACES.resolve("kineto-simple-add.json.gz").toAbsolutePath();

    @TempDir
    Path folder;

    private Cli brick(String... arguments) throws IOException {
        return start(List.of(), arguments);
    }

    /** Runs the jar through a shell, in which {@code "$@"} is its command line. */
    private Cli shell(String script, String... arguments) throws IOException {
        return start(List.of("bash", "-c", script, "bash"), arguments);
    }

    private Cli start(List<String> launcher, String... arguments) throws IOException {
        ProcessResult result = ChildProcess.jar(JAR)
                .through(launcher)
                .arguments(List.of(arguments))
                .environment(Map.of("LC_ALL", "C"))
                .in(folder)
                .run();
        return new Cli(result.exitCode(), result.out(), result.err());
    }

    @Spec("15.1")
    @Test
    void reportsATrace() throws Exception {
        Cli report = brick("report", TRACE.toString());

        assertThat(report.err()).isEmpty();
        assertThat(report.exitCode()).isZero();
        assertThat(report.out())
                .startsWith("Trace\n  counted     98 of 1,348 events read")
                .contains("Brick profile\n", "HostToDevice")
                .doesNotContain("\r");
    }

    /** Picocli's reflection takes longer than the Java virtual machine. */
    @Test
    void helpStartsWithoutPicocli() throws Exception {
        ProcessResult help = ChildProcess.jar(JAR)
                .jvmOptions(List.of("-Xlog:class+load:stderr"))
                .arguments(List.of("--help"))
                .run();

        assertThat(help.out()).startsWith("Usage: brick COMMAND");
        assertThat(help.err())
                .contains("org.brickprofiler.cli.CommandList ")
                .doesNotContain("picocli.CommandLine$Model");
    }

    @Test
    void namesItsVersion() throws Exception {
        Cli version = brick("--version");

        assertThat(version.exitCode()).isZero();
        assertThat(version.out()).matches("(?s)brick \\d+\\.\\d+\\.\\d+(-SNAPSHOT)?\\R.*");
    }

    @Test
    void findsTheDeliberateChangeOfTheDemonstration() throws Exception {
        List<String> tiny = List.of(
                "demo",
                "--layers",
                "3",
                "--dim",
                "32",
                "--heads",
                "4",
                "--kv-heads",
                "2",
                "--ffn",
                "48",
                "--vocab",
                "100",
                "--tokens",
                "3",
                "--warmup",
                "0",
                "--threads",
                "1",
                "--checksums");
        List<String> good = new ArrayList<>(tiny);
        good.add("a.jsonl");
        List<String> bad = new ArrayList<>(tiny);
        bad.addAll(List.of("b.jsonl", "--perturb", "1:RmsNorm"));
        Cli first = brick(good.toArray(String[]::new));
        assertThat(first.err()).isEmpty();
        assertThat(first.exitCode()).isZero();
        assertThat(brick(bad.toArray(String[]::new)).exitCode()).isZero();

        assertThat(brick("diverge", "a.jsonl", "a.jsonl").exitCode()).isZero();
        Cli diverge = brick("diverge", "b.jsonl", "a.jsonl");
        assertThat(diverge.exitCode()).isEqualTo(1);
        assertThat(diverge.err()).isEmpty();
        assertThat(diverge.out().lines().findFirst().orElseThrow()).contains("RmsNorm", "layer 1");
    }

    @Test
    void writesUtf8InEveryLocale() throws Exception {
        Path report = Cli.REPORTS.resolve("full.json").toAbsolutePath();

        assertThat(brick("report", report.toString(), "--json").out()).isEqualTo(Files.readString(report));
    }

    @Test
    @EnabledOnOs(
            value = {OS.LINUX, OS.MAC},
            disabledReason = "needs bash")
    void writesACompletionThatBashUnderstands() throws Exception {
        Cli check = shell(
                "\"$@\" > brick-completion && bash -n brick-completion && . ./brick-completion"
                        + " && complete -p brick && touch profile.json && COMP_WORDS=(brick report prof) && COMP_CWORD=2"
                        + " && _complete_brick 2> /dev/null && echo \"completed ${COMPREPLY[*]}\"",
                "completion");

        assertThat(check.err()).isEmpty();
        assertThat(check.exitCode()).isZero();
        assertThat(check.out()).contains("_complete_brick", "completed profile.json");
    }

    @Spec("15.2")
    @Test
    @EnabledOnOs(
            value = {OS.LINUX, OS.MAC},
            disabledReason = "needs bash")
    void endsSilentlyIfTheReaderIsGone() throws Exception {
        // The reader is gone before anything is written.
        Cli report = shell("set -o pipefail; \"$@\" | true", "report", TRACE.toString());

        assertThat(report.err()).isEmpty();
        assertThat(report.exitCode()).isZero();
    }

    @Spec("15.1")
    @Test
    @EnabledOnOs(
            value = {OS.LINUX, OS.MAC},
            disabledReason = "needs bash")
    void readsPipes() throws Exception {
        String report = brick("report", TRACE.toString(), "--csv").out();

        assertThat(shell("cat '" + TRACE + "' | \"$@\"", "report", "-", "--csv").out())
                .isEqualTo(report);
        assertThat(shell("\"$@\" <(cat '" + TRACE + "')", "report", "--csv").out())
                .isEqualTo(report);
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "needs a device that is always full")
    void tellsThatItsOutputWasLost() throws Exception {
        shell("\"$@\" > /dev/full", "report", TRACE.toString(), "--csv")
                .assertRefused("cannot write the standard output: No space left on device");
    }

    @Test
    void holdsTheLicencesAndAllServices() throws Exception {
        try (JarFile jar = new JarFile(JAR.toFile())) {
            Manifest manifest = jar.getManifest();
            assertThat(manifest.getMainAttributes().getValue("Main-Class")).isEqualTo("org.brickprofiler.cli.Brick");
            assertThat(manifest.getMainAttributes().getValue("Multi-Release")).isEqualTo("true");
            assertThat(jar.stream().map(entry -> entry.getName()))
                    .contains(
                            "META-INF/LICENSE",
                            "META-INF/NOTICE",
                            "META-INF/LICENSE.txt",
                            "META-INF/FastDoubleParser-LICENSE",
                            "META-INF/Schubfach-LICENSE",
                            "META-INF/THIRD-PARTY.txt",
                            "LICENSE-EPL-1.0.txt",
                            "LICENSE-EDL-1.0.txt",
                            "META-INF/maven/org.xerial/sqlite-jdbc/LICENSE",
                            "META-INF/maven/org.xerial/sqlite-jdbc/LICENSE.zentus",
                            "org/sqlite/native/Linux/x86_64/libsqlitejdbc.so",
                            "META-INF/services/java.sql.Driver",
                            "META-INF/services/org.slf4j.spi.SLF4JServiceProvider",
                            "org/brickprofiler/gpucheck/GpuCheck.class",
                            "META-INF/services/"
                                    + "org.eclipse.collections.api.factory.list.primitive.MutableLongListFactory")
                    .noneMatch(name -> name.matches("META-INF/[^/]*\\.(SF|RSA|DSA)"))
                    .noneMatch(name -> name.endsWith("module-info.class"))
                    .noneMatch(name -> name.startsWith("io/opentelemetry/"))
                    .doesNotHaveDuplicates();
            // Of several files with one name the jar has the first: our LICENSE, and the LICENSE.txt of SLF4J.
            assertThat(text(jar, "META-INF/LICENSE")).isEqualTo(Files.readString(SourceTree.path("LICENSE")));
            assertThat(text(jar, "META-INF/LICENSE.txt")).contains("QOS.ch");
        }
    }

    @Test
    void noFileNamesTheFolderOfTheBuild() throws Exception {
        String top = SourceTree.path("").toAbsolutePath().normalize().toString();
        List<String> naming = new ArrayList<>();
        try (JarFile jar = new JarFile(JAR.toFile())) {
            for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
                String content = new String(jar.getInputStream(entry).readAllBytes(), StandardCharsets.ISO_8859_1);
                if (content.contains(top)) {
                    naming.add(entry.getName());
                }
            }
        }
        assertThat(naming).isEmpty();
    }

    /** The jar has only those of its classes that other classes reach, or that a list of services names. */
    @Test
    void noClassOfALibraryOfWhichUnusedClassesAreLeftOutIsMissing() throws Exception {
        StringWriter missing = new StringWriter();
        int exit = ToolProvider.findFirst("jdeps")
                .orElseThrow()
                .run(
                        new PrintWriter(missing),
                        new PrintWriter(missing),
                        "--multi-release",
                        "17",
                        "--missing-deps",
                        JAR.toString());
        assertThat(exit).as(missing.toString()).isZero();
        assertThat(missing.toString().lines())
                .isNotEmpty()
                .noneMatch(line -> line.contains("org.eclipse.collections")
                        || line.contains("org.apache.commons")
                        || line.contains("org.snakeyaml"));
        String services = "META-INF/services/org.eclipse.collections.";
        try (JarFile jar = new JarFile(JAR.toFile())) {
            List<String> providers = new ArrayList<>();
            for (JarEntry list : (Iterable<JarEntry>)
                    jar.stream().filter(entry -> entry.getName().startsWith(services))::iterator) {
                if (jar.getEntry(file(list.getName().substring("META-INF/services/".length()))) != null) {
                    text(jar, list.getName())
                            .lines()
                            .map(line -> line.replaceFirst("#.*", "").strip())
                            .filter(line -> !line.isEmpty())
                            .forEach(providers::add);
                }
            }
            assertThat(providers).isNotEmpty().allSatisfy(provider -> assertThat(jar.getEntry(file(provider)))
                    .as(provider)
                    .isNotNull());
        }
    }

    private static String file(String type) {
        return type.replace('.', '/') + ".class";
    }

    private static String text(JarFile jar, String name) throws IOException {
        return new String(jar.getInputStream(jar.getEntry(name)).readAllBytes(), StandardCharsets.UTF_8);
    }
}
