package org.brickprofiler.roofline;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.brickprofiler.Environment;
import org.brickprofiler.roofline.MachineRoof.Bandwidth;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** A measurement of the machine that runs the tests, in little memory. */
final class MachineRoofTest {

    @Spec("18.1")
    @Test
    void measuresThisMachine() {
        MachineRoof machine = MachineRoof.measure(0);

        assertThat(machine.environment()).isEqualTo(Environment.current());
        assertThat(machine.bandwidths())
                .extracting(Bandwidth::workingSetBytes)
                .containsExactly(16L << 10, 32L << 10, 64L << 10, 128L << 10, 256L << 10, 512L << 10, 1L << 20);
        assertThat(machine.bandwidths()).allSatisfy(each -> {
            // A processor of today reads far more than a byte in a ns from a cache, and less than a terabyte in a
            // second.
            assertThat(each.readOne().high()).isBetween(1.0, 2_000.0);
            assertThat(each.triadOne().high()).isBetween(1.0, 2_000.0);
            assertThat(each.readAll().high()).isGreaterThan(1.0);
            assertThat(each.triadAll().high()).isGreaterThan(1.0);
        });
        assertThat(machine.flopsOne().high()).isBetween(1.0, 1_000.0);
        assertThat(machine.flopsAll().high()).isGreaterThan(1.0);
        assertThat(machine.bandwidthGBps(16 << 10, 1))
                .as("a smaller working set is no slower")
                .isGreaterThanOrEqualTo(machine.bandwidthGBps(1 << 20, 1));
    }

    @Spec("18.6")
    @Test
    void measuresALittleBesideARun() {
        Map<String, Double> figures = MachineRoof.measureBriefly();

        assertThat(figures).containsOnlyKeys("roof_gflops", "roof_read_gbps");
        assertThat(figures.values()).allSatisfy(rate -> assertThat(rate).isBetween(1.0, 2_000.0));
    }
}
