package org.brickprofiler.device.cuda;

import jcuda.driver.CUresult;

/** The driver refused what a queue cannot be made without. The reason is reported already. Never leaves this package. */
final class CudaRefusal extends Exception {

    private static final long serialVersionUID = 1L;

    CudaRefusal() {
        super(null, null, false, false);
    }

    /** Reports a code other than success, and gives up. */
    static void unless(DriverCall call, int code, CudaFailures failures) throws CudaRefusal {
        if (code != CUresult.CUDA_SUCCESS) {
            failures.report(call, code);
            throw new CudaRefusal();
        }
    }
}
