package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonFactory;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import jdk.jfr.Configuration;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.objectweb.asm.ClassReader;

class SuggestionsTest {

    @TempDir
    private Path folder;

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
        assertThat(Suggestions.of(List.of(Woven.file(Layer.class))).rules())
                .isEqualTo("bricks:\n" + in + "forward\n    call: matmul 1\n    brick: GATE_PROJECTION\n" + in
                        + "forward\n    call: matmul 2\n    brick: OUTPUT_PROJECTION\n" + in
                        + "forward\n    call: matmul 3\n    brick: matmul 3\n    category: OTHER\n" + in
                        + "softmax\n    brick: ATTENTION_SOFTMAX\n");
        assertThat(Suggestions.of(List.of()).rules()).startsWith("#");
    }

    @Spec("22.9")
    @Test
    void proposesOnlyWhatApplies() throws Exception {
        Path jar = Path.of(JsonFactory.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        List<byte[]> files = ClassFiles.of(jar.toString());
        Weaver weaver = Woven.weaver(Suggestions.of(files).rules());
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
    void readsClassPathsAndNamesWhatItCannotRead() throws Exception {
        Path classes = Path.of(Woven.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        Path jar = Path.of(JsonFactory.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        int both = ClassFiles.of(classes + File.pathSeparator + jar).size();
        assertThat(both).isEqualTo(ClassFiles.of(classes.toString()).size() + ClassFiles.of(jar.toString()).size());
        Path folder = Files.createDirectory(this.folder.resolve("lib"));
        Files.copy(jar, folder.resolve("a.jar"));
        Files.writeString(folder.resolve("b.txt"), "no jar");
        assertThat(ClassFiles.of(folder.resolve("*").toString())).hasSameSizeAs(ClassFiles.of(jar.toString()));
        assertThatThrownBy(() -> ClassFiles.of("missing.jar"))
                .isInstanceOf(IOException.class)
                .hasMessage("there are no classes in missing.jar");
    }

    /** The settings as the JDK itself reads them, on every JDK; the events are of JDK 25. */
    @Spec("22.12")
    @Test
    void writesSettingsOfTheFlightRecorder() throws Exception {
        Path settings = folder.resolve("engine.jfc");
        Files.writeString(settings, Suggestions.of(List.of(Woven.file(Layer.class))).settings());
        String layer = SuggestionsTest.class.getName() + "$Layer::";
        assertThat(Configuration.create(settings).getSettings())
                .containsEntry("jdk.MethodTiming#filter", layer + "matmul;" + layer + "softmax")
                .containsEntry("jdk.MethodTrace#filter", layer + "matmul;" + layer + "softmax")
                .containsEntry("jdk.MethodTiming#enabled", "true")
                .containsEntry("jdk.MethodTrace#enabled", "false");
    }
}
