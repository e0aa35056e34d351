package org.brickprofiler.kernel;

import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.brickprofiler.Backend;
import org.brickprofiler.record.NameTable;
import org.brickprofiler.record.StatRow;
import org.brickprofiler.record.StatSums;
import org.brickprofiler.record.TableRegistry;

/**
 * The kernels of one backend: a key per name, and a row per key in the table of each recording thread. Any thread;
 * recorders wait for nobody.
 */
final class KernelTable {

    /** Rows that a thread's table begins with; it grows by half where they do not suffice. */
    private static final int FIRST_ROWS = 16;

    private static final int NO_TAG = 0;

    private final Backend backend;
    private final NameTable names = new NameTable(KernelTimings.OTHER_NAMES, NO_TAG);
    private final TableRegistry registry = new TableRegistry(FIRST_ROWS, false);

    KernelTable(Backend backend) {
        this.backend = backend;
    }

    void add(String name, long elapsedNs, long atNs) {
        registry.add(names.keyOf(name, NO_TAG), elapsedNs, atNs, 0);
    }

    Stream<KernelTiming> read() {
        return timings(registry.read());
    }

    Stream<KernelTiming> readAndReset() {
        return timings(registry.readAndReset());
    }

    void reset() {
        registry.readAndReset();
    }

    private Stream<KernelTiming> timings(StatSums sums) {
        // Asked after the sums were read: every row among them has its name by now.
        return IntStream.range(0, names.size())
                .filter(key -> sums.row(key).count() > 0)
                .mapToObj(key -> timing(names.name(key), sums.row(key)));
    }

    private KernelTiming timing(String name, StatRow row) {
        return new KernelTiming(name, backend, row.count(), row.totalNs(), row.minNs(), row.maxNs(), row.lastNs());
    }
}
