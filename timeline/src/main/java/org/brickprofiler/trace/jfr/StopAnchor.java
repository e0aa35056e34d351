package org.brickprofiler.trace.jfr;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;

/**
 * Relates the clock of a recording to {@link System#nanoTime()}: the event lies between two readings. Once it has
 * arrived with all events of its flush, every stop before it has arrived, too.
 */
@Name(StopAnchor.NAME)
@Label("Stop Anchor")
@Category("Brick Profiler")
@Description("System.nanoTime() just before and just after this event, for stops of the virtual machine")
@Period("1 s")
@Enabled(false)
@StackTrace(false)
final class StopAnchor extends Event {

    static final String NAME = "brick.StopAnchor";

    @Label("Before")
    long beforeNs;

    @Label("After")
    long afterNs;

    static long emit() {
        StopAnchor event = new StopAnchor();
        event.beforeNs = System.nanoTime();
        event.begin();
        event.afterNs = System.nanoTime();
        event.commit();
        return event.beforeNs;
    }
}
