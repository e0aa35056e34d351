package org.brickprofiler.device.metal;

import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a stream could not do: the latest reason, and one warning for each kind. Any thread. */
final class Troubles {

    /** What is warned of once for each stream. */
    enum Kind {
        CALL,
        DEVICE,
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

    private static final Logger LOG = LoggerFactory.getLogger(MetalStream.class);

    private final String stream;

    /** Guarded by this. */
    private final Set<Kind> told = EnumSet.noneOf(Kind.class);

    private volatile @Nullable String latest;

    Troubles(String stream) {
        this.stream = stream;
    }

    void tell(Kind kind, String reason) {
        latest = reason;
        boolean first;
        synchronized (this) {
            first = told.add(kind);
        }
        if (first) {
            LOG.warn("Metal stream {}: {}. This is said once", stream, reason);
        }
    }

    Optional<String> latest() {
        return Optional.ofNullable(latest);
    }
}
