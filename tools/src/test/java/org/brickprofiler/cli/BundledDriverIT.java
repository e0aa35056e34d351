package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.brickprofiler.device.cuda.SimulatedCuda;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.RunningProcess;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The runnable jar finds a device with nothing but a driver on the machine: JCuda's native part is in it. */
@Timeout(120)
class BundledDriverIT {

    private static final Path JAR = Path.of(System.getProperty("cli.jar"));
    private static final int PROCESSES = 6;

    @TempDir
    Path folder;

    private Path cache;
    private Path temporary;

    @BeforeEach
    void makeFolders() throws IOException {
        cache = Files.createDirectory(folder.resolve("cache"));
        temporary = Files.createDirectory(folder.resolve("temporary"));
    }

    /** Without a path to native libraries, and without the machine's OpenCL drivers: PoCL has a cache of its own. */
    private ChildProcess brick(String... arguments) {
        return ChildProcess.jar(JAR)
                .jvmOptions(List.of("-XX:-UsePerfData", "-Djava.io.tmpdir=" + temporary))
                .environment(Map.of(
                        "XDG_CACHE_HOME", cache.toString(),
                        "OCL_ICD_VENDORS", folder.resolve("no drivers").toString(),
                        "LD_LIBRARY_PATH",
                                SimulatedCuda.DRIVER.build().resolveSibling("").toString()))
                .arguments(List.of(arguments));
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile).toList();
        }
    }

    private static void assertDeviceFound(ProcessResult devices) {
        assertThat(devices.out())
                .startsWith("CUDA: Simulated GPU 0, driver for CUDA")
                .contains("  cuda:0  Simulated GPU 0");
        assertThat(devices.err()).isEmpty();
        assertThat(devices.exitCode()).isZero();
    }

    @Spec("15.4")
    @Test
    void findsTheDeviceAndLeavesOneFileInTheUsersCache() throws Exception {
        assertDeviceFound(brick("devices").run());

        List<Path> files = files();
        assertThat(files).hasSize(1).allMatch(file -> file.startsWith(cache.resolve("brick-profiler")));
        byte[] library = Files.readAllBytes(files.get(0));
        // The remains of a killed process, or of a full disk.
        Files.write(files.get(0), new byte[] {library[0], library[1], library[2]});
        assertDeviceFound(brick("devices").run());
        assertThat(files()).isEqualTo(files);
        assertThat(files.get(0)).hasBinaryContent(library);
    }

    @Test
    void processesThatStartTogetherAllFindTheDevice() throws Exception {
        List<RunningProcess> started = new ArrayList<>();
        try {
            for (int i = 0; i < PROCESSES; i++) {
                started.add(brick("devices").start());
            }
            for (RunningProcess process : started) {
                assertDeviceFound(process.result());
            }
        } finally {
            started.forEach(RunningProcess::close);
        }

        assertThat(files()).hasSize(1);
    }

    @Test
    void theDemonstrationRunsOnTheDevice() throws Exception {
        ProcessResult demo = brick(
                        "demo",
                        "--device",
                        "cuda",
                        "--layers",
                        "1",
                        "--dim",
                        "16",
                        "--heads",
                        "2",
                        "--kv-heads",
                        "1",
                        "--ffn",
                        "32",
                        "--vocab",
                        "50",
                        "--tokens",
                        "2",
                        "--warmup",
                        "0",
                        "--threads",
                        "1")
                .run();

        assertThat(demo.out()).contains("Device: Simulated GPU 0 #0");
        // The simulated kernels compute nothing, which the comparison of the demonstration finds.
        assertThat(demo.err()).hasLineCount(1).contains(": pass 0: logit ", " on the device and ");
        assertThat(demo.exitCode()).isEqualTo(1);
    }

    @Test
    void aDriverThatCannotBeLoadedIsTheReason() throws Exception {
        Path noLibrary = Files.createDirectory(folder.resolve("driver"));
        Files.createFile(noLibrary.resolve("libcuda.so.1"));
        ProcessResult devices = brick("devices")
                .environment(Map.of("LD_LIBRARY_PATH", noLibrary.toString()))
                .run();

        assertThat(devices.out())
                .startsWith("CUDA is not available: the NVIDIA driver's library cannot be loaded: ")
                .contains("libcuda.so.1: file too short");
        assertThat(devices.exitCode()).isEqualTo(1);
    }

    @Test
    void holdsTheBindingOfTheDriverAndNothingElseOfJCudasNatives() throws Exception {
        try (JarFile jar = new JarFile(JAR.toFile())) {
            assertThat(jar.stream()
                            .map(entry -> entry.getName())
                            .filter(name -> name.contains("JCuda") || name.contains("JNv"))
                            .filter(name -> !name.endsWith(".class")))
                    .containsExactlyInAnyOrder(
                            "META-INF/natives/libJCudaDriver-12.6.0-linux-x86_64.so",
                            "META-INF/natives/JCudaDriver-12.6.0-windows-x86_64.dll");
        }
    }
}
