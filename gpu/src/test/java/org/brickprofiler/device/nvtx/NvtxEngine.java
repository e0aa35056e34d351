package org.brickprofiler.device.nvtx;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.BrickStream;
import org.brickprofiler.StepInfo;
import org.brickprofiler.SyncMode;
import org.brickprofiler.ThreadProfiler;
import org.brickprofiler.device.HostStream;
import org.brickprofiler.testing.AllocatedBytes;
import org.brickprofiler.testing.Crew;

/**
 * Runs bricks in a process that a tool follows, and prints what the tool saw. A tool is attached for the whole life of
 * a process, so each part uses a profiler, and so a domain, of its own.
 */
final class NvtxEngine {

    private static final int SEED = 48;

    private NvtxEngine() {}

    /** Prints a line for each call of the tool, and lines of its own: "count BRICK N", "expected ..." and others. */
    public static void main(String[] args) throws Exception {
        nest(BrickProfiler.enabled());
        for (int i = 0; i < 5; i++) {
            System.gc(); // nothing that the tool uses may go
            Thread.sleep(20);
        }
        onDevice();
        random();
        cross(BrickProfiler.enabled());
        System.out.println("allocated " + allocated(BrickProfiler.enabled()));
        BrickProfiler unseen = BrickProfiler.builder().nvtx(false).build();
        unseen.enable();
        unseen.stopBrick(unseen.startBrick(BrickId.SAMPLING), 1);
        StandInTool.lines(Objects.requireNonNull(System.getenv(NvtxTool.VARIABLE)))
                .forEach(System.out::println);
    }

    /** Domain 1: a step with a layer, nested bricks, laps, a brick that is never stopped, and one while off. */
    private static void nest(BrickProfiler profiler) {
        profiler.beginStep(StepInfo.prefill(4));
        profiler.startLayer(7);
        long attention = profiler.startBrick(BrickId.FUSED_ATTENTION);
        long timer = profiler.startBrick(BrickId.QKV_PROJECTION);
        timer = profiler.lap(timer, 1, BrickId.ROPE_EMBEDDING);
        profiler.stopBrick(timer, 1);
        long unstopped = profiler.startBrick("unstopped");
        profiler.stopBrick(attention, 1);
        profiler.endLayer();
        try (var ignored = profiler.scope("own", 1)) {
            profiler.record(BrickId.SAMPLING, 1, 1);
        }
        profiler.endPass();
        profiler.beginStep(StepInfo.decode(4));
        profiler.abandonPass();
        long begun = profiler.startBrick(BrickId.FUSED_ATTENTION);
        profiler.disable();
        profiler.stopBrick(begun, 1);
        profiler.stopBrick(profiler.startBrick(BrickId.FUSED_ATTENTION), 1);
        assert unstopped != 0;
    }

    /**
     * Domain 2: bricks that a stream times, by start and stop, by lap, by the stream's name, and by the host's clock.
     */
    private static void onDevice() {
        try (HostStream stream = new HostStream()) {
            BrickProfiler profiler =
                    BrickProfiler.builder().deviceStream("main", stream).build();
            profiler.enable();
            BrickStream named = profiler.stream("main");
            long timer = named.startBrick(BrickId.FUSED_ATTENTION);
            timer = profiler.lap(timer, 1, BrickId.ROPE_EMBEDDING);
            profiler.stopBrick(timer, 1);
            profiler.endPass();
            profiler.setSyncMode(SyncMode.NONE);
            timer = profiler.startBrick(BrickId.SAMPLING);
            profiler.stopBrick(profiler.lap(timer, 1, BrickId.LM_HEAD), 1);
        }
    }

    /** Domain 3: random programs of three threads, whose bricks nest. Prints the calls that the tool must see. */
    private static void random() throws Exception {
        BrickProfiler profiler = BrickProfiler.enabled();
        for (int i = 0; i < 3; i++) {
            int seed = SEED + i;
            List<String> expected = Crew.onNewThread(() -> new Program(profiler, new Random(seed)).run());
            System.out.println("expected " + String.join("; ", expected));
        }
        for (BrickStats brick : profiler.allBrickStats()) {
            System.out.println("count " + brick.name() + " " + brick.count());
        }
    }

    /** A random program of one thread. */
    private static final class Program {
        private static final BrickId[] IDS = BrickId.values();

        private final BrickProfiler profiler;
        private final ThreadProfiler mine;
        private final Random random;
        private final Deque<Long> running = new ArrayDeque<>();
        private final List<String> expected = new ArrayList<>();

        Program(BrickProfiler profiler, Random random) {
            this.profiler = profiler;
            this.mine = profiler.forThisThread();
            this.random = random;
        }

        List<String> run() {
            for (int pass = 0; pass < 10; pass++) {
                profiler.beginStep(StepInfo.decode(pass + 1));
                expected.add("push decode step");
                for (int layer = 0; layer < 3; layer++) {
                    profiler.startLayer();
                    expected.add("push layer " + layer);
                    bricks();
                    profiler.endLayer();
                    expected.add("pop");
                }
                profiler.endPass();
                expected.add("pop");
            }
            return expected;
        }

        private void bricks() {
            for (int i = 0; i < 20 || !running.isEmpty(); i++) {
                BrickId id = IDS[random.nextInt(IDS.length)];
                boolean isLast = i >= 20;
                if (running.isEmpty() || (!isLast && random.nextInt(3) == 0)) {
                    running.push(random.nextBoolean() ? profiler.startBrick(id) : mine.startBrick(id));
                    expected.add("push " + id.displayName());
                } else if (!isLast && random.nextBoolean()) {
                    long timer = running.pop();
                    running.push(random.nextBoolean() ? profiler.lap(timer, 1, id) : mine.lap(timer, 1, id));
                    expected.add("pop");
                    expected.add("push " + id.displayName());
                } else if (random.nextBoolean()) {
                    profiler.stopBrick(running.pop(), 1);
                    expected.add("pop");
                } else {
                    mine.stopBrick(running.pop(), 1);
                    expected.add("pop");
                }
            }
        }
    }

    /** Domain 4: bricks that cross another one, a layer, or a thread; each twice. */
    private static void cross(BrickProfiler profiler) throws Exception {
        for (int i = 0; i < 2; i++) {
            long outer = profiler.startBrick("outer");
            long crossing = profiler.startBrick("crossing");
            profiler.stopBrick(outer, 1);
            profiler.stopBrick(crossing, 1);
            long intoLayer = profiler.startBrick("into layer");
            profiler.startLayer();
            profiler.stopBrick(intoLayer, 1);
            profiler.endPass();
            long away = profiler.startBrick("stopped elsewhere");
            Crew.runOnNewThread(() -> profiler.stopBrick(away, 1));
        }
        profiler.stopBrick(profiler.startBrick("outer"), 1);
    }

    /** Domain 5: returns the bytes that a seen brick allocates, after the first. */
    private static long allocated(BrickProfiler profiler) {
        int key = profiler.brickKey("allocating");
        return AllocatedBytes.fewest(
                10, () -> AllocatedBytes.ofCalls(100, () -> profiler.stopBrick(profiler.startBrick(key), 1)));
    }
}
