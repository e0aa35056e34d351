package org.brickprofiler.device;

import org.brickprofiler.record.StreamPlace;
import org.brickprofiler.record.StreamSpans;
import org.jspecify.annotations.Nullable;

/** Who wants the work of device streams as spans. */
@FunctionalInterface
public interface StreamTracing {

    /** Nobody does. */
    StreamTracing NONE = place -> null;

    /**
     * Where the work of a stream goes.
     *
     * @param place which stream
     * @return what takes it, or null where it is not wanted
     */
    @Nullable StreamSpans of(StreamPlace place);
}
