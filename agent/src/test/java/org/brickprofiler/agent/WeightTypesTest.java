package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;

import org.brickprofiler.agent.bridge.Bridge;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WeightTypesTest {

    /** An engine with one product. */
    static final class Multiplying {
        private double product;

        void multiply() {
            product += 1;
        }

        @Override
        public String toString() {
            return Double.toString(product);
        }
    }

    /** The bits of ternary weights, which are no multiple of a byte in any usual block, and a matrix without rows. */
    @ParameterizedTest
    @CsvSource({"1.58, 1000, 1580000", "4.83, 1000, 4830000", "0.0001, 1000, 96", "1.58, 0, 0"})
    void theBytesOfWeightsAreThoseOfTheStatedBits(String bits, int rows, long weightBytes) throws Exception {
        Woven.loadWithWork(
                Multiplying.class,
                "bricks:\n  - in: " + Multiplying.class.getName()
                        + ".multiply\n    brick: LM_HEAD\n    work: {matmul: [4, 8], weight: " + bits + "}\n");
        int key = Woven.PROFILER.brickKey("LmHead");
        long size = WeightTypes.sizeOf(bits).orElseThrow();
        for (int i = 0; i < 8; i++) {
            long timer = Bridge.startBrick(key);
            Bridge.product(0, rows, 1_000, 0, size);
            Bridge.stopBrick(timer, 1);
        }
        assertThat(Woven.work.withoutUnknown(Woven.PROFILER.snapshot()).bricks())
                .filteredOn(each -> each.name().equals("LmHead"))
                .singleElement()
                .satisfies(each -> assertThat(each.work().bytes()).isEqualTo(weightBytes));
    }
}
