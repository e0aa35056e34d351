package org.brickprofiler.device.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import javax.tools.ToolProvider;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.testing.Fixture;
import org.brickprofiler.testing.NativeLibrary;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever is missing on a machine is detected once and reported with the reason, and the process goes on. */
@Spec("12.18")
class CudaSupportTest {

    /** The offset of the machine's code in an ELF file. */
    private static final int MACHINE_AT = 18;

    private static final byte AARCH64 = (byte) 0xB7;

    @TempDir
    Path folder;

    @BeforeEach
    void start() {
        SimulatedCuda.start();
    }

    @AfterEach
    void returnCodesAgain() {
        JCudaDriver.setExceptionsEnabled(false);
    }

    @Test
    void namesTheDevicesAndTheDriver() {
        SimulatedCuda.setDevices(2);
        CudaSupport support = CudaSupport.look();

        assertThat(support.isAvailable()).isTrue();
        assertThat(support.reason()).isEmpty();
        assertThat(support.driverVersion()).contains("12.6");
        assertThat(support.deviceNames()).containsExactly("Simulated GPU 0", "Simulated GPU 1");
        assertThat(support).hasToString("CUDA: Simulated GPU 0, Simulated GPU 1, driver for CUDA 12.6");
    }

    @Test
    void looksOnce() {
        CudaSupport first = CudaSupport.probe();
        SimulatedCuda.setDevices(0);
        assertThat(CudaSupport.probe()).isSameAs(first);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void thereMayBeNoDevice(boolean throwing) {
        SimulatedCuda.setDevices(0);
        JCudaDriver.setExceptionsEnabled(throwing);
        CudaSupport support = CudaSupport.look();

        assertThat(support.isAvailable()).isFalse();
        assertThat(support.reason()).contains("there is no CUDA device: cuInit returned CUDA_ERROR_NO_DEVICE (100)");
        assertThat(support.driverVersion()).contains("12.6");
        assertThat(support.deviceNames()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"11000, false", "11010, true", "12060, true"})
    void graphsRecordEventsSinceCuda111(int version, boolean expected) {
        SimulatedCuda.setDriverVersion(version);
        CudaSupport support = CudaSupport.look();

        assertThat(support.isAvailable()).isTrue();
        assertThat(support.recordsInGraphs()).isEqualTo(expected);
    }

    @Test
    void aDriverMayBeTooOld() {
        SimulatedCuda.setDriverVersion(10_020);
        CudaSupport support = CudaSupport.look();

        assertThat(support.reason()).contains("the driver supports CUDA 10.2, and 11.0 is needed");
        assertThat(SimulatedCuda.calls("cuInit")).isZero();
        assertThat(support.driverVersion()).contains("10.2");
        assertThat(support).hasToString("CUDA is not available: the driver supports CUDA 10.2, and 11.0 is needed");
    }

    @ParameterizedTest
    @ValueSource(strings = {"cuDriverGetVersion", "cuInit", "cuDeviceGetCount"})
    void aCallThatFailsIsTheReason(String call) {
        SimulatedCuda.failAlways(call, 999);
        assertThat(CudaSupport.look().reason()).contains(call + " returned CUDA_ERROR_UNKNOWN (999)");
    }

    @ParameterizedTest
    @ValueSource(strings = {"cuDeviceGet", "cuDeviceGetName"})
    void aDeviceMayHaveNoName(String call) {
        SimulatedCuda.failAlways(call, 999);
        CudaSupport support = CudaSupport.look();
        assertThat(support.isAvailable()).isTrue();
        assertThat(support.deviceNames()).containsExactly("CUDA device 0");
    }

    @Test
    void aProcessFindsADriverInItsLibraryPath() throws Exception {
        ProcessResult process =
                CudaProcess.withDriver(SimulatedCuda.DRIVER.build()).run();

        assertThat(process.output())
                .contains(
                        "first: CUDA: Simulated GPU 0, driver for CUDA 12.6\n",
                        "usable: true\n",
                        "marked: true\n",
                        "waited: true\n",
                        "failure: none\n",
                        "device: Simulated GPU 0\n",
                        "end\n")
                .doesNotContain("WARN");
        assertThat(process.exitCode()).isZero();
    }

    @Test
    void thereMayBeNoDriver() throws Exception {
        ProcessResult process = CudaProcess.usual().run();

        assertNoDriver(process);
        assertThat(process.output()).contains("libcuda.so.1: cannot open shared object file");
    }

    @Test
    void aDriverMayBeForAnotherMachine() throws Exception {
        byte[] driver = Files.readAllBytes(SimulatedCuda.DRIVER.build());
        driver[MACHINE_AT] = AARCH64;
        Path library = Files.write(folder.resolve("libcuda.so.1"), driver);

        assertNoDriver(CudaProcess.withDriver(library).run());
    }

    private static void assertNoDriver(ProcessResult process) {
        Assumptions.assumeFalse(process.output().contains("first: CUDA: "), "this machine has a driver");
        assertUnavailable(process, "the NVIDIA driver's library cannot be loaded: ");
    }

    @Test
    void aLibraryMayBeNoDriverAtAll() throws Exception {
        Files.writeString(folder.resolve("other.c"), "int other(void) { return 0; }\n");
        Path library = new NativeLibrary(
                        Fixture.CUDA,
                        "libcuda.so.1",
                        "cc",
                        List.of(folder),
                        List.of("-shared", "-fPIC", "-Wl,-soname,libcuda.so.1"))
                .build();

        assertUnavailable(
                CudaProcess.withDriver(library).run(),
                library + " is too old or not a driver: it lacks cuDriverGetVersion, cuInit, ");
    }

    @Test
    void jcudasOwnLibraryMayBeMissing() throws Exception {
        assertUnavailable(
                CudaProcess.withNatives(folder).run(), "JCuda's native library cannot be loaded: no JCudaDriver-");
    }

    @Test
    void jcudasOwnLibraryMayBeForAnotherMachine() throws Exception {
        try (var libraries = Files.list(Path.of(System.getProperty("java.library.path")))) {
            for (Path library : libraries.toList()) {
                byte[] content = Files.readAllBytes(library);
                content[MACHINE_AT] = AARCH64;
                Files.write(folder.resolve(library.getFileName()), content);
            }
        }

        assertUnavailable(CudaProcess.withNatives(folder).run(), "JCuda's native library cannot be loaded: " + folder);
    }

    @Test
    void jcudaMayBeMissing() throws Exception {
        ProcessResult process = CudaProcess.usual(classPathWithout("jcuda")).run();

        assertUnavailable(
                process,
                "JCuda is not on the class path (org.jcuda:jcuda); the NVIDIA driver's library cannot be loaded: "
                        + "libcuda.so.1: cannot open shared object file");
    }

    @Spec("12.46")
    @Test
    void bothBindingsMayBeMissing() throws Exception {
        ProcessResult process =
                CudaProcess.usual(classPathWithout("jcuda", "jna")).run();

        assertUnavailable(
                process,
                "JCuda is not on the class path (org.jcuda:jcuda); JNA is not on the class path (net.java.dev.jna:jna)\n");
    }

    @Spec("12.46")
    @Test
    void jnaBindsTheDriverWhereJCudaCannot() throws Exception {
        Path driver = SimulatedCuda.DRIVER.build();
        assertBoundThroughJna(
                CudaProcess.usual(classPathWithout("jcuda"), driver).run(),
                "JCuda is not on the class path (org.jcuda:jcuda)");
        assertBoundThroughJna(
                CudaProcess.withDriver(driver)
                        .jvmOptions(List.of("-Djava.library.path=" + folder))
                        .run(),
                "JCuda's native library cannot be loaded: no JCudaDriver-");
    }

    private static void assertBoundThroughJna(ProcessResult process, String reason) {
        assertThat(process.output())
                .contains(
                        "first: CUDA: Simulated GPU 0, driver for CUDA 12.6, through JNA, since " + reason,
                        "usable: true\n",
                        "marked: true\n",
                        "waited: true\n",
                        "failure: none\n",
                        "end\n")
                .doesNotContain("WARN");
        assertThat(process.exitCode()).isZero();
    }

    private static String classPathWithout(String... names) {
        String[] all = System.getProperty("java.class.path").split(File.pathSeparator, -1);
        List<String> left = Arrays.stream(all)
                .filter(entry -> Arrays.stream(names)
                        .noneMatch(
                                name -> Path.of(entry).getFileName().toString().startsWith(name + "-")))
                .toList();
        assertThat(left).hasSizeLessThanOrEqualTo(all.length - names.length);
        return String.join(File.pathSeparator, left);
    }

    /** The compiler resolves the types of all overloads of a method. */
    @Spec("12.45")
    @Test
    void anApplicationThatPassesAddressesCompilesWithoutJCuda() throws Exception {
        Path source = Files.writeString(folder.resolve("Application.java"), """
                import java.time.Duration;
                import org.brickprofiler.device.cuda.*;

                class Application {
                    long address(long context, long stream) {
                        try (CudaStream lent = CudaStream.onAddresses(context, stream).marks(8, 8).open();
                                CudaStream made = CudaStream.onDevice(0).open();
                                CudaTimer timer = CudaTimer.onAddresses(context, stream, Duration.ofSeconds(1))) {
                            return lent.streamAddress() + made.contextAddress() + timer.elapsedNs();
                        }
                    }
                }
                """);
        ByteArrayOutputStream errors = new ByteArrayOutputStream();
        int code = ToolProvider.getSystemJavaCompiler()
                .run(null, null, errors, "-d", folder.toString(), "-cp", classPathWithout("jcuda"), source.toString());
        assertThat(code).as("%s", errors).isZero();
    }

    @Spec("12.46")
    @Test
    void aSettingAllowsOneBindingOnly() {
        assertThat(bound("jcuda").calls()).isInstanceOf(JCudaCalls.class);
        assertThat(bound(" JNA ").calls()).isInstanceOf(JnaCalls.class);
        assertThat(bound("jna")).hasToString("CUDA: Simulated GPU 0, driver for CUDA 12.6, through JNA");
        assertThat(bound(" ").calls()).isInstanceOf(JCudaCalls.class);
        assertThat(bound("jni").reason())
                .contains("brick.profiler.cuda.binding or BRICK_PROFILER_CUDA_BINDING is 'jni': set jcuda or jna, or"
                        + " neither");
    }

    private static CudaSupport bound(String setting) {
        System.setProperty(CudaSupport.PROPERTY, setting);
        try {
            return CudaSupport.look();
        } finally {
            System.clearProperty(CudaSupport.PROPERTY);
        }
    }

    /** Asserts that the reason is the same each time, that one warning is logged, and that the process goes on. */
    private static void assertUnavailable(ProcessResult process, String reason) {
        assertThat(process.output())
                .contains(
                        "first: CUDA is not available: " + reason,
                        "second: CUDA is not available: " + reason,
                        "usable: false\n",
                        "marked: false\n",
                        "waited: false\n",
                        "failure: CUDA is not available: " + reason,
                        "device: CUDA device 0\n",
                        "end\n");
        assertThat(process.output().lines().filter(line -> line.contains("WARN")))
                .hasSize(1);
        assertThat(process.exitCode()).isZero();
    }
}
