package org.brickprofiler.device;

import org.brickprofiler.record.StreamPlace;
import org.brickprofiler.record.StreamSpans;
import org.jspecify.annotations.Nullable;

/** Who wants the work of device streams as spans. */
@FunctionalInterface
public interface StreamTracing {

    /** Nobody does. */
    StreamTracing NONE = (place, catchUp) -> null;

    /**
     * Where the work of a stream goes.
     *
     * @param place which stream
     * @param catchUp tells what was waited for and not told yet; to be run before what was taken is looked at, on any
     *     thread
     * @return what takes it, or null where it is not wanted
     */
    @Nullable StreamSpans of(StreamPlace place, Runnable catchUp);
}
