package org.brickprofiler.jfr;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;

/** Relates the clock of a recording to {@link System#nanoTime()}: the event begins between two readings of it. */
@Name(AnchorEvent.NAME)
@Label("Clock Anchor")
@Category("Brick Profiler")
@Description("System.nanoTime() just before and just after this event")
@Period("1 s")
@StackTrace(false)
final class AnchorEvent extends Event {

    static final String NAME = "brick.ClockAnchor";

    @Label("Before")
    long beforeNs;

    @Label("After")
    long afterNs;

    static void emit() {
        AnchorEvent event = new AnchorEvent();
        event.beforeNs = System.nanoTime();
        event.begin();
        event.afterNs = System.nanoTime();
        event.commit();
    }
}
