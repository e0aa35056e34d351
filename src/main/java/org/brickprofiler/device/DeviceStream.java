package org.brickprofiler.device;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * A queue of work that a device does in order, such as a CUDA stream. It can be marked, waited for, polled without
 * waiting, and asked for the time between two marks.
 *
 * <p>A mark is a small number. It is set at the end of the queue, reached when the device has done everything before
 * it, and belongs to whoever set it until it is released; then its number is used again. Marks come from a pool that
 * was made before they are needed.
 *
 * <p>Every method may be called from any thread, and none throws because of what a driver answers: a queue that cannot
 * do what it was asked says so by its result, and by one warning.
 */
public interface DeviceStream extends AutoCloseable {

    /** Instead of a mark: none could be set. */
    int NO_MARK = -1;

    /** Instead of a time: at least one of the marks is not reached yet. Ask again later. */
    long NOT_REACHED = Long.MIN_VALUE;

    /** Instead of a time: it is not known and never will be. */
    long UNRESOLVED = Long.MIN_VALUE + 1;

    /** How long a wait for the device takes at most, unless a stream is given another timeout: a minute. */
    Duration DEFAULT_WAIT_TIMEOUT = Duration.ofMinutes(1);

    /**
     * What people call this queue.
     *
     * @return a name, one among the queues of its device
     */
    String name();

    /**
     * What does the work.
     *
     * @return the device's name, such as a GPU's model
     */
    String deviceName();

    /**
     * The number of the device among those of its kind.
     *
     * @return 0 or more
     */
    int deviceIndex();

    /**
     * Returns the identity of the device in every process; its number counts only the devices that the process sees.
     *
     * @return the UUID that the driver reports, for CUDA as its tools print it, {@code GPU-} first; empty unless
     *     overridden, and if it is not known
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
     * How the device is reached, for timelines: those of CUDA's devices alone show launches as CUDA's tools do.
     *
     * @return the name of an {@code org.brickprofiler.Backend}: {@code CUDA}, {@code METAL}; {@code CPU} unless
     *     overridden
     */
    default String backend() {
        return "CPU";
    }

    /**
     * Sets a mark at the end of the queue. Waits for nothing, allocates nothing unless the pool grows.
     *
     * @return the mark, from 0 to below {@link #maxMarks()}; {@link #NO_MARK} where none is left or the queue refused
     */
    int mark();

    /**
     * Whether the device has done everything before a mark, or never will report it. Waits for nothing.
     *
     * @param mark a mark that was not released
     * @return false as long as it may still be reached
     */
    boolean isReached(int mark);

    /**
     * The time between two marks, by the device's own clock. Waits for nothing.
     *
     * @param from a mark that was not released
     * @param to another; a time before that of {@code from} gives a negative result
     * @return ns; {@link #NOT_REACHED} or {@link #UNRESOLVED}
     */
    long elapsedNs(int from, int to);

    /**
     * The times between each of some marks and the next, by the device's own clock. Waits for nothing. The same as
     * asking for one after the other, which a device may do at less cost.
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
     * Whether the device had anything to do between two marks, as far as the queue knows. Where it had not, the time
     * between them is the host's, and no sample. Waits for nothing.
     *
     * @param from a mark that was not released, and is reached
     * @param to another
     * @return false where it is known that there was nothing; true unless overridden
     */
    default boolean hasWorkBetween(int from, int to) {
        return true;
    }

    /**
     * Waits until the device has done everything before a mark, whatever was enqueued behind it. A stream of a device
     * that may hang waits no longer than a timeout ({@link #DEFAULT_WAIT_TIMEOUT}).
     *
     * @param mark a mark that was not released
     * @return false where that cannot be waited for: now, as long as {@link #isUsable()}, or ever; and after the
     *     timeout, when {@link #isStalled()}
     */
    boolean waitFor(int mark);

    /**
     * Whether the device seems to hang: a wait has ended after its timeout, and no mark was waited for with success
     * since. Samples that waited for it are then unresolved. Waits for nothing.
     *
     * @return false unless overridden
     */
    default boolean isStalled() {
        return false;
    }

    /**
     * Whether the calling thread may ask about marks as it is. Where it may not, to ask changes something of the
     * thread, as what is current there: that is for threads that set marks here or wait for them.
     *
     * @return true unless overridden
     */
    default boolean answersHere() {
        return true;
    }

    /**
     * Gives marks back.
     *
     * @param mark a mark that nobody will ask for any more
     */
    void release(int mark);

    /**
     * Gives marks back. The same as giving back one after the other, which a device may do at less cost.
     *
     * @param marks marks that nobody will ask for any more
     * @param count how many of them, from the first on
     */
    default void release(int[] marks, int count) {
        Objects.requireNonNull(marks, "marks");
        for (int i = 0; i < count; i++) {
            release(marks[i]);
        }
    }

    /**
     * A pass has ended: what the queue was refused during the pass, such as more marks, may be tried again, once, in
     * the next. Waits for nothing and makes no context current. Does nothing unless overridden.
     */
    default void passEnded() {}

    /**
     * The most marks that exist at once.
     *
     * @return the bound of the pool, up to 1,048,575
     */
    int maxMarks();

    /**
     * Whether the queue still works.
     *
     * @return false for good once it was closed or its device was lost
     */
    boolean isUsable();

    /**
     * Why the queue does not work, or what it could not do.
     *
     * @return the latest reason, or empty where there was no failure
     */
    Optional<String> failure();

    /**
     * Registers what is to be done before the stream closes, while the times of marks can still be asked for.
     *
     * @param action runs once, on the thread that closes the stream; not at all where that was done already. The stream
     *     keeps it until then
     */
    void beforeClose(Runnable action);

    /**
     * Does what was registered, and lets go of what was made for marking. Marks that are not reached yet never will be.
     * Twice does no harm.
     */
    @Override
    void close();
}
