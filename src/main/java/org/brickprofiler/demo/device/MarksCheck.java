package org.brickprofiler.demo.device;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;

/** Very many marks: does anything grow with them? What is there after a tenth of them is compared with the end. */
final class MarksCheck implements Check {

    private static final int BRICKS_PER_PASS = 500;
    private static final int MARKS_PER_BRICK = 2;
    private static final long LIMIT_NS = 120_000_000_000L;

    private final Gpu gpu;
    private final long marks;

    /**
     * A check.
     *
     * @param marks how many to set
     */
    MarksCheck(Gpu gpu, long marks) {
        this.gpu = gpu;
        this.marks = marks;
    }

    @Override
    public String name() {
        return "marks";
    }

    @Override
    public List<Outcome> run() {
        String claim = String.format(Locale.ROOT, "nothing grows with %,d marks", marks);
        BrickProfiler profiler =
                BrickProfiler.builder().deviceStream(gpu.stream()).build();
        profiler.enable();
        long bricks = Math.max(1, marks / MARKS_PER_BRICK);
        long startNs = System.nanoTime();
        long done = set(profiler, bricks / 10, startNs);
        Holdings early = Holdings.now(gpu);
        done += set(profiler, bricks - bricks / 10, startNs);
        double seconds = (System.nanoTime() - startNs) / 1e9;
        if (done < bricks) {
            return List.of(Outcome.notMade(
                    name(),
                    claim,
                    String.format(
                            Locale.ROOT, "only %,d marks were set in %.0f s", done * MARKS_PER_BRICK, seconds)));
        }
        Holdings late = Holdings.now(gpu);
        BrickStats stats = profiler.brickStats(BrickId.RMS_NORM);
        boolean complete =
                stats.count() == bricks && stats.device().unresolved() == 0 && profiler.pendingCount() == 0;
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("marks", done * MARKS_PER_BRICK);
        figures.put("seconds", seconds);
        figures.put("samples", stats.count());
        figures.put("unresolved", stats.device().unresolved());
        figures.put("after_a_tenth", early.figures());
        figures.put("in_the_end", late.figures());
        Outcome.Status grown = late.hasNotGrownFrom(early) ? Outcome.Status.HELD : Outcome.Status.MISSED;
        return List.of(new Outcome(
                name(),
                complete ? grown : Outcome.Status.BROKEN,
                claim,
                String.format(
                        Locale.ROOT,
                        "%s; %,d samples, %,d unresolved; %.2f us a mark with all that comes after it",
                        late.growthFrom(early),
                        stats.count(),
                        stats.device().unresolved(),
                        seconds * 1e6 / (done * MARKS_PER_BRICK)),
                figures));
    }

    /** Returns how many bricks were timed before the time was up. */
    private long set(BrickProfiler profiler, long bricks, long startNs) {
        long done = 0;
        while (done < bricks && System.nanoTime() - startNs < LIMIT_NS) {
            long pass = Math.min(BRICKS_PER_PASS, bricks - done);
            for (int i = 0; i < pass; i++) {
                profiler.stopBrick(profiler.startBrick(BrickId.RMS_NORM), 1);
            }
            profiler.endPass();
            done += pass;
        }
        return done;
    }
}
