package org.brickprofiler.gpucheck;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.SourceTree;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The scripts around the check: the files that they pack, their calls and refusals, in a checkout with replaced
 * programs.
 */
@EnabledOnOs(value = OS.LINUX, disabledReason = "the scripts are for Linux")
@OneJdk
class GpuCheckScriptsTest {

    private static final Path SOURCE = SourceTree.path("native", "gpu-check");
    private static final Instant BUILT = Instant.parse("2024-05-06T07:08:09Z");

    @TempDir
    Path root;

    private Path scripts;
    private Path jar;

    @BeforeEach
    void layOut() throws IOException {
        scripts = Files.createDirectories(root.resolve("native").resolve("gpu-check"));
        for (String name : List.of("run.sh", "pack.sh", "torch_cost.py", "README.md")) {
            Files.copy(SOURCE.resolve(name), scripts.resolve(name));
        }
        Files.copy(SourceTree.path("brick"), root.resolve("brick"));
        for (String folder : List.of("src/main", "tools/src/main", "gpu/src/main", "agent", "build")) {
            Files.createDirectories(root.resolve(folder));
        }
        Files.writeString(root.resolve("src").resolve("main").resolve("A.java"), "class A {}");
        for (String file : List.of("pom.xml", "tools/pom.xml", "build/parent.xml", "agent/assembly.xml")) {
            Files.writeString(root.resolve(file), "<project/>");
        }
        jar = Files.createDirectories(root.resolve("tools").resolve("target")).resolve("brick.jar");
        writeJar(jar, "old");
        try (Stream<Path> sources = Files.walk(root)) {
            for (Path each : sources.toList()) {
                Files.setLastModifiedTime(each, FileTime.from(BUILT.minusSeconds(60)));
            }
        }
        Files.setLastModifiedTime(jar, FileTime.from(BUILT));
        Path jdk = Files.createDirectories(root.resolve("jdk").resolve("bin"));
        program(jdk.resolve("jlink"), "mkdir -p \"${@: -1}/bin\"; echo GLIBC_2.9 GLIBC_2.12 >\"${@: -1}/bin/java\"");
        program(jdk.resolve("jar"), "exec '" + Path.of(System.getProperty("java.home"), "bin", "jar") + "' \"$@\"");
        program(
                jdk.resolve("java"),
                "[[ $1 == -version ]] && echo 'openjdk version \"17.0.1\"' >&2 || echo ran \"$@\"");
        Path path = Files.createDirectories(root.resolve("path"));
        writeJar(root.resolve("fresh.jar"), "new");
        program(path.resolve("mvn"), "echo mvn \"$@\"; cp \"" + root.resolve("fresh.jar") + "\" \"" + jar + "\"");
        program(path.resolve("python3"), "exit 1");
    }

    private static void writeJar(Path file, String content) throws IOException {
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(file))) {
            out.putNextEntry(new ZipEntry("content"));
            out.write(content.getBytes(US_ASCII));
            out.putNextEntry(new ZipEntry("META-INF/natives/libJCudaDriver-1-linux-x86_64.so"));
            out.write("\0CXXABI_1.3\0CXXABI_1.3.9\0CXXABI_1.3.8\0GLIBCXX_3.4\0GLIBC_2.2.5\0GLIBC_2.17\0"
                    .getBytes(US_ASCII));
        }
    }

    private static void program(Path file, String body) throws IOException {
        Files.writeString(file, "#!/usr/bin/env bash\n" + body + "\n");
        assertThat(file.toFile().setExecutable(true)).isTrue();
    }

    private ProcessResult run(Path script, String... arguments) throws IOException {
        return ChildProcess.of("bash")
                .arguments(List.of(script.toString()))
                .arguments(List.of(arguments))
                .environment(Map.of(
                        "JAVA_HOME",
                        root.resolve("jdk").toString(),
                        "PATH",
                        root.resolve("path") + ":" + System.getenv("PATH")))
                .in(root)
                .limit(Duration.ofSeconds(60))
                .run();
    }

    /** Makes a pack with pack.sh, and returns the folder into which it is unpacked. */
    private Path packed(String expectedOutput) throws IOException {
        ProcessResult run =
                run(scripts.resolve("pack.sh"), root.resolve("packed.tar.gz").toString());
        assertThat(run.output()).contains(expectedOutput);
        run.assertSucceeded();
        ChildProcess.of("tar")
                .arguments(List.of("-xzf", "packed.tar.gz"))
                .in(root)
                .limit(Duration.ofSeconds(60))
                .run()
                .assertSucceeded();
        return root.resolve("gpu-check");
    }

    private static String contentOf(Path packedJar) throws IOException {
        try (var zip = new ZipFile(packedJar.toFile())) {
            return new String(zip.getInputStream(zip.getEntry("content")).readAllBytes(), US_ASCII);
        }
    }

    @Test
    void aPackNamesTheRequirementsOfItsBinaries() throws IOException {
        Path folder = packed("version libstdc++.so.6 CXXABI_1.3.9");

        assertThat(folder.resolve("NEEDS"))
                .hasContent("machine " + machine() + "\n"
                        + "version libc.so.6 GLIBC_2.17\n"
                        + "version libstdc++.so.6 GLIBCXX_3.4\n"
                        + "version libstdc++.so.6 CXXABI_1.3.9\n"
                        + "library libcuda.so.1, the NVIDIA driver's, for CUDA 11.0 or later\n");
        assertThat(contentOf(folder.resolve("lib").resolve("brick.jar"))).isEqualTo("old");
        assertThat(folder.resolve("runtime").resolve("bin").resolve("java")).exists();
        assertThat(folder.resolve("run.sh")).exists();
    }

    private static String machine() throws IOException {
        return ChildProcess.of("uname").arguments(List.of("-m")).run().output().strip();
    }

    @Test
    void aProgramThatIsOlderThanItsSourcesIsBuiltBeforeItIsPacked() throws IOException {
        Files.setLastModifiedTime(
                root.resolve("src").resolve("main").resolve("A.java"), FileTime.from(BUILT.plusSeconds(1)));

        Path folder = packed("package -DskipTests -pl ../tools -am");
        assertThat(contentOf(folder.resolve("lib").resolve("brick.jar"))).isEqualTo("new");
    }

    @Test
    void aProgramOfWhichASourceWasDeletedIsBuiltBeforeItIsPacked() throws IOException {
        Files.delete(root.resolve("src").resolve("main").resolve("A.java"));

        packed("package -DskipTests -pl ../tools -am");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"gpu/src/main", "tools/src/main", "tools/pom.xml", "build/parent.xml", "agent/assembly.xml"})
    void aProgramThatIsOlderThanOneOfItsPartsIsBuiltBeforeItIsPacked(String part) throws IOException {
        Files.setLastModifiedTime(root.resolve(part), FileTime.from(BUILT.plusSeconds(1)));

        packed("package -DskipTests -pl ../tools -am");
    }

    @Test
    void aProgramThatIsOlderThanItsSourcesIsNotRun() throws IOException {
        assertThat(run(scripts.resolve("run.sh")).output())
                .contains("ran ")
                .contains("org.brickprofiler.gpucheck.GpuCheck");
        Files.setLastModifiedTime(root.resolve("pom.xml"), FileTime.from(BUILT.plusSeconds(1)));

        ProcessResult refused = run(scripts.resolve("run.sh"));
        assertThat(refused.exitCode()).isEqualTo(2);
        assertThat(refused.output())
                .startsWith("gpu-check: what is built is older than its sources")
                .hasLineCount(1);
    }

    @Test
    void missingPartsOfAMachineAreNamedAndTheRestIsTried() throws IOException {
        Path folder = packed("It needs:");
        assertThat(run(folder.resolve("run.sh")).output())
                .doesNotContain("CXXABI_9")
                .contains("ran ");
        Files.writeString(folder.resolve("NEEDS"), "version libstdc++.so.6 CXXABI_9.9.9\nversion libnone.so.1 X_1\n");

        ProcessResult run = run(folder.resolve("run.sh"));
        assertThat(run.output())
                .contains("gpu-check: libstdc++.so.6 with CXXABI_9.9.9 was not found here; it is needed")
                .contains("gpu-check: libnone.so.1 with X_1 was not found here")
                .contains("ran ");
        assertThat(run.exitCode()).isZero();
    }

    @Test
    void aPackForAnotherMachineIsNotRun() throws IOException {
        Path folder = packed("It needs:");
        Files.writeString(folder.resolve("NEEDS"), "machine pdp11\n");

        ProcessResult run = run(folder.resolve("run.sh"));
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.output()).contains("packed for pdp11");
    }
}
