package org.brickprofiler.demo.device;

import jcuda.driver.CUresult;

/** What the driver answers, as an exception where it is not success. Stateless; any thread. */
final class DriverAnswer {

    private DriverAnswer() {}

    /**
     * Throws unless a call succeeded.
     *
     * @param call its name
     * @param code what it returned
     * @throws DeviceFailure when that is no success
     */
    static void require(String call, int code) {
        if (code != CUresult.CUDA_SUCCESS) {
            throw new DeviceFailure(call + " answers " + CUresult.stringFor(code) + " (" + code + ")");
        }
    }
}
