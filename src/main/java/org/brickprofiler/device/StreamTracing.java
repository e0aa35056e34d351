package org.brickprofiler.device;

import java.util.function.BooleanSupplier;
import org.brickprofiler.internal.record.StreamPlace;
import org.brickprofiler.internal.record.StreamSpans;
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
     * @param catchUp resolves what the device has done, where the calling thread may ask for it, and answers whether samples
     *     still wait for their time; to be run before what was taken is looked at, on any thread
     * @return what takes it, or null where it is not wanted
     */
    @Nullable StreamSpans of(StreamPlace place, BooleanSupplier catchUp);
}
