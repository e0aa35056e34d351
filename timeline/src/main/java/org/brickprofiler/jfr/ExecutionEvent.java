package org.brickprofiler.jfr;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/** A sample of a brick. Committed at the sample's end, because an event cannot be given an earlier beginning. */
@Name(ExecutionEvent.NAME)
@Label("Brick Execution")
@Category("Brick Profiler")
@Description("An execution of a brick of a forward pass; the event is at its end")
@Enabled(false)
@StackTrace(false)
final class ExecutionEvent extends Event {

    static final String NAME = "brick.Execution";

    @Label("Brick")
    @Nullable
    String brick;

    @Label("Category")
    @Nullable
    String category;

    @Label("Phase")
    @Description("The phase of the step to which the profiler counts it; empty if it belongs to none")
    @Nullable
    String phase;

    @Label("Elapsed")
    @Timespan(Timespan.NANOSECONDS)
    long elapsed;

    @Label("Ended At")
    @Description("The profiler's clock at the end, ns; brick.ClockAnchor ties System.nanoTime() to the recording")
    long endNs;

    @Label("Elements")
    long elements;
}
