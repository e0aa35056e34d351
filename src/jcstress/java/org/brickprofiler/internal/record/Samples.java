package org.brickprofiler.internal.record;

import org.openjdk.jcstress.infra.results.JJJJJJ_Result;

/** Three samples that change every column of a row, and the row after each of them. */
final class Samples {

    /** No sample. */
    static final String NONE = "0, 0, 9223372036854775807, 0, 0, 0";

    /** The first sample. */
    static final String ONE = "1, 5, 5, 5, 5, 1";

    /** The first two samples. */
    static final String TWO = "2, 8, 3, 5, 3, 11";

    /** All three. */
    static final String THREE = "3, 15, 3, 7, 7, 111";

    private Samples() {}

    /** Receives a sample, so that the same three samples can be added to a table and to a registry. */
    @FunctionalInterface
    interface Sink {
        void add(int key, long elapsedNs, long atNs, long elements);
    }

    static void addThree(Sink sink) {
        sink.add(0, 5, 10, 1);
        sink.add(0, 3, 20, 10);
        sink.add(0, 7, 30, 100);
    }

    static void show(StatRow row, JJJJJJ_Result r) {
        r.r1 = row.count();
        r.r2 = row.totalNs();
        r.r3 = row.minNs();
        r.r4 = row.maxNs();
        r.r5 = row.lastNs();
        r.r6 = row.elements();
    }

    static StatTable tableOf(int rows) {
        return new StatTable(Thread.currentThread(), rows, false, new PendingQueue(), null, null);
    }
}
