package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import org.brickprofiler.BrickStats;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The work of logits: a model states the work for one token. */
class WovenLogitsTest {

    private static final String IN = "in: " + Logits.class.getName() + ".";

    /** An engine that computes the logits of a step in some parts. */
    static final class Logits {
        private int calls;

        void forward(int tokens, int parts) {
            layer(tokens);
            for (int i = 0; i < parts; i++) {
                head();
            }
        }

        private void layer(int tokens) {
            calls += tokens;
        }

        private void head() {
            calls++;
        }

        @Override
        public String toString() {
            return calls + " calls";
        }
    }

    /** Each case: the tokens of a step, the samples of its logits, and their operations; 0 if these are unknown. */
    @ParameterizedTest
    @CsvSource({"1, 1, 512", "1, 4, 512", "16, 1, 512", "16, 16, 0"})
    void logitsOfEachTokenOfAPromptAreUnknown(int tokens, int parts, long flops) throws Exception {
        Class<?> woven = Woven.loadWithWork(
                Logits.class,
                "step: {" + IN + "forward, tokens: tokens, kv: 0}\nlayer: {" + IN + "layer}\nmodel: {" + IN
                        + "forward, layers: 1, dim: 8, heads: 2, kvHeads: 1, ffnDim: 16, vocab: 32, weight: F16}\n"
                        + "bricks:\n  - {" + IN + "head, brick: LM_HEAD}\n");
        Constructor<?> constructor = woven.getDeclaredConstructor();
        constructor.setAccessible(true);
        Method forward = woven.getDeclaredMethod("forward", int.class, int.class);
        forward.setAccessible(true);
        forward.invoke(constructor.newInstance(), tokens, parts);
        BrickStats head = Woven.work.withoutUnknown(Woven.PROFILER.snapshot()).bricks().stream()
                .filter(each -> each.name().equals("LmHead"))
                .findFirst()
                .orElseThrow();
        assertThat(head.count()).isEqualTo(parts);
        assertThat(head.work().flops()).isEqualTo(flops);
        assertThat(Woven.losses.summary().isEmpty()).isEqualTo(flops > 0);
    }
}
