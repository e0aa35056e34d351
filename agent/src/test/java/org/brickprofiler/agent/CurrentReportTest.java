package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.trace.CallTree;
import org.brickprofiler.trace.Frame;
import org.brickprofiler.trace.LineProfile;
import org.brickprofiler.trace.SourceLinks;
import org.brickprofiler.trace.TraceRecorder;
import org.junit.jupiter.api.Test;

/** The parts of the agent's reports beside the profile. */
class CurrentReportTest {

    private static final CallTree TREE = new CallTree(List.of(
            new CallTree.Node(CallTree.NO_PARENT, new Frame("org.example.VectorMath.dot", 88, "Interpreted"), 64),
            new CallTree.Node(0, new Frame("org.example.VectorMath.exp", 3, "Inlined"), 36)));

    private static final LineProfile LINES = new LineProfile(
            new LineProfile.Samples(100, 0, 0, 0, 0, 0, 0, 0),
            20_000_000,
            0,
            Optional.empty(),
            List.of(new LineProfile.OfBrick(
                    BrickId.FUSED_ATTENTION.displayName(),
                    Optional.empty(),
                    0,
                    OptionalDouble.empty(),
                    TREE,
                    CallTree.EMPTY)));

    @Test
    void slowStepsAndLinesShareTheFindings() {
        BrickProfiler profiler = new BrickProfiler();
        profiler.enable();
        profiler.record(BrickId.FUSED_ATTENTION, 5_000_000, 1);
        TraceRecorder slow = TraceRecorder.builder().keepSlowSteps(2).build();
        CurrentReport report = new CurrentReport(
                profiler.snapshot(),
                null,
                slow,
                Optional.of(LINES),
                Optional.of(SourceLinks.to(List.of("https://acme.org/src"))));

        assertThat(report.toJson())
                .containsOnlyOnce("\"findings\"")
                .contains(
                        "% of brick time",
                        "64 % of its samples (54 to 73 %) are in VectorMath.dot line 88, interpreted.")
                .contains("\"slowest_steps\"", "\"frame_method\"");
        assertThat(report.text())
                .containsSubsequence(
                        "Bricks, largest first", "\nLines of bricks\n", "\nFindings\n", "VectorMath.dot line 88");
        assertThat(report.page().render())
                .contains("\"frame_method\"", "https://acme.org/src/", "Lines lead to the sources of 1 class.");
    }
}
