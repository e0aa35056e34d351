package org.brickprofiler.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The switch of a whole virtual machine. */
@Spec("11.2")
@Timeout(60)
final class KernelSwitchIT {

    private static final String STAYS_OFF = "kernel timings stay off: ";

    private static ProcessResult withProperty(String value) throws Exception {
        return KernelProcess.run(List.of("-Dbrick.profiler.kernels=" + value), Map.of());
    }

    private static void assertOn(ProcessResult process) {
        assertThat(process.assertSucceeded().output())
                .contains("enabled at first: true", "enabled: true", "kernels: 1", "command buffers: 1")
                .contains("kernels at the end: 0", "matmul CPU", "0.002000ms")
                .doesNotContain(STAYS_OFF);
    }

    private static void assertOff(ProcessResult process, String reason) {
        assertThat(process.assertSucceeded().output())
                .contains("enabled at first: false", "enabled: false", "kernels: 0", "command buffers: 0")
                .contains("kernels at the end: 0")
                .containsOnlyOnce(STAYS_OFF + reason)
                .containsOnlyOnce(STAYS_OFF)
                .doesNotContain("matmul");
    }

    @Test
    void isOnByDefault() throws Exception {
        assertOn(KernelProcess.run(List.of(), Map.of()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"false", "off", "0"})
    void thePropertySwitchesOffForGood(String value) throws Exception {
        assertOff(withProperty(value), "system property brick.profiler.kernels=" + value);
    }

    @Test
    void theVariableSwitchesOffForGood() throws Exception {
        assertOff(
                KernelProcess.run(List.of(), Map.of("BRICK_PROFILER_KERNELS", "off")),
                "environment variable BRICK_PROFILER_KERNELS=off");
    }

    @Test
    void thePropertyComesBeforeTheVariable() throws Exception {
        assertOn(KernelProcess.run(List.of("-Dbrick.profiler.kernels=true"), Map.of("BRICK_PROFILER_KERNELS", "off")));
    }

    @Test
    void anInvalidValueIsLoggedOnceAndIgnored() throws Exception {
        ProcessResult process = withProperty("maybe");

        assertOn(process);
        assertThat(process.output()).containsOnlyOnce("brick.profiler.kernels=maybe is neither");
    }
}
