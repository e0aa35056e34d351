package org.brickprofiler.device.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import jcuda.driver.CUresult;
import org.junit.jupiter.api.Test;

/** The names of error codes, there and back. */
class CudaErrorsTest {

    @Test
    void anExceptionsCodeIsThatOfItsName() {
        for (int code = 1; code < 1_000; code++) {
            assertThat(JCudaCalls.codeOf(CUresult.stringFor(code))).isEqualTo(code);
        }
        assertThat(JCudaCalls.codeOf("something else")).isEqualTo(CUresult.CUDA_ERROR_UNKNOWN);
        assertThat(JCudaCalls.codeOf(null)).isEqualTo(CUresult.CUDA_ERROR_UNKNOWN);
    }

    @Test
    void namesEachCodeAsJCudaDoes() {
        for (int code = 0; code < 1_000; code++) {
            String name = CUresult.stringFor(code);
            if (name.startsWith("CUDA_")) {
                assertThat(CudaErrors.describe(DriverCall.INIT, code))
                        .isEqualTo("cuInit returned " + name + " (" + code + ")");
            }
        }
    }

    @Test
    void saysWhichCallAnsweredWhat() {
        assertThat(CudaErrors.describe(DriverCall.EVENT_DESTROY, 400))
                .isEqualTo("cuEventDestroy returned CUDA_ERROR_INVALID_HANDLE (400)");
        assertThat(CudaErrors.describe(DriverCall.EVENT_QUERY, 226))
                .isEqualTo("cuEventQuery returned CUDA_ERROR_CONTAINED (226)");
        assertThat(CudaErrors.describe(DriverCall.EVENT_QUERY, 998))
                .isEqualTo("cuEventQuery returned an unknown code (998)");
    }

    /** The codes after which, by the driver's documentation, the process, context or stream cannot be used any more. */
    private static final Set<Integer> LOSSES =
            Set.of(4, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911, 917);

    @Test
    void onlyTheDocumentedCodesAreLosses() {
        for (int code = 0; code < 1_100; code++) {
            assertThat(CudaErrors.isLoss(code)).as("%s", code).isEqualTo(LOSSES.contains(code));
        }
    }

    @Test
    void saysWhatItMeansThatAnEventHasNoTime() {
        for (DriverCall call : DriverCall.values()) {
            boolean asks = call.function().matches("cuEvent(Query|Synchronize|ElapsedTime)");
            assertThat(CudaErrors.explain(call, 1).contains("captured into a graph"))
                    .as("%s", call)
                    .isEqualTo(asks);
            assertThat(CudaErrors.explain(call, 907)).contains("captured into a graph");
            assertThat(CudaErrors.explain(call, 400)).isEmpty();
        }
    }
}
