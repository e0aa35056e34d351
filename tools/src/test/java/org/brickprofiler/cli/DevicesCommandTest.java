package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import jcuda.driver.JCudaDriver;
import org.brickprofiler.device.cuda.CudaSupport;
import org.brickprofiler.device.cuda.SimulatedCuda;
import org.brickprofiler.device.metal.MetalSupport;
import org.brickprofiler.device.metal.SimulatedMetal;
import org.brickprofiler.device.opencl.OpenClSupport;
import org.brickprofiler.device.opencl.RealOpenCl;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DevicesCommandTest {

    @BeforeEach
    void start() {
        SimulatedCuda.start();
        // The simulated driver starts anew for each test; a process initialises the driver once.
        JCudaDriver.cuInit(0);
        SimulatedMetal.start();
        new RealOpenCl().close();
    }

    @Spec("15.1")
    @Test
    void listsTheDevicesAsTheDemonstrationNamesThem() {
        Cli devices = Cli.run("devices");

        assertThat(devices.err()).isEmpty();
        assertThat(devices.exitCode()).isZero();
        assertThat(devices.out())
                .startsWith(CudaSupport.probe() + "\n")
                .contains("\n  cuda:0  Simulated GPU 0, GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadae00, PCI 0000:17:00.0\n");
        assertThat(devices.out())
                .contains("\n" + MetalSupport.probe() + "\n")
                .contains("\n" + OpenClSupport.probe() + "\n")
                .contains("\n  opencl:0  " + OpenClSupport.probe().deviceNames().get(0)
                        + ", marks: the end of a marker\n")
                .contains("\n  metal:0  " + MetalSupport.probe().deviceName().orElseThrow() + "\n");
    }

    @Spec("12.33")
    @Test
    void anUnknownIdentityIsNamedWithItsReason() {
        SimulatedCuda.failAlways("cuDeviceGetUuid", 801);
        SimulatedCuda.failAlways("cuDeviceGetPCIBusId", 801);

        assertThat(Cli.run("devices").out())
                .contains("\n  cuda:0  Simulated GPU 0, UUID unknown (cuDeviceGetUuid returned ")
                .contains(", PCI address unknown (cuDeviceGetPCIBusId returned ");
    }
}
