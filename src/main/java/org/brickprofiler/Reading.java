package org.brickprofiler;

import java.util.List;
import org.brickprofiler.device.DeviceFigures;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.record.StatRow;
import org.brickprofiler.record.StatSums;
import org.jspecify.annotations.Nullable;

/**
 * What the recording threads had recorded at one moment. Immutable.
 *
 * @param sums the sums of every row that was asked for
 * @param figures what devices told besides, or null without devices
 */
record Reading(StatSums sums, @Nullable DeviceFigures figures) {

    StatRow row(int key) {
        return sums.row(key);
    }

    DeviceTime device(int key) {
        if (figures == null) {
            return DeviceTime.NONE;
        }
        StatRow launches = figures.launches(key);
        return new DeviceTime(
                figures.samples(key),
                launches.count(),
                launches.totalNs(),
                launches.count() == 0 ? 0 : launches.minNs(),
                launches.maxNs(),
                figures.unresolved(key));
    }

    /** Threads that recorded. One that set marks may also have recorded otherwise, and is counted once. */
    int threads() {
        return figures == null ? sums.threads() : Math.max(sums.threads(), figures.threads());
    }

    boolean virtualThreads() {
        return sums.virtualThreads() || (figures != null && figures.virtualThreads());
    }

    List<StreamTotals> streams() {
        return figures == null ? List.of() : figures.streams();
    }
}
