package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.brickprofiler.device.cuda.CudaSupport;
import org.brickprofiler.device.cuda.SimulatedCuda;
import org.brickprofiler.device.metal.MetalSupport;
import org.brickprofiler.device.metal.SimulatedMetal;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DevicesCommandTest {

    @BeforeEach
    void start() {
        SimulatedCuda.start();
        SimulatedMetal.start();
    }

    @Spec("15.1")
    @Test
    void listsTheDevicesAsTheDemonstrationNamesThem() {
        Cli devices = Cli.run("devices");

        assertThat(devices.err()).isEmpty();
        assertThat(devices.exitCode()).isZero();
        assertThat(devices.out()).startsWith(CudaSupport.probe() + "\n").contains("\n  cuda:0  Simulated GPU 0\n");
        assertThat(devices.out())
                .contains("\n" + MetalSupport.probe() + "\n")
                .contains("\n  metal:0  " + MetalSupport.probe().deviceName().orElseThrow() + "\n");
    }
}
