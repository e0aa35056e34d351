package org.brickprofiler.internal.device;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.List;
import java.util.Optional;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.internal.mark.MarkPool;
import org.brickprofiler.internal.record.StatRow;
import org.brickprofiler.internal.record.TableRegistry;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJJJ_Result;

/** A sample on a device is resolved once or counted as unresolved once, regardless of concurrent resolutions. */
public final class DeviceRecorderStress {

    private DeviceRecorderStress() {}

    /** A stream of few marks, each reached as soon as it is set: the n-th one at n times 100 ns. */
    static final class SteadyStream implements DeviceStream {
        private final MarkPool pool;
        private final long[] reachedNs;
        private long nowNs;

        SteadyStream(int marks) {
            pool = new MarkPool(marks, marks, (from, to) -> to);
            reachedNs = new long[marks];
        }

        @Override
        public String name() {
            return "steady";
        }

        @Override
        public String deviceName() {
            return "steady";
        }

        @Override
        public int deviceIndex() {
            return 0;
        }

        @Override
        public synchronized int mark() {
            int mark = pool.take();
            if (mark != NO_MARK) {
                nowNs += 100;
                reachedNs[mark] = nowNs;
            }
            return mark;
        }

        @Override
        public boolean isReached(int mark) {
            return true;
        }

        @Override
        public synchronized long elapsedNs(int from, int to) {
            return reachedNs[to] - reachedNs[from];
        }

        @Override
        public boolean waitFor(int mark) {
            return true;
        }

        @Override
        public void release(int mark) {
            pool.give(mark);
        }

        @Override
        public int maxMarks() {
            return reachedNs.length;
        }

        @Override
        public boolean isUsable() {
            return true;
        }

        @Override
        public Optional<String> failure() {
            return Optional.empty();
        }

        @Override
        public void beforeClose(Runnable action) {}

        @Override
        public void close() {}
    }

    /** The common state of the stress tests: the second resolution finds the rest of the first one. */
    abstract static class OneStream {
        final SteadyStream stream;
        final TableRegistry bricks = new TableRegistry(1, false);
        final DeviceRecorder recorder;

        OneStream(int marks) {
            stream = new SteadyStream(marks);
            recorder = new DeviceRecorder(() -> 7, bricks, List.of(stream), 1, DeviceRecorder.Tracing.NONE);
        }

        final void count(JJJJ_Result r) {
            // Marks belong to the stream, since the passes belong to other threads.
            recorder.endPass(0, true);
            StatRow row = recorder.whileQuiet(() -> bricks.read().row(0));
            r.r1 = row.count();
            r.r2 = row.totalNs();
            r.r3 = recorder.figures(0, 1).unresolved(0);
            r.r4 = stream.pool.free();
        }
    }

    /** One thread times three bricks with shared marks while another resolves. */
    @JCStressTest
    @Outcome(id = "3, 300, 0, 8", expect = ACCEPTABLE, desc = "each once, and every mark is free")
    @Outcome(expect = FORBIDDEN, desc = "lost, repeated, wrong, or a mark that is not free")
    @State
    public static class Laps extends OneStream {
        public Laps() {
            super(8);
        }

        @Actor
        public void recording() {
            long timer = recorder.start(0, 0);
            timer = recorder.lap(timer, 1, 0);
            timer = recorder.lap(timer, 1, 0);
            recorder.stop(timer, 1);
        }

        @Actor
        public void resolving() {
            recorder.poll(DeviceRecorder.NO_TIME);
        }

        @Arbiter
        public void arbiter(JJJJ_Result r) {
            count(r);
        }
    }

    /** A timer of two passes ago is stopped while its mark is taken back: it has its time, or no time. */
    @JCStressTest
    @Outcome(id = "1, 200, 1, 2", expect = ACCEPTABLE, desc = "stopped before its mark was taken back")
    @Outcome(id = "1, 100, 1, 2", expect = ACCEPTABLE, desc = "stopped after that")
    @Outcome(id = "0, 0, 2, 2", expect = ACCEPTABLE, desc = "each found the marks in use by the other")
    @Outcome(expect = FORBIDDEN, desc = "lost, repeated, wrong, or a mark that is not free")
    @State
    public static class Reclaimed extends OneStream {
        private final long forgotten;

        public Reclaimed() {
            super(2);
            forgotten = recorder.start(0, 0);
            recorder.endPass(false);
            recorder.endPass(false);
            recorder.endPass(false);
        }

        @Actor
        public void stopping() {
            recorder.stop(forgotten, 1);
        }

        @Actor
        public void recording() {
            recorder.stop(recorder.start(0, 0), 1);
        }

        @Arbiter
        public void arbiter(JJJJ_Result r) {
            count(r);
        }
    }

    /** A start that one thread has read is used by another, which also measures from its own start. */
    @JCStressTest
    @Outcome(id = "2, 200, 0, 63", expect = ACCEPTABLE, desc = "each from its own start; the last mark is kept")
    @Outcome(id = "2, 300, 0, 63", expect = ACCEPTABLE, desc = "a mark of the other lay within one")
    @Outcome(id = "2, 400, 0, 63", expect = ACCEPTABLE, desc = "at the same time")
    @Outcome(expect = FORBIDDEN, desc = "lost, repeated, unresolved, or a mark that is not free")
    @State
    public static class StartsOfOthers extends OneStream {
        private final long start;

        public StartsOfOthers() {
            super(64);
            start = recorder.markStart(0);
        }

        @Actor
        public void using() {
            recorder.endSince(0, 0, start, 1);
        }

        @Actor
        public void measuring() {
            recorder.endSince(0, 0, recorder.markStart(0), 1);
        }

        @Arbiter
        public void arbiter(JJJJ_Result r) {
            count(r);
        }
    }

    /** A start is used while another thread takes the queued samples and starts. */
    @JCStressTest
    @Outcome(id = "1, 100, 0, 63", expect = ACCEPTABLE, desc = "from its start; the last mark is kept")
    @Outcome(expect = FORBIDDEN, desc = "lost, repeated, unresolved, or a mark that is not free")
    @State
    public static class StartsWhileTaken extends OneStream {
        private final long start;

        public StartsWhileTaken() {
            super(64);
            start = recorder.markStart(0);
        }

        @Actor
        public void using() {
            recorder.endSince(0, 0, start, 1);
        }

        @Actor
        public void taking() {
            recorder.poll(DeviceRecorder.NO_TIME);
        }

        @Arbiter
        public void arbiter(JJJJ_Result r) {
            count(r);
        }
    }

    /** Two threads begin deferred measurements while the clock stands still: each finds its own mark. */
    @JCStressTest
    @Outcome(id = "2, 200, 0, 63", expect = ACCEPTABLE, desc = "one after the other; the last mark is kept")
    @Outcome(id = "2, 400, 0, 63", expect = ACCEPTABLE, desc = "at the same time; the last mark is kept")
    @Outcome(expect = FORBIDDEN, desc = "lost, repeated, from another's start, or a mark that is not free")
    @State
    public static class DeferredStarts extends OneStream {
        public DeferredStarts() {
            super(64);
        }

        @Actor
        public void one() {
            recorder.endSince(0, 0, recorder.markStart(0), 1);
        }

        @Actor
        public void other() {
            recorder.endSince(0, 0, recorder.markStart(0), 1);
        }

        @Arbiter
        public void arbiter(JJJJ_Result r) {
            count(r);
        }
    }
}
