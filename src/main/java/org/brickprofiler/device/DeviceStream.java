package org.brickprofiler.device;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * A queue of work that a device does in order, such as a CUDA stream. Callers set marks in it, wait for them, poll them
 * without waiting, and query the time between two marks.
 *
 * <p>A mark is a small number. It is set at the end of the queue, and reached when the device has done everything
 * before it. It belongs to its setter until it is released; then its number is used again. Marks come from a pool that
 * is made before they are needed.
 *
 * <p>Any thread may call any method. No method throws because of a driver's error: if the queue cannot do what a method
 * asks, the method returns a value that reports this, and one warning is logged.
 */
public interface DeviceStream extends AutoCloseable {

    /** The value of {@link #mark()} if no mark could be set. */
    int NO_MARK = -1;

    /** The value of a time if at least one of the marks is not reached yet. Ask again later. */
    long NOT_REACHED = Long.MIN_VALUE;

    /** The value of a time that is unknown and will stay unknown. */
    long UNRESOLVED = Long.MIN_VALUE + 1;

    /** The default timeout of a wait for the device: one minute. */
    Duration DEFAULT_WAIT_TIMEOUT = Duration.ofMinutes(1);

    /**
     * Returns the name of this queue in reports.
     *
     * @return a name, unique among the queues of its device
     */
    String name();

    /**
     * Returns the name of the device.
     *
     * @return the device's name, such as a GPU's model
     */
    String deviceName();

    /**
     * Returns the number of the device among those of its kind.
     *
     * @return 0 or more
     */
    int deviceIndex();

    /**
     * Returns the identity of the device, which is the same in every process. {@link #deviceIndex()} is not: it counts
     * only the devices that the process sees.
     *
     * @return the UUID that the driver reports; for CUDA with the prefix {@code GPU-}, as its tools print it. Empty
     *     unless overridden, and if it is not known
     */
    default Optional<String> deviceUuid() {
        return Optional.empty();
    }

    /**
     * Returns the address of the device in its machine.
     *
     * @return the address of the PCI function, such as {@code 0000:17:00.0}; empty unless overridden, and if it is not
     *     known
     */
    default Optional<String> pciAddress() {
        return Optional.empty();
    }

    /**
     * Returns the backend of the device. Timelines show launches on CUDA devices as CUDA's tools do.
     *
     * @return the name of an {@code org.brickprofiler.Backend}: {@code CUDA}, {@code METAL}, {@code OPENCL};
     *     {@code CPU} unless overridden
     */
    default String backend() {
        return "CPU";
    }

    /**
     * Sets a mark at the end of the queue. Waits for nothing, and allocates nothing unless the pool grows.
     *
     * @return the mark, from 0 to below {@link #maxMarks()}; {@link #NO_MARK} if none is left or the queue refused it
     */
    int mark();

    /**
     * Returns whether the device has done everything before a mark, or will never report it. Waits for nothing.
     *
     * @param mark a mark that was not released
     * @return false as long as it may still be reached
     */
    boolean isReached(int mark);

    /**
     * Returns the time between two marks, by the device's own clock. Waits for nothing.
     *
     * @param from a mark that was not released
     * @param to another; the result is negative if it was reached before {@code from}
     * @return ns; {@link #NOT_REACHED} or {@link #UNRESOLVED}
     */
    long elapsedNs(int from, int to);

    /**
     * Finds the times between each of some marks and the next, by the device's own clock. Waits for nothing. The result
     * is the same as that of single calls, which may cost more.
     *
     * @param marks marks that were not released
     * @param count how many of them, from the first on
     * @param ns receives, for each mark but the first, the time from the mark before: ns, {@link #NOT_REACHED} or
     *     {@link #UNRESOLVED}
     */
    default void elapsedNs(int[] marks, int count, long[] ns) {
        Objects.requireNonNull(marks, "marks");
        Objects.requireNonNull(ns, "ns");
        for (int i = 1; i < count; i++) {
            ns[i] = elapsedNs(marks[i - 1], marks[i]);
        }
    }

    /**
     * Returns how long ago the device reached a mark, by the device's own clock, which is read during this call. Waits
     * for nothing. Two readings of the host's clock around the call then bound the mark's time on the host's clock.
     *
     * @param mark a mark that was not released
     * @return ns; {@link #NOT_REACHED}; {@link #UNRESOLVED} unless overridden, and if the clock cannot be read
     */
    default long sinceNs(int mark) {
        return UNRESOLVED;
    }

    /**
     * Returns whether the device had work between two marks, as far as the queue knows. Without work, the time between
     * them is the host's, and is not a sample. Waits for nothing.
     *
     * @param from a mark that was not released, and is reached
     * @param to another
     * @return false if it is known that there was no work; true unless overridden
     */
    default boolean hasWorkBetween(int from, int to) {
        return true;
    }

    /**
     * Waits until the device has done everything before a mark, and never for later work. A stream of a device that may
     * hang waits no longer than a timeout ({@link #DEFAULT_WAIT_TIMEOUT}).
     *
     * @param mark a mark that was not released
     * @return true once the mark is reached. False if it cannot be waited for now or, if the stream is not
     *     {@linkplain #isUsable() usable} any more, ever. Also false after the timeout; the stream then
     *     {@link #isStalled()}
     */
    boolean waitFor(int mark);

    /**
     * Returns whether the device seems to hang: a wait has timed out, and none has succeeded since. The samples of that
     * wait are then unresolved. Waits for nothing.
     *
     * @return false unless overridden
     */
    default boolean isStalled() {
        return false;
    }

    /**
     * Returns whether the calling thread can query marks in its current context. If false, querying would change the
     * thread's current context; only threads that mark or wait on this stream should query it.
     *
     * @return true unless overridden
     */
    default boolean answersHere() {
        return true;
    }

    /**
     * Gives a mark back.
     *
     * @param mark a mark that is not used any more
     */
    void release(int mark);

    /**
     * Gives marks back. The result is the same as that of single calls, which may cost more.
     *
     * @param marks marks that are not used any more
     * @param count how many of them, from the first on
     */
    default void release(int[] marks, int count) {
        Objects.requireNonNull(marks, "marks");
        for (int i = 0; i < count; i++) {
            release(marks[i]);
        }
    }

    /**
     * Notifies the queue that a pass has ended. In the next pass, the queue may try once more what the driver has
     * refused in this one, such as more marks. Waits for nothing and makes no context current. Does nothing unless
     * overridden.
     */
    default void passEnded() {}

    /**
     * Measures what marks add to the device's times, in a queue of its own beside this one, around empty kernels, with
     * a bounded wait for the device. Called at each end of a pass that waits, and does nothing if it has measured, or
     * failed to measure, before; while the application captures this queue into a graph; and unless overridden.
     */
    default void measureMarks() {}

    /**
     * Returns what marks add to the device's times.
     *
     * @return the cost; unknown unless overridden, before it is measured, and if it cannot be measured
     */
    default MarkCost markCost() {
        return MarkCost.NOT_MEASURED;
    }

    /**
     * Returns the most marks that exist at once.
     *
     * @return the bound of the pool, up to 1,048,575
     */
    int maxMarks();

    /**
     * Returns whether the queue still works.
     *
     * @return false for good once the stream was closed or its device was lost
     */
    boolean isUsable();

    /**
     * Returns the reason why the queue does not work, or why a call failed.
     *
     * @return the latest reason, or empty if there was no failure
     */
    Optional<String> failure();

    /**
     * Registers an action to run before the stream closes, while the times of marks are still available.
     *
     * @param action runs once, on the thread that closes the stream; never if the stream is closed already. The stream
     *     refers to it until then
     */
    void beforeClose(Runnable action);

    /**
     * Runs the registered actions, and frees the marks. Marks that are not reached yet never will be. A second call
     * does nothing.
     */
    @Override
    void close();
}
