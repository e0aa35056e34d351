package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rules whose brick is a whole method. */
@OneJdk
class FrameRulesTest {

    @TempDir
    private Path folder;

    private FrameRules read(String yaml) throws IOException {
        return FrameRules.read(Files.writeString(folder.resolve("rules.yaml"), yaml));
    }

    @Spec("13.19")
    @Test
    void wholeMethodsAreBricksAndPartsAreNamed() throws IOException {
        FrameRules rules = read("""
                step: {in: a.B.step}
                annotated: [com.example]
                bricks:
                  - {in: [a.B.norm, a.C.norm], brick: RMS_NORM}
                  - {in: 'a.B.rotate(float[], int, Tensor)', brick: mine, category: Other}
                  - {in: a.B.step, from: after norm, to: exit, brick: ATTENTION_SCORE}
                  - {in: a.B.step, lambda: run 1, brick: SAMPLING}
                  - {in: a.B.step, call: norm, brick: LM_HEAD}
                """);

        assertThat(rules.methods()).isEqualTo(3);
        assertThat(rules.brick("a.B", "norm", "()V")).contains("RmsNorm");
        assertThat(rules.brick("a.C", "norm", "")).contains("RmsNorm");
        assertThat(rules.brick("a.B", "step", "()V")).as("a step is no brick").isEmpty();
        assertThat(rules.brick("a.B", "rotate", "([FILcom/example/Tensor;)J")).contains("mine");
        assertThat(rules.brick("a.B", "rotate", "([FI)V")).isEmpty();
        assertThat(rules.brick("a.B", "rotate", "")).as("an unknown overload").isEmpty();
        assertThat(rules.leftOut())
                .containsExactly(
                        "AttentionScore in a.B.step (line 6)",
                        "Sampling in a.B.step (line 7)",
                        "LmHead in a.B.step (line 8)",
                        "methods of com.example with @Brick");
    }

    /** The agent records both, one inside the other; a frame shows one. */
    @Spec("13.19")
    @Test
    void theSecondBrickOfAMethodIsNamed() throws IOException {
        FrameRules rules = read("""
                bricks:
                  - {in: a.B.norm, brick: RMS_NORM}
                  - {in: 'a.B.norm(int)', brick: SAMPLING}
                  - {in: a.B.norm, brick: RMS_NORM}
                  - {in: 'a.B.rotate(int)', brick: LM_HEAD}
                  - {in: a.B.rotate, brick: SAMPLING}
                """);

        assertThat(rules.methods()).isEqualTo(3);
        assertThat(rules.leftOut()).containsExactly("Sampling in a.B.norm (line 3), which is RmsNorm by line 2");
        assertThat(rules.brick("a.B", "norm", "(I)V")).contains("RmsNorm");
        assertThat(rules.brick("a.B", "rotate", "(I)V")).contains("LmHead");
        assertThat(rules.brick("a.B", "rotate", "(J)V")).contains("Sampling");
    }

    @Spec("13.19")
    @Test
    void rulesWithoutAWholeMethodAreRefused() {
        assertThatThrownBy(() -> read("bricks: [{in: a.B.c, call: d 1, brick: RMS_NORM}]"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageEndingWith(
                        "rules.yaml: no rule has a whole method as its brick, and frames of samples show no"
                                + " other bricks; there are 1, such as RmsNorm in a.B.c (line 1)");
        assertThatThrownBy(() -> read("bricks: [{in: a.B.c, brick: RMS_NORM}, {in: a.B.d, brick: x}]"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("rules.yaml:1: there is no brick 'x'");
        assertThatThrownBy(() -> FrameRules.read(folder.resolve("none.yaml")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("none.yaml");
    }
}
