package org.brickprofiler.device.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.demo.Demo;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.Fixture;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.SourceTree;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The library on aarch64, where JCuda has no native library. QEMU emulates the processor for Debian's JDK, which
 * {@code build/aarch64-jdk} unpacks. The tests show that bindings, native libraries and layouts fit, but not the
 * effects of the processor's weaker memory ordering.
 */
@OneJdk
class Aarch64IT {

    private static final String COMPILER = "aarch64-linux-gnu-gcc";
    private static final String EMULATOR = "qemu-aarch64-static";
    private static final Duration LIMIT = Duration.ofSeconds(110);

    /** The folder into which {@code build/aarch64-jdk} unpacks the JDK. */
    private static final Path ROOT = Path.of(Optional.ofNullable(System.getenv("BRICK_AARCH64_ROOT"))
            .orElseGet(() -> System.getProperty("user.home") + "/.cache/brick-profiler-aarch64"));

    private static final long KERNEL_NS = 250_000;
    private static final int PASSES = 5;

    @TempDir
    Path folder;

    private Path java;

    @BeforeEach
    void requireEmulator() throws IOException {
        Fixture.AARCH64.needProgram(EMULATOR);
        Fixture.AARCH64.needProgram(COMPILER);
        java = java();
    }

    private static Path java() throws IOException {
        Path machines = ROOT.resolve("usr/lib/jvm");
        if (Files.isDirectory(machines)) {
            try (Stream<Path> folders = Files.list(machines)) {
                Optional<Path> found = folders.map(each -> each.resolve("bin/java"))
                        .filter(Files::isExecutable)
                        .findFirst();
                if (found.isPresent()) {
                    return found.get();
                }
            }
        }
        throw Fixture.AARCH64.missing("no JDK in " + ROOT + ": build/aarch64-jdk unpacks one");
    }

    private ProcessResult run(Class<?> main, List<String> arguments) throws IOException {
        return ChildProcess.of(EMULATOR)
                .arguments(List.of("-L", ROOT.toString(), java.toString()))
                // Under emulation, the second compiler costs more than it gains.
                .arguments(List.of("-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Djava.io.tmpdir=" + folder))
                .arguments(List.of("-cp", System.getProperty("java.class.path"), main.getName()))
                .arguments(arguments)
                .limit(LIMIT)
                .run()
                .assertSucceeded();
    }

    @Spec("12.46")
    @Test
    void theDemonstrationPrintsItsProfile() throws IOException {
        List<String> tiny = List.of(
                "--layers", "1", "--dim", "32", "--ffn", "64", "--vocab", "200", "--tokens", "20", "--threads", "1");
        assertThat(run(Demo.class, tiny).out()).contains("Brick profile\n", ", aarch64, Linux ", "QkvProjection");
    }

    @Spec("12.46")
    @Test
    void theSimulatedDriverTimesBricksThroughJna() throws IOException {
        Path driver = SimulatedCuda.driver(Fixture.AARCH64, COMPILER).build();
        Path kernels = SourceTree.path("gpu", "src", "test", "native", "cuda", "spin_ns.ptx")
                .toAbsolutePath();

        assertThat(run(Bricks.class, List.of(driver.toString(), kernels.toString()))
                        .out())
                .startsWith("CUDA: Simulated GPU 0, driver for CUDA 12.6, through JNA, since JCuda's native library"
                        + " cannot be loaded: ")
                .contains("aarch64")
                .endsWith("\n" + PASSES + " samples, " + PASSES * KERNEL_NS + " ns, unresolved 0, failure none\n");
    }

    /** The program that runs on the emulated processor. Its arguments are the driver's library and the kernels. */
    static final class Bricks {

        private Bricks() {}

        public static void main(String[] args) throws IOException {
            Path driver = Path.of(args[0]);
            SimulatedCuda.startWithoutJCuda(driver);
            System.out.println(CudaSupport.probe());
            try (CudaStream stream = CudaStream.onDevice(0).open()) {
                Runnable kernel = kernel(NativeLibrary.getInstance(driver.toString()), stream, Path.of(args[1]));
                BrickProfiler profiler =
                        BrickProfiler.builder().deviceStream(stream).build();
                profiler.enable();
                for (int pass = 0; pass < PASSES; pass++) {
                    long timer = profiler.startBrick(BrickId.QKV_PROJECTION);
                    kernel.run();
                    profiler.stopBrick(timer, 1);
                    profiler.endPass();
                }
                BrickStats stats = profiler.brickStats(BrickId.QKV_PROJECTION);
                System.out.println(stats.count() + " samples, "
                        + stats.totalNs() + " ns, unresolved "
                        + stats.device().unresolved() + ", failure "
                        + stream.failure().orElse("none"));
            }
        }

        private static Runnable kernel(NativeLibrary cuda, CudaStream stream, Path kernels) throws IOException {
            check(cuda, "cuCtxPushCurrent_v2", stream.contextAddress());
            Memory handles = new Memory(2 * Long.BYTES);
            check(cuda, "cuModuleLoadData", handles, Files.readString(kernels));
            check(cuda, "cuModuleGetFunction", handles.share(Long.BYTES), handles.getLong(0), "spin_ns");
            Memory lasts = new Memory(Long.BYTES);
            lasts.setLong(0, KERNEL_NS);
            Memory parameters = new Memory(Long.BYTES);
            parameters.setPointer(0, lasts);
            Object[] launch = {
                handles.getLong(Long.BYTES), 1, 1, 1, 1, 1, 1, 0, stream.streamAddress(), parameters, null
            };
            return () -> {
                try {
                    check(cuda, "cuLaunchKernel", launch);
                } finally {
                    Reference.reachabilityFence(lasts);
                }
            };
        }

        private static void check(NativeLibrary cuda, String function, Object... arguments) {
            int code = cuda.getFunction(function).invokeInt(arguments);
            if (code != 0) {
                throw new AssertionError(function + " returned " + code);
            }
        }
    }
}
