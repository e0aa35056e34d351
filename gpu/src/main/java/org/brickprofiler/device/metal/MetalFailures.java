package org.brickprofiler.device.metal;

import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.brickprofiler.internal.base.Log;
import org.jspecify.annotations.Nullable;

/** Failures of a stream. The latest reason is kept, and the first of each kind is logged. Any thread. */
final class MetalFailures {

    /** Kinds of failure, each logged once for each stream. */
    enum Kind {
        CALL,
        DEVICE,
        TIMEOUT,
        MARKS,
        UNWATCHED,
        INSIDE,
        EMPTY,
        OLD,
        NO_TIME,
        LOST,
        COUNTERS,
        CLOCKS
    }

    private static final Log LOG = Log.of(MetalStream.class);

    private final String stream;

    /** Guarded by this. */
    private final Set<Kind> logged = EnumSet.noneOf(Kind.class);

    private volatile @Nullable String latest;

    MetalFailures(String stream) {
        this.stream = stream;
    }

    void report(Kind kind, String reason) {
        latest = reason;
        boolean first;
        synchronized (this) {
            first = logged.add(kind);
        }
        if (first) {
            LOG.warn("Metal stream {}: {}. Not logged again", stream, reason);
        }
    }

    Optional<String> latest() {
        return Optional.ofNullable(latest);
    }
}
