package org.brickprofiler.trace;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Random;
import org.brickprofiler.StepInfo;
import org.brickprofiler.trace.CallTree.Node;
import org.brickprofiler.trace.CallTree.Precision;
import org.brickprofiler.trace.LineProfile.Amounts;
import org.brickprofiler.trace.LineProfile.ByFrames;
import org.brickprofiler.trace.LineProfile.Elsewhere;
import org.brickprofiler.trace.LineProfile.OfBrick;
import org.brickprofiler.trace.LineProfile.Samples;

/** Line profiles for tests. */
public final class SampleLines {

    private static final String COMPILED = "JIT compiled";

    private SampleLines() {}

    /** Returns the lines of bricks of the run in {@code Profiles.full()}, with each kind of remark. */
    public static LineProfile some() {
        return new LineProfile(
                new Samples(573, 31, 12, 0, 0, 3, 1, 0),
                20_000_000,
                70,
                Optional.empty(),
                List.of(
                        new OfBrick(
                                "FusedAttention",
                                Optional.of(StepInfo.Phase.DECODE),
                                40,
                                OptionalDouble.of(451.25),
                                attention(),
                                natives(25)),
                        new OfBrick(
                                "GateProjection",
                                Optional.of(StepInfo.Phase.DECODE),
                                0,
                                OptionalDouble.of(660.4),
                                tree("org.example.Projection.multiply", Frame.NO_LINE, 44),
                                CallTree.EMPTY),
                        new OfBrick(
                                "FusedAttention",
                                Optional.of(StepInfo.Phase.PREFILL),
                                0,
                                OptionalDouble.empty(),
                                tree("org.example.Attention.run", 30, 2),
                                natives(2),
                                Amounts.NONE,
                                Amounts.NONE,
                                OptionalLong.of(1)),
                        new OfBrick(
                                "<b>Sampling</b>",
                                Optional.empty(),
                                0,
                                OptionalDouble.of(1),
                                CallTree.EMPTY,
                                CallTree.EMPTY)));
    }

    /**
     * Returns the lines of a recording without bricks, with memory and waits, and samples that depend on each other.
     */
    public static LineProfile byFrames() {
        OfBrick attention = some().bricks().get(0);
        OfBrick gate = some().bricks().get(1);
        return new LineProfile(
                new Samples(569, 31, 12, 0, 0, 0, 0, 4),
                1_000_000,
                0,
                Optional.empty(),
                List.of(
                        new OfBrick(
                                "FusedAttention",
                                Optional.empty(),
                                0,
                                OptionalDouble.empty(),
                                attention.java(),
                                new CallTree(
                                        attention.natives().nodes(),
                                        new Precision(attention.natives().samples(), 9.5, 4.5)),
                                Amounts.of(40, Map.of("a.B.c", 3_000_000L, "a.B.d", 1_000_000L)),
                                Amounts.NONE,
                                OptionalLong.empty()),
                        new OfBrick(
                                "GateProjection",
                                Optional.empty(),
                                0,
                                OptionalDouble.empty(),
                                gate.java(),
                                CallTree.EMPTY,
                                Amounts.of(2, Map.of("a.B.c", 999L)),
                                Amounts.of(3, Map.of("monitor of a.Lock", 70_000_000L)),
                                OptionalLong.empty())),
                new Elsewhere(5, 2_000_000, 1, 30_000_000, 20_000_000),
                Optional.of("processor time"),
                Optional.of(new ByFrames(2, List.of("A in a.B.x (line 1)", "B", "C", "D", "E", "F"))),
                Optional.of("loops lack safepoints"));
    }

    private static CallTree attention() {
        return new CallTree(List.of(
                new Node(CallTree.NO_PARENT, new Frame("org.example.Engine.decode", 210, COMPILED), 0),
                new Node(0, new Frame("org.example.Attention.run", 30, COMPILED), 20),
                new Node(1, new Frame("org.example.VectorMath.dot", 88, "Interpreted"), 270),
                new Node(1, new Frame("org.example.VectorMath.dot", 88, "Inlined"), 50),
                new Node(1, new Frame("org.example.VectorMath.dot", 90, COMPILED), 60),
                new Node(0, new Frame("org.example.Attention.run", 34, COMPILED), 0),
                new Node(5, new Frame("org.example.VectorMath.exp", 12, "Inlined"), 100)));
    }

    private static CallTree natives(long samples) {
        return new CallTree(List.of(
                new Node(CallTree.NO_PARENT, new Frame("org.example.Engine.decode", 211, COMPILED), 0),
                new Node(0, new Frame("java.lang.StrictMath.sin", Frame.NO_LINE, "Native"), samples)));
    }

    private static CallTree tree(String method, int line, long self) {
        return new CallTree(List.of(new Node(CallTree.NO_PARENT, new Frame(method, line, COMPILED), self)));
    }

    /** Returns a brick with a random tree of some nodes. */
    public static OfBrick large(String brick, int nodes, long seed) {
        Random random = new Random(seed);
        List<Node> made = new ArrayList<>();
        for (int i = 0; i < nodes; i++) {
            int parent = i == 0 ? CallTree.NO_PARENT : random.nextInt(i);
            Frame frame = new Frame(
                    "org.example.generated.Layer" + random.nextInt(300) + ".apply", 1 + random.nextInt(400), COMPILED);
            made.add(new Node(parent, frame, random.nextInt(10) == 0 ? random.nextInt(200) : random.nextInt(3)));
        }
        return new OfBrick(brick, Optional.empty(), 0, OptionalDouble.empty(), new CallTree(made), CallTree.EMPTY);
    }
}
