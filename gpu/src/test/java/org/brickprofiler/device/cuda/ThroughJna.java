package org.brickprofiler.device.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Binds the driver through JNA while the tests of a class run. */
final class ThroughJna implements BeforeAllCallback, AfterAllCallback {

    @Override
    public void beforeAll(ExtensionContext context) {
        SimulatedCuda.start();
        System.setProperty(CudaSupport.PROPERTY, "jna");
        assertThat(CudaSupport.probe().calls()).isInstanceOf(JnaCalls.class);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        System.clearProperty(CudaSupport.PROPERTY);
    }
}
