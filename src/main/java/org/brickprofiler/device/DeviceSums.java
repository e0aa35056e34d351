package org.brickprofiler.device;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.IntStream;
import org.brickprofiler.record.StatTable;
import org.brickprofiler.record.TableRegistry;
import org.brickprofiler.record.TimerToken;

/**
 * What became of the samples of a {@link DeviceRecorder}, row by row. Any thread may count one as unresolved; the rest
 * happens on one thread at a time. Counting allocates nothing once rows have their size.
 */
final class DeviceSums {

    private final TableRegistry bricks;

    /** The host's times of the samples of which these were taken. */
    private final TableRegistry launches;

    private final long[] samples = new long[TimerToken.MAX_KEY + 1];
    private final AtomicLongArray unresolved = new AtomicLongArray(TimerToken.MAX_KEY + 1);

    DeviceSums(TableRegistry bricks, TableRegistry launches) {
        this.bricks = bricks;
        this.launches = launches;
    }

    /**
     * A sample has its time.
     *
     * @param key the brick
     * @param elapsedNs its duration on the device, ns
     * @param launchNs how long the host took between its marks, ns; {@link DeviceRecorder#NO_TIME} where that was not
     *     timed
     * @param atNs the host's clock when it ended, as far as that is known
     * @param elements elements it processed
     */
    void resolved(int key, long elapsedNs, long launchNs, long atNs, long elements) {
        add(bricks, key, elapsedNs, atNs, elements);
        samples[key]++;
        if (launchNs != DeviceRecorder.NO_TIME) {
            add(launches, key, launchNs, atNs, elements);
        }
    }

    /** Not on the timeline of the calling thread, which did not do it. */
    private static void add(TableRegistry registry, int key, long elapsedNs, long atNs, long elements) {
        StatTable table = registry.acquire();
        table.addForeign(key, elapsedNs, atNs, elements);
        registry.release(table);
    }

    /** A sample will never have one. Any thread. */
    void unresolved(int key) {
        unresolved.incrementAndGet(key);
    }

    DeviceFigures figures(int fromKey, int toKey, List<StreamTotals> streams) {
        return new DeviceFigures(
                launches.read(fromKey, toKey),
                fromKey,
                Arrays.copyOfRange(samples, fromKey, toKey),
                IntStream.range(fromKey, toKey).mapToLong(unresolved::get).toArray(),
                streams);
    }

    DeviceFigures figuresAndReset(List<StreamTotals> streams) {
        DeviceFigures ended = new DeviceFigures(
                launches.readAndReset(),
                0,
                samples.clone(),
                IntStream.range(0, unresolved.length())
                        .mapToLong(key -> unresolved.getAndSet(key, 0))
                        .toArray(),
                streams);
        Arrays.fill(samples, 0);
        return ended;
    }
}
