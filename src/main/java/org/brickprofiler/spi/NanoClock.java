package org.brickprofiler.spi;

/**
 * A source of time in nanoseconds. Only differences between two readings mean anything.
 *
 * <p>Implementations may be called from any thread, must not block and must not allocate. A clock should never run
 * backwards. If it does so by up to a millisecond, the profiler counts the interval as zero; otherwise the interval is
 * unresolved.
 */
@FunctionalInterface
public interface NanoClock {

    /** The clock of the JVM, {@link System#nanoTime()}. */
    NanoClock SYSTEM = new NanoClock() { // no lambda: the first one of a virtual machine takes long to make
                @Override
                public long nanoTime() {
                    return System.nanoTime();
                }

                @Override
                public String toString() {
                    return "System.nanoTime()";
                }
            };

    /**
     * Reads the clock.
     *
     * @return nanoseconds since an arbitrary, fixed origin; any thread
     */
    long nanoTime();
}
