package org.brickprofiler.device;

import java.util.function.BooleanSupplier;
import org.brickprofiler.record.StreamPlace;
import org.brickprofiler.record.StreamSpans;
import org.jspecify.annotations.Nullable;

/** Who wants the work of device streams as spans. */
@FunctionalInterface
public interface StreamTracing {

    /** Nobody does. */
    StreamTracing NONE = (place, waits) -> null;

    /**
     * Where the work of a stream goes.
     *
     * @param place which stream
     * @param waits answers whether samples still wait for their time, and keeps what resolves them. It may take a lock; any
     *     thread
     * @return what takes it, or null where it is not wanted
     */
    @Nullable StreamSpans of(StreamPlace place, BooleanSupplier waits);
}
