package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A profile of ONNX Runtime that stopped within its third run. */
@Tag("one-jdk")
class OnnxSumsTest {

    @TempDir
    private Path folder;

    private static String node(String operator, long us) {
        return node("/layers.0/" + operator, operator, us);
    }

    private static String node(String path, String operator, long us) {
        return "{\"cat\" : \"Node\",\"name\" :\"" + path + "_kernel_time\",\"dur\" :" + us
                + ",\"ts\" :1,\"args\" : {\"input\" : [{\"float\":[1,4]}],\"op_name\" : \"" + operator + "\"}}";
    }

    private static String run() {
        return "{\"cat\" : \"Session\",\"name\" :\"model_run\",\"dur\" :100,\"args\" : {}}";
    }

    private OnnxSums read(String... events) throws IOException {
        Path file = folder.resolve("profile.json");
        Files.writeString(file, "[" + String.join(",", events) + "]");
        return OnnxSums.read(file);
    }

    @Test
    void sharesAreThoseOfWholeRuns() throws IOException {
        OnnxSums sums = read(
                node("MatMul", 60),
                node("If", 90),
                node("Softmax", 20),
                run(),
                node("MatMul", 90),
                node("Softmax", 30),
                run(),
                node("MatMul", 1_000));

        assertThat(sums.text(1, 3))
                .isEqualTo("ONNX Runtime's own profile of session 1 holds 2 of 3 runs; inside of them:"
                        + " Matrix product 75 %, Attention 25 %; by operator: MatMul 75 %, Softmax 25 %");
    }

    /** As `brick report` names them, except that no product is placed by its order between other nodes. */
    @Test
    void categoriesAreThoseOfTheRules() throws IOException {
        String text = read(
                        node("/model/layers.0/self_attn/q_proj/MatMul", "MatMul", 20),
                        node("/model/layers.0/self_attn/Reshape", "Reshape", 4),
                        node("/model/layers.0/attn/GroupQueryAttention", "GroupQueryAttention", 7),
                        node("/model/layers.0/mlp/gate_proj/MatMulNBits", "MatMulNBits", 39),
                        node("/model/layers.0/mlp/act_fn/Mul", "Mul", 1),
                        node("/model/layers.0/input_layernorm/LayerNorm", "SimplifiedLayerNormalization", 5),
                        node("MatMul_17", "MatMul", 24),
                        run())
                .text(1, 1);

        assertThat(text)
                .contains("inside of them: FFN 40 %, Attention 31 %, Matrix product 24 %, Norm 5 %; by operator");
    }

    @Test
    void aProfileWithoutRunsStatesNoShares() throws IOException {
        assertThat(read(node("MatMul", 60)).text(2, 1))
                .isEqualTo("ONNX Runtime's own profile of session 2 holds 0 of 1 run");
        assertThatThrownBy(() -> read("{\"cat\" : ")).isInstanceOf(IOException.class);
    }
}
