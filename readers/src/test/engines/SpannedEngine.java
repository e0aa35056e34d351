import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.jfr.AsyncProfilerSpans;

/**
 * Writes a recording of async-profiler with the spans of bricks. A step computes for 2 ms in {@code attend} and for 1
 * ms in a brick inside it, {@code norm}; for 2 ms in {@code between}, which is no brick; and 100 times for 8 us in
 * {@code project}.
 *
 * <pre>{@code
 * javac -cp brick-profiler.jar:brick-profiler-timeline.jar SpannedEngine.java
 * java -agentpath:libasyncProfiler.so=start,event=ctimer,interval=1ms,jfr,file=async-spans.jfr \
 *     -cp brick-profiler.jar:brick-profiler-timeline.jar:async-profiler.jar:. SpannedEngine
 * }</pre>
 */
final class SpannedEngine {

    private static double sum;

    private SpannedEngine() {}

    private static void attend(long ns) {
        for (long untilNs = System.nanoTime() + ns; System.nanoTime() < untilNs; ) {
            for (int i = 0; i < 500; i++) {
                sum += i * sum;
            }
        }
    }

    private static void norm(long ns) {
        for (long untilNs = System.nanoTime() + ns; System.nanoTime() < untilNs; ) {
            for (int i = 0; i < 500; i++) {
                sum += i * sum;
            }
        }
    }

    private static void between(long ns) {
        for (long untilNs = System.nanoTime() + ns; System.nanoTime() < untilNs; ) {
            for (int i = 0; i < 500; i++) {
                sum += i * sum;
            }
        }
    }

    private static void project(long ns) {
        for (long untilNs = System.nanoTime() + ns; System.nanoTime() < untilNs; ) {
            for (int i = 0; i < 500; i++) {
                sum += i * sum;
            }
        }
    }

    public static void main(String[] arguments) {
        BrickProfiler profiler = BrickProfiler.enabled();
        try (AsyncProfilerSpans spans = AsyncProfilerSpans.of(profiler)) {
            for (int step = 0; step < 60; step++) {
                profiler.beginStep(StepInfo.decode(9));
                long attention = profiler.startBrick(BrickId.ATTENTION_SCORE);
                attend(2_000_000);
                long norm = profiler.startBrick(BrickId.RMS_NORM);
                norm(1_000_000);
                profiler.stopBrick(norm, 1);
                profiler.stopBrick(attention, 1);
                between(2_000_000);
                for (int i = 0; i < 100; i++) {
                    long up = profiler.startBrick(BrickId.UP_PROJECTION);
                    project(8_000);
                    profiler.stopBrick(up, 1);
                }
                profiler.endPass();
            }
        }
        System.out.println(sum);
    }
}
