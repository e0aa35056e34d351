package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonFactory;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassReader;

class SuggestionsTest {

    /** What an engine's class may look like. */
    static final class Layer {
        private float[] gate = {1};
        private float[] wo = {2};
        private float[] other = {3};

        float forward(float[] x) {
            float sum = matmul(gate, x);
            sum += matmul(wo, x);
            sum += matmul(other, x);
            softmax(x);
            return sum;
        }

        private static float matmul(float[] weights, float[] x) {
            return weights[0] * x[0];
        }

        static void softmax(float[] x) {
            for (int i = 0; i < x.length; i++) {
                x[i] = (float) Math.exp(x[i]);
            }
        }
    }

    @Spec("22.9")
    @Test
    void goesByNamesAndRepeatedCalls() throws IOException {
        String in = "  - in: org.brickprofiler.agent.SuggestionsTest$Layer.";
        assertThat(Suggestions.rules(List.of(Woven.file(Layer.class))))
                .isEqualTo("bricks:\n" + in + "forward\n    call: matmul 1\n    brick: GATE_PROJECTION\n" + in
                        + "forward\n    call: matmul 2\n    brick: OUTPUT_PROJECTION\n" + in
                        + "forward\n    call: matmul 3\n    brick: matmul 3\n    category: OTHER\n" + in
                        + "softmax\n    brick: ATTENTION_SOFTMAX\n");
        assertThat(Suggestions.rules(List.of())).startsWith("#");
    }

    @Spec("22.9")
    @Test
    void proposesOnlyWhatApplies() throws Exception {
        Path jar = Path.of(JsonFactory.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        List<byte[]> files = ClassFiles.of(jar);
        Weaver weaver = Woven.weaver(Suggestions.rules(files));
        assertThat(weaver.classes()).isNotEmpty();
        for (byte[] file : files) {
            if (weaver.concerns(new ClassReader(file).getClassName())) {
                assertThat(weaver.weave(file, JsonFactory.class.getClassLoader()).problems())
                        .filteredOn(Weaver.Problem::isError)
                        .isEmpty();
            }
        }
    }

    @Test
    void readsFoldersAndNamesWhatItCannotRead() throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Path classes = Path.of(Woven.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        Suggestions.print(List.of(classes), new PrintStream(out, true, StandardCharsets.UTF_8));
        assertThat(out.toString(StandardCharsets.UTF_8)).contains("Layer.forward\n    call: matmul 2\n    brick: OUTPUT_PROJECTION");
        assertThatThrownBy(() -> ClassFiles.of(Path.of("missing.jar")))
                .isInstanceOf(IOException.class)
                .hasMessage("there are no classes in missing.jar");
    }
}
