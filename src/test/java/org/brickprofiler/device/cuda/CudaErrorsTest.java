package org.brickprofiler.device.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import jcuda.CudaException;
import jcuda.driver.CUresult;
import org.junit.jupiter.api.Test;

/** The names of error codes, there and back. */
class CudaErrorsTest {

    @Test
    void anExceptionsCodeIsThatOfItsName() {
        for (int code = 1; code < 1_000; code++) {
            assertThat(CudaErrors.codeOf(new CudaException(CUresult.stringFor(code)))).isEqualTo(code);
        }
        assertThat(CudaErrors.codeOf(new CudaException("something else"))).isEqualTo(CUresult.CUDA_ERROR_UNKNOWN);
        assertThat(CudaErrors.codeOf(new CudaException(null))).isEqualTo(CUresult.CUDA_ERROR_UNKNOWN);
    }

    @Test
    void saysWhichCallAnsweredWhat() {
        assertThat(CudaErrors.describe(DriverCall.EVENT_DESTROY, 400))
                .isEqualTo("cuEventDestroy answered CUDA_ERROR_INVALID_HANDLE (400)");
        assertThat(CudaErrors.describe(DriverCall.EVENT_QUERY, 226))
                .isEqualTo("cuEventQuery answered CUDA_ERROR_CONTAINED (226)");
    }

    @Test
    void whatMayPassIsNoLoss() {
        for (int code : new int[] {0, 1, 2, 201, 400, 600, 701, 801, 900, 906, 907, 999}) {
            assertThat(CudaErrors.isLoss(code)).as("%s", code).isFalse();
        }
    }
}
