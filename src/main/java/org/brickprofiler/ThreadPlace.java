package org.brickprofiler;

import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The place of a thread at a moment: its state, the top of its stack, and the lock for which it waited. Immutable.
 *
 * @param thread the name of the thread
 * @param state its state; {@code TERMINATED} if it had ended
 * @param frames the top frames of its stack, the innermost first, at most {@value #MOST_FRAMES}; empty if the virtual
 *     machine stated none
 * @param lock the object for which it waited, as class and identity; empty if it waited for none, or if that is unknown
 * @param isLockKnown whether the virtual machine states locks: it does not for a virtual thread, and not without the
 *     module {@code java.management}
 * @param owner the name of the thread that held the lock; empty if none did, or if that is unknown
 * @param ownerFrames the top frames of that thread
 */
public record ThreadPlace(
        String thread,
        Thread.State state,
        List<StackTraceElement> frames,
        Optional<String> lock,
        boolean isLockKnown,
        Optional<String> owner,
        List<StackTraceElement> ownerFrames) {

    /** The most frames that are read. */
    public static final int MOST_FRAMES = 12;

    /** The frames that a sentence names. */
    private static final int NAMED_FRAMES = 4;

    /** Checks that nothing is null, and copies the lists. */
    public ThreadPlace {
        Objects.requireNonNull(thread, "thread");
        Objects.requireNonNull(state, "state");
        Objects.requireNonNull(lock, "lock");
        Objects.requireNonNull(owner, "owner");
        frames = List.copyOf(Objects.requireNonNull(frames, "frames"));
        ownerFrames = List.copyOf(Objects.requireNonNull(ownerFrames, "ownerFrames"));
    }

    /**
     * Reads where a thread stands now. The virtual machine stops this thread for some microseconds.
     *
     * @param thread any thread
     * @return its place
     */
    public static ThreadPlace of(Thread thread) {
        Objects.requireNonNull(thread, "thread");
        try {
            ThreadPlace place = Beans.read(thread);
            if (place != null) {
                return place;
            }
        } catch (LinkageError noManagement) {
            // The stack is known without the module.
        }
        return new ThreadPlace(
                thread.getName(),
                thread.getState(),
                Stream.of(thread.getStackTrace()).limit(MOST_FRAMES).toList(),
                Optional.empty(),
                false,
                Optional.empty(),
                List.of());
    }

    /** The only user of the module {@code java.management}. */
    private static final class Beans {

        /** Returns the place of a thread; null if it has ended or is a virtual one. */
        static @Nullable ThreadPlace read(Thread thread) {
            ThreadInfo info = ManagementFactory.getThreadMXBean().getThreadInfo(thread.getId(), MOST_FRAMES);
            if (info == null) {
                return null;
            }
            LockInfo lock = info.getLockInfo();
            ThreadInfo owner = info.getLockOwnerId() < 0
                    ? null
                    : ManagementFactory.getThreadMXBean().getThreadInfo(info.getLockOwnerId(), MOST_FRAMES);
            return new ThreadPlace(
                    info.getThreadName(),
                    info.getThreadState(),
                    List.of(info.getStackTrace()),
                    Optional.ofNullable(lock).map(LockInfo::toString),
                    true,
                    Optional.ofNullable(info.getLockOwnerName()),
                    owner == null ? List.of() : List.of(owner.getStackTrace()));
        }
    }

    /**
     * Returns the place in words.
     *
     * @return such as <i>worker-1 is blocked: it waits for java.lang.Object@1b2c, which logger holds. It stands at
     *     app.Server.answer(Server.java:31) &lt; app.Server.run(Server.java:12).</i>
     */
    public String text() {
        return text(thread);
    }

    /** Returns the place in words, as a sentence about the given subject. */
    String text(String subject) {
        String stands = frames.isEmpty() ? "Its stack is unknown." : "It stands at " + text(frames) + ".";
        String held = ownerFrames.isEmpty() ? "" : " The holder stands at " + text(ownerFrames) + ".";
        return subject + " " + stateText() + ". " + stands + held;
    }

    private String stateText() {
        String waits = lock.map(each -> ": it waits for " + each + holderText())
                .orElse(isLockKnown ? "" : "; whether it waits for a lock is unknown");
        return switch (state) {
            case NEW -> "has not begun";
            case TERMINATED -> "has ended";
            case RUNNABLE -> "is runnable" + waits;
            case BLOCKED -> "is blocked" + waits;
            case WAITING, TIMED_WAITING -> "waits" + waits;
        };
    }

    private String holderText() {
        return owner.map(holder -> ", which " + holder + " holds").orElse("; no thread is known to hold it");
    }

    private static String text(List<StackTraceElement> stack) {
        return stack.stream().limit(NAMED_FRAMES).map(ThreadPlace::text).collect(Collectors.joining(" < "));
    }

    /**
     * Returns a frame in words, without class loader and module.
     *
     * @param frame the frame
     * @return such as <i>app.Server.answer(Server.java:31)</i>
     */
    static String text(StackTraceElement frame) {
        String file = frame.getFileName() == null ? "unknown source" : frame.getFileName();
        String place = frame.isNativeMethod()
                ? "native method"
                : frame.getLineNumber() < 0 ? file : file + ":" + frame.getLineNumber();
        return frame.getClassName() + "." + frame.getMethodName() + "(" + place + ")";
    }
}
