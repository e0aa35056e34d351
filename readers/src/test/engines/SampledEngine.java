import java.util.concurrent.locks.LockSupport;

/**
 * Writes a recording of async-profiler: {@code attend} computes, {@code project} computes and allocates,
 * {@code guarded} waits for a lock that another thread holds for 25 ms at a time, and {@code pause} is parked.
 *
 * <pre>{@code
 * javac SampledEngine.java
 * java -agentpath:libasyncProfiler.so=start,event=ctimer,interval=1ms,alloc=64k,lock=1us,jfr,file=async-ctimer.jfr SampledEngine
 * java -agentpath:libasyncProfiler.so=start,event=ctimer,interval=2ms,wall=5ms,jfr,file=async-wall.jfr SampledEngine
 * java -agentpath:libasyncProfiler.so=start,event=wall,interval=5ms,jfr,file=async-wall.jfr SampledEngine
 * }</pre>
 */
final class SampledEngine {

    private static final Object LOCK = new Object();
    private static final byte[][] KEPT = new byte[64][];
    private static double sum;

    private SampledEngine() {}

    private static void attend(float[] numbers, long ns) {
        for (long untilNs = System.nanoTime() + ns; System.nanoTime() < untilNs; ) {
            sum += dot(numbers);
        }
    }

    private static double dot(float[] numbers) {
        double product = 0;
        for (float number : numbers) {
            product += number * number;
        }
        return product;
    }

    private static void project(float[] numbers, long ns) {
        int at = 0;
        for (long untilNs = System.nanoTime() + ns; System.nanoTime() < untilNs; at++) {
            for (int i = 0; i < numbers.length; i++) {
                numbers[i] = (float) (numbers[i] * 0.99 + i);
            }
            KEPT[at % KEPT.length] = new byte[4_096];
        }
    }

    private static void guarded() {
        synchronized (LOCK) {
            sum++;
        }
    }

    private static void pause() {
        LockSupport.parkNanos(4_000_000);
    }

    private static void hold() {
        while (true) {
            synchronized (LOCK) {
                LockSupport.parkNanos(25_000_000);
            }
            LockSupport.parkNanos(2_000_000);
        }
    }

    public static void main(String[] arguments) {
        Thread holder = new Thread(SampledEngine::hold, "holder");
        holder.setDaemon(true);
        holder.start();
        float[] numbers = new float[4_096];
        for (int step = 0; step < 60; step++) {
            attend(numbers, 3_000_000);
            project(numbers, 1_000_000);
            guarded();
            pause();
        }
        System.out.println(sum > 0);
    }
}
