package org.brickprofiler.trace.jfr;

import java.util.Arrays;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.trace.TraceRecorder;

/**
 * The cost of a token while a flight recording samples the lines of its bricks: an engine decodes tokens of 368 bricks.
 * The timeline of the bricks is recorded with and without it.
 *
 * <p>Arguments: the pairs, 8 by default, and the work of a brick, 60 by default.
 */
public final class LinesStudy {

    private static final int LAYERS = 16;
    private static final BrickId[] BRICKS = Arrays.copyOf(BrickId.values(), 23);
    private static final int FLOATS = 1 << 8;

    /** The spans of a thread that take 1 MiB. */
    private static final int CAPACITY = (1 << 20) / 24;

    private final TraceRecorder recorder =
            TraceRecorder.builder().lines(true).threadCapacity(CAPACITY).build();
    private final BrickProfiler profiler =
            BrickProfiler.builder().tracing(recorder).build();
    private final float[] data = new float[FLOATS];
    private final int rounds;
    private float result;

    private LinesStudy(int rounds) {
        this.rounds = rounds;
        profiler.enable();
    }

    private void step() {
        profiler.beginStep(StepInfo.decode(1));
        for (int layer = 0; layer < LAYERS; layer++) {
            long timer = profiler.startBrick(BRICKS[0]);
            for (int brick = 1; brick <= BRICKS.length; brick++) {
                for (int round = 0; round < rounds; round++) {
                    for (float each : data) {
                        result += each * 0.5f + round;
                    }
                }
                timer = profiler.lap(timer, 1, BRICKS[brick % BRICKS.length]);
            }
        }
        profiler.endPass();
    }

    /**
     * Runs the study.
     *
     * @param arguments the number of pairs, and the work of a brick
     */
    public static void main(String[] arguments) {
        int pairs = arguments.length == 0 || arguments[0].isEmpty() ? 8 : Integer.parseInt(arguments[0]);
        LinesStudy study = new LinesStudy(arguments.length < 2 ? 60 : Integer.parseInt(arguments[1]));
        new RecordedBlocks(study::step, () -> VirtualMachineStops.of(study.recorder))
                .compare(pairs, "a token of " + LAYERS * BRICKS.length + " bricks");
        System.out.println(study.recorder.lines().orElseThrow().samples());
        System.out.println(study.result > 0 ? "computed" : "nothing computed");
    }
}
