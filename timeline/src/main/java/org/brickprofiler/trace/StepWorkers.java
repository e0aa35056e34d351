package org.brickprofiler.trace;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.brickprofiler.internal.record.LayerToken;
import org.jspecify.annotations.Nullable;

/**
 * The threads that work for passes of other threads, by the tokens of layers that a profiler gave them. It keeps the
 * latest {@value #MOST_PASSES} passes, and as many threads. Not thread-safe.
 */
final class StepWorkers {

    static final int MOST_PASSES = 1 << 14;

    /** In place of the number of a pass: the entries that state it are lost. */
    private static final int UNKNOWN_PASS = -2;

    private final Map<Integer, LineSeries> passes = new Latest<>();
    private final Map<Long, Changes> ofThreads = new Latest<>();

    /** The latest pass, in which most layers begin. */
    private int latestPass = LayerToken.NO_PASS;

    private @Nullable LineSeries latestSeries;

    /** A map that forgets what was not used for the longest time. */
    private static final class Latest<K, V> extends LinkedHashMap<K, V> {
        private static final long serialVersionUID = 1;

        Latest() {
            super(16, 0.75f, true);
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
            return size() > MOST_PASSES;
        }
    }

    /** The pass for which a thread works from each of some moments on. */
    private static final class Changes {
        private final boolean isOfVirtualThread;
        private long[] atNs = new long[2];
        private int[] passes = new int[2];
        private int size;

        Changes(boolean isOfVirtualThread) {
            this.isOfVirtualThread = isOfVirtualThread;
        }

        void add(long fromNs, int pass) {
            if (size == atNs.length) {
                atNs = Arrays.copyOf(atNs, 2 * size);
                passes = Arrays.copyOf(passes, 2 * size);
            }
            atNs[size] = fromNs;
            passes[size++] = pass;
        }

        int passAt(long ns) {
            int at = latestUntil(ns);
            return at < 0 ? LayerToken.NO_PASS : passes[at];
        }

        void lost() {
            add(atNs[size - 1], UNKNOWN_PASS);
        }

        int latest() {
            return passes[size - 1];
        }

        boolean isOver() {
            return isOfVirtualThread && size == 1 && latest() == LayerToken.NO_PASS;
        }

        /** Forgets the changes before the one that holds at a moment. */
        void forgetBefore(long ns) {
            int from = Math.max(0, latestUntil(ns));
            size -= from;
            System.arraycopy(atNs, from, atNs, 0, size);
            System.arraycopy(passes, from, passes, 0, size);
        }

        private int latestUntil(long ns) {
            int low = 0;
            int high = size;
            while (low < high) {
                int middle = (low + high) >>> 1;
                if (atNs[middle] <= ns) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            return low - 1;
        }
    }

    /**
     * For which step a thread works.
     *
     * @param step the bricks of the thread that runs it; null if these are unknown
     */
    record Work(@Nullable LineSeries step) {
        private static final Work UNKNOWN = new Work(null);
    }

    /** Notes that a thread began a layer of a pass. */
    void began(int pass, LineSeries series) {
        if (pass != latestPass || series != latestSeries) {
            latestPass = pass;
            latestSeries = series;
            passes.put(pass, series);
        }
    }

    /**
     * Notes for which pass a thread works from a moment on. The changes of a thread come in the order of time.
     *
     * @param pass the pass of another thread, or {@link LayerToken#NO_PASS}
     */
    void worksFor(LineBricks.Change change, int pass) {
        Changes known = ofThreads.get(change.threadId());
        if (known == null && pass != LayerToken.NO_PASS) {
            known = new Changes(change.isOfVirtualThread());
            ofThreads.put(change.threadId(), known);
        }
        if (known != null && (known.size == 0 || known.latest() != pass)) {
            known.add(change.atNs(), pass);
        }
    }

    /** Notes that changes of a thread were lost after the latest one that is known. */
    void lost(long threadId) {
        Changes known = ofThreads.get(threadId);
        if (known != null) {
            known.lost();
        }
    }

    /** Notes that changes of virtual threads were lost after the latest ones that are known. */
    void lostOfVirtualThreads() {
        ofThreads.values().stream().filter(changes -> changes.isOfVirtualThread).forEach(Changes::lost);
    }

    /** Returns for which step a thread worked at a moment; empty if it worked for none of another thread. */
    Optional<Work> at(long threadId, long atNs) {
        Changes known = ofThreads.get(threadId);
        int pass = known == null ? LayerToken.NO_PASS : known.passAt(atNs);
        if (pass == LayerToken.NO_PASS) {
            return Optional.empty();
        }
        LineSeries step = passes.get(pass);
        return Optional.of(step == null ? Work.UNKNOWN : new Work(step));
    }

    /** Forgets for which steps threads worked before a moment, and virtual threads that work for none. */
    void forgetBefore(long ns) {
        ofThreads.values().forEach(changes -> changes.forgetBefore(ns));
        ofThreads.values().removeIf(Changes::isOver);
    }
}
