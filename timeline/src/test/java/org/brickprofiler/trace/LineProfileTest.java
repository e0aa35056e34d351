package org.brickprofiler.trace;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.IntStream;
import org.brickprofiler.report.Finding;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.Profiles;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.CallTree.Node;
import org.brickprofiler.trace.CallTree.Share;
import org.brickprofiler.trace.LineProfile.OfBrick;
import org.brickprofiler.trace.LineProfile.Samples;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The lines of bricks, in words and in JSON. */
@OneJdk
class LineProfileTest {

    private static final LineProfile SOME = SampleLines.some();

    @Test
    void aLineCountsOnceWithItsMostFrequentMode() {
        Share<Frame> hottest = SOME.bricks().get(0).java().lines(1).get(0);

        assertThat(hottest.place()).isEqualTo(new Frame("org.example.VectorMath.dot", 88, "Interpreted"));
        assertThat(hottest.samples()).isEqualTo(320);
        assertThat(hottest.share()).isEqualTo(0.64);
        // The interval of Wilson (1927) for 320 of 500.
        assertThat(hottest.low()).isBetween(0.596, 0.598);
        assertThat(hottest.high()).isBetween(0.680, 0.682);
        assertThat(SOME.bricks().get(0).java().methods(1).get(0).samples()).isEqualTo(380);
        assertThat(SOME.bricks().get(0).java().paths(1).get(0).place())
                .containsExactly("org.example.Attention.run", "org.example.VectorMath.dot");
    }

    @Test
    void textNamesHowTheVirtualMachineRanALine() {
        CallTree java = new CallTree(List.of(new Node(CallTree.NO_PARENT, new Frame("a.B.c", 3, "C1 compiled"), 20)));
        CallTree natives =
                new CallTree(List.of(new Node(CallTree.NO_PARENT, new Frame("sin", Frame.NO_LINE, "C++"), 20)));

        assertThat(new LineProfile(
                                Samples.NONE,
                                0,
                                0,
                                Optional.empty(),
                                List.of(new OfBrick(
                                        "Head", Optional.empty(), 0, OptionalDouble.empty(), java, natives)))
                        .text())
                .contains(" a.B.c line 3, compiled by C1\n", " sin\n")
                .doesNotContain("unknown");
    }

    @Test
    void textNamesTheLinesAndEveryDoubt() {
        assertThat(SOME.text()).isEqualTo("""
                Lines of bricks
                  620 samples, one of a thread each 20 ms: 573 in bricks, 31 outside of bricks, 12 of other threads, 3 after the last brick of their thread, 1 too late: their bricks were overwritten. Their times are exact to 70 ns.
                  FusedAttention in decode steps, 525 samples (40 of workers)
                      64 % (60 to 68)    org.example.VectorMath.dot line 88, interpreted
                      20 % (17 to 24)    org.example.VectorMath.exp line 12, inlined
                      12 % (9.4 to 15)   org.example.VectorMath.dot line 90
                    in native code, 25 samples:
                     100 % (87 to 100)   java.lang.StrictMath.sin
                  GateProjection in decode steps, 44 samples
                     100 % (92 to 100)   org.example.Projection.multiply, line unknown
                    The virtual machine has lost samples here: 44 of 660 due. These lines may be of a part of its time.
                  Too few samples for shares: FusedAttention in prefill steps 4.
                  A line is unknown if the class file has no lines (-g:none), or the virtual machine made the method.
                """);
        assertThat(LineProfile.without("Java has no flight recorder here").text())
                .isEqualTo("Lines of bricks\n  No lines: Java has no flight recorder here.\n");
    }

    @Spec("13.19")
    @Test
    void bricksByFramesHaveSharesOfSamplesAndNoTimes() {
        assertThat(SampleLines.byFrames().text()).isEqualTo("""
                Lines of bricks
                  616 samples of processor time, one of a thread each 1 ms: 569 in bricks, 31 outside of bricks, 12 of other threads, 4 perhaps in a brick among the callers that the recording left out.
                  Methods and lines may be wrong: loops lack safepoints.
                  The samples of one wait count once in intervals, since they depend on each other.
                  Allocated, estimated from 47 samples: 4.0 MB in bricks, 2.0 MB elsewhere.
                  Threads waited 70 ms in bricks, 30 ms elsewhere, in 4 waits; those below 20 ms may be missing.
                  A sample belongs to the innermost of 2 methods that the rules name as a brick: executions and times of bricks are unknown.
                  Shares are of samples, which get lost where a stack cannot be walked. Work that a brick hands to other threads is outside of it.
                  Frames do not show 6 bricks of the rules: A in a.B.x (line 1), B, C, D, E and 1 more.
                  FusedAttention, 525 samples, 92 % of those of bricks (90 to 94)
                      64 % (60 to 68)    org.example.VectorMath.dot line 88, interpreted
                      20 % (17 to 24)    org.example.VectorMath.exp line 12, inlined
                      12 % (9.4 to 15)   org.example.VectorMath.dot line 90
                    in native code, 25 samples:
                     100 % (60 to 100)   java.lang.StrictMath.sin
                    allocated about 4.0 MB, by 40 samples: 75 % a.B.c, 25 % a.B.d
                  GateProjection, 44 samples, 7.7 % of those of bricks (5.7 to 10)
                     100 % (92 to 100)   org.example.Projection.multiply, line unknown
                    allocated about 999 bytes, by 2 samples, too few for shares
                    waited 70 ms in 3 waits: 70 ms monitor of a.Lock
                  A line is unknown if the class file has no lines (-g:none), or the virtual machine made the method.
                """);
        assertThat(LineProfile.fromJson(SampleLines.byFrames().toJson())).isEqualTo(SampleLines.byFrames());
    }

    @Test
    void aFindingOnABrickNamesItsLine() {
        Finding largest = new Finding(Finding.Kind.LARGEST_BRICK, "FusedAttention", 0.5, "It is the largest.", "next");

        assertThat(SOME.explained(largest).sentence())
                .isEqualTo("It is the largest. In decode steps, 64 % of its samples (60 to 68 %) are in VectorMath.dot"
                        + " line 88, interpreted.");
        Finding lost = new Finding(Finding.Kind.BELOW_ROOF, "GateProjection", 0.5, "It is slow.", "");
        assertThat(SOME.explained(lost).sentence())
                .endsWith("100 % of its samples (92 to 100 %) are in Projection.multiply, line unknown; but the virtual"
                        + " machine has lost samples here: 44 of 660 due.");
        Finding other = new Finding(Finding.Kind.IDLE, "FusedAttention", 0.5, "Nothing ran.", "");
        assertThat(SOME.explained(other)).isSameAs(other);
    }

    @Test
    void readingReturnsAnEqualProfile() throws IOException {
        assertThat(LineProfile.fromJson(SOME.toJson())).isEqualTo(SOME);
        // Earlier versions wrote constants in capitals.
        assertThat(LineProfile.fromJson(SOME.toJson().replace("\"prefill\"", "\"PREFILL\"")))
                .isEqualTo(SOME);
        assertThat(SOME.values())
                .extractingByKey("text")
                .asString()
                .endsWith(" or the virtual machine made the method.");
        LineProfile none = LineProfile.without("a \"reason\", in caf\u00e9");
        assertThat(LineProfile.fromJson(none.toJson())).isEqualTo(none);

        String report = JsonReport.toJson(Profiles.full(), SOME.reportEntries(Profiles.full()));
        assertThat(LineProfile.ofReport(new ByteArrayInputStream(report.getBytes(UTF_8))))
                .contains(SOME);
        assertThat(JsonReport.fromJson(report)).isEqualTo(Profiles.full());
        String without = JsonReport.toJson(Profiles.full());
        assertThat(LineProfile.ofReport(new ByteArrayInputStream(without.getBytes(UTF_8))))
                .isEmpty();
    }

    @Test
    void aReportHasBoundsAndLosesNoSample() {
        List<OfBrick> bricks = IntStream.range(0, 4)
                .mapToObj(i -> SampleLines.large("Brick" + i, 1_500, i))
                .toList();
        LineProfile large = new LineProfile(Samples.NONE, 0, 0, Optional.empty(), bricks);

        String report = JsonReport.toJson(Profiles.empty(), Map.of(JsonReport.LINES, large.values()));
        assertThat(report.length() - JsonReport.toJson(Profiles.empty()).length())
                .isLessThan(150_000);
        LineProfile read = LineProfile.fromJson(large.toJson());
        assertThat(read.bricks().stream()
                        .mapToInt(brick -> brick.java().nodes().size())
                        .sum())
                .isBetween(500, 2_000);
        for (int i = 0; i < bricks.size(); i++) {
            CallTree whole = bricks.get(i).java();
            CallTree pruned = read.bricks().get(i).java();
            assertThat(pruned.samples()).isEqualTo(whole.samples());
            assertThat(pruned.hottest()).isEqualTo(whole.hottest());
            Map<Frame, Long> before = own(whole);
            own(pruned).forEach((frame, samples) -> {
                if (!frame.equals(Frame.OTHER_PATHS)) {
                    assertThat(samples).isLessThanOrEqualTo(before.get(frame));
                }
            });
        }
    }

    private static Map<Frame, Long> own(CallTree tree) {
        Map<Frame, Long> own = new HashMap<>();
        tree.nodes().forEach(node -> own.merge(node.frame(), node.self(), Long::sum));
        return own;
    }

    @Test
    void rarePartsBecomeOneFrameBelowTheirCaller() {
        Frame root = new Frame("root", 1, "");
        Frame hot = new Frame("hot", 2, "");
        Frame rare = new Frame("rare", 3, "");
        CallTree tree = new CallTree(List.of(
                new Node(CallTree.NO_PARENT, root, 1),
                new Node(0, hot, 90),
                new Node(0, rare, 1),
                new Node(2, rare, 2),
                new Node(0, new Frame("rarer", 4, ""), 1)));

        assertThat(PrunedTrees.pruned(List.of(tree), 3).get(0).nodes())
                .containsExactly(
                        new Node(CallTree.NO_PARENT, root, 1), new Node(0, hot, 90), new Node(0, Frame.OTHER_PATHS, 4));
        assertThat(PrunedTrees.pruned(List.of(tree), 1).get(0).nodes())
                .containsExactly(new Node(CallTree.NO_PARENT, Frame.OTHER_PATHS, 95));
        assertThat(PrunedTrees.pruned(List.of(tree), 5).get(0)).isSameAs(tree);
    }

    @Spec("13.19")
    @Test
    void linesInDoubtAreNotNamedInFindings() {
        LineProfile doubted = SOME.doubted(Optional.of("loops lack safepoints"));

        assertThat(SOME.hottestLine("FusedAttention")).isPresent();
        assertThat(SOME.toJson()).contains("% of its samples");
        assertThat(doubted.hottestLine("FusedAttention")).isEmpty();
        assertThat(doubted.text()).contains("\n  Methods and lines may be wrong: loops lack safepoints.\n");
        assertThat(doubted.toJson()).doesNotContain("% of its samples");
        assertThat(LineProfile.fromJson(doubted.toJson())).isEqualTo(doubted);
    }

    @Test
    void manyBricksWithLongNamesHaveRoomToo() {
        LineProfile many = new LineProfile(
                Samples.NONE,
                0,
                0,
                Optional.empty(),
                IntStream.range(0, 40)
                        .mapToObj(i -> SampleLines.large("Brick" + i + "x".repeat(200), 300, i))
                        .toList());

        assertThat(many.toJson().length()).isLessThan(LineProfileJson.MOST_BYTES);
        assertThat(LineProfile.fromJson(many.toJson()).bricks()).hasSize(40);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"self\":[2] | \"self\":[2,3] | self of lines of bricks has 2 entries, and parent has 1",
                "\"frame\":[4, | \"frame\":[99, | frame of lines of bricks refers to number 99 of a list of 10",
                "\"phase\":\"prefill\" | \"phase\":\"X\" | phase of lines of bricks is unknown: X",
                "\"in_bricks\":573 | \"in_bricks\":\"many\" | in_bricks of lines of bricks is not a whole number: many",
                "\"outside\":31, | '' | outside of lines of bricks is not a whole number: null",
                "\"workers\":40 | \"workers\":4000 | brick FusedAttention has 4000 samples of workers, of 525",
                "\"bricks\":[ | \"bricks\":[7, | bricks of lines of bricks has 7, which is no object",
                "{ | [ | lines of bricks are an object, not START_ARRAY",
            })
    void aWrongValueIsNamed(String right, String wrong, String message) {
        String json = SOME.toJson();
        assertThat(json).contains(right);
        String changed = json.replace(right, wrong);
        assertThatThrownBy(() -> LineProfile.fromJson(changed))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }

    @Test
    void aSampleOfAllIsRefused() {
        assertThatThrownBy(() -> LineProfile.fromJson(SOME.toJson().replace("\"samples\":[380,", "\"samples\":[501,")))
                .hasMessage("501 samples of 500");
        assertThat(new OfBrick("a", Optional.empty(), 0, OptionalDouble.empty(), CallTree.EMPTY, CallTree.EMPTY)
                        .isDoubted())
                .isFalse();
    }
}
