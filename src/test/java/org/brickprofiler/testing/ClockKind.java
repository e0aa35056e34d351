package org.brickprofiler.testing;

/** The clocks that tests of simulated devices run on. */
public enum ClockKind {
    /** One that only the test and waiting move. */
    STILL,
    /** The system's. */
    RUNNING;

    /** Creates a clock of this kind; if it stands still, it shows the given time. */
    public FakeClock clock(long startNs) {
        return this == STILL ? new FakeClock(startNs) : new RunningClock();
    }
}
