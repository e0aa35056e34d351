package one.profiler;

/** Stands for the class of async-profiler. */
public final class Recording {

    /** Whether a recording runs: 2 if it does. */
    public static volatile int state;

    private Recording() {}

    public static int state() {
        return state;
    }

    /** Two ticks a microsecond. */
    public static long clockFrequency() {
        return 2_000_000;
    }

    public static long timestamp() {
        return System.nanoTime() / 500;
    }
}
