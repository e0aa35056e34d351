package org.brickprofiler;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJJJJJ_Result;
import org.openjdk.jcstress.infra.results.JJJJ_Result;
import org.openjdk.jcstress.infra.results.JJ_Result;

/** The guarantees that the stress tests of the internal packages check, as seen by an application. */
public final class ProfilerStress {

    private ProfilerStress() {}

    /** The statistics of a brick are consistent. */
    @JCStressTest
    @Outcome(id = "0, 0, 0, 0, 0, 0", expect = ACCEPTABLE, desc = "before the first sample")
    @Outcome(id = "1, 5, 5, 5, 5, 1", expect = ACCEPTABLE, desc = "after one")
    @Outcome(id = "2, 8, 3, 5, 3, 11", expect = ACCEPTABLE, desc = "after two")
    @Outcome(id = "3, 15, 3, 7, 7, 111", expect = ACCEPTABLE, desc = "after three")
    @Outcome(expect = FORBIDDEN, desc = "a mixture")
    @State
    public static class Stats {
        private final BrickProfiler profiler = BrickProfiler.enabled();

        @Actor
        public void writer() {
            profiler.record(BrickId.ACTIVATION, 5, 1);
            profiler.record(BrickId.ACTIVATION, 3, 10);
            profiler.record(BrickId.ACTIVATION, 7, 100);
        }

        @Actor
        public void reader(JJJJJJ_Result r) {
            BrickStats stats = profiler.brickStats(BrickId.ACTIVATION);
            r.r1 = stats.count();
            r.r2 = stats.totalNs();
            r.r3 = stats.minNs();
            r.r4 = stats.maxNs();
            r.r5 = stats.lastNs();
            r.r6 = stats.totalElements();
        }
    }

    /** Every sample is in exactly one of consecutive snapshots. */
    @JCStressTest
    @Outcome(id = "[0123], 3, 15, 111", expect = ACCEPTABLE, desc = "each counted once")
    @Outcome(expect = FORBIDDEN, desc = "lost or counted twice")
    @State
    public static class Snapshots {
        private final BrickProfiler profiler = BrickProfiler.enabled();
        private long endedCount;
        private long endedNs;
        private long endedElements;

        @Actor
        public void writer() {
            profiler.record(BrickId.ACTIVATION, 5, 1);
            profiler.record(BrickId.RMS_NORM, 3, 10);
            profiler.record(BrickId.ACTIVATION, 7, 100);
        }

        @Actor
        public void resetter() {
            add(profiler.snapshotAndReset());
        }

        @Arbiter
        public void arbiter(JJJJ_Result r) {
            r.r1 = endedCount;
            add(profiler.snapshot());
            r.r2 = endedCount;
            r.r3 = endedNs;
            r.r4 = endedElements;
        }

        private void add(ProfileSnapshot snapshot) {
            for (BrickStats brick : snapshot.bricks()) {
                endedCount += brick.count();
                endedNs += brick.totalNs();
                endedElements += brick.totalElements();
            }
        }
    }

    /** A dynamic brick that another thread is registering at the same time loses no sample. */
    @JCStressTest
    @Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "both samples in one brick")
    @Outcome(expect = FORBIDDEN, desc = "a sample was lost")
    @State
    public static class NewName {
        private final BrickProfiler profiler = BrickProfiler.enabled();

        @Actor
        public void first() {
            profiler.stopBrick(profiler.startBrick("custom"), 1);
        }

        @Actor
        public void second() {
            profiler.stopBrick(profiler.startBrick("custom"), 1);
        }

        @Arbiter
        public void arbiter(JJ_Result r) {
            r.r1 = profiler.allBrickStats().size();
            r.r2 = profiler.totalTokens();
        }
    }
}
