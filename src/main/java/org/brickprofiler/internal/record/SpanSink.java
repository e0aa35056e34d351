package org.brickprofiler.internal.record;

import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Who wants each span beside the sums; nobody unless an application asks. It gives out the stores that spans are
 * written to, once for each profiler that is made. Every method may be called from any thread.
 */
public interface SpanSink {

    /**
     * Where the bricks of a profiler go.
     *
     * @param names what their keys mean
     * @return a store of that profiler alone, held by whoever may still write there
     */
    SpanStore bricks(SpanNames names);

    /**
     * Where the tiles of a profiler go.
     *
     * @param names what their keys mean
     * @return a store of that profiler alone, held by whoever may still write there; null where tiles are not wanted
     */
    @Nullable SpanStore tiles(SpanNames names);

    /**
     * Where the work of a device stream goes that a profiler times.
     *
     * @param place which stream of which device
     * @param names what the keys of that profiler mean
     * @param owner who has the profiler; not to be kept: once it is gone only what waits is still to come
     * @param catchUp to be run before what was taken is looked at or forgotten: makes the profiler resolve what the device
     *     has done, where the calling thread may ask for it, and answers whether samples still wait for their time. It waits
     *     for no device, and may take a lock; any thread
     * @return what takes the work of that stream for that profiler alone, or null where it is not wanted
     */
    @Nullable StreamSpans stream(StreamPlace place, SpanNames names, Object owner, BooleanSupplier catchUp);
}
