package org.brickprofiler.testing;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.reflect.Method;
import java.util.Optional;

/** Starts virtual threads if the running JDK has them (21 and later). */
public final class VirtualThreadStarter {

    private final Method startVirtualThread;

    private VirtualThreadStarter(Method startVirtualThread) {
        this.startVirtualThread = startVirtualThread;
    }

    /** A starter, or empty before JDK 21. */
    public static Optional<VirtualThreadStarter> find() {
        try {
            return Optional.of(new VirtualThreadStarter(Thread.class.getMethod("startVirtualThread", Runnable.class)));
        } catch (NoSuchMethodException beforeJdk21) {
            return Optional.empty();
        }
    }

    /** A starter; before JDK 21 the test is skipped. */
    public static VirtualThreadStarter orSkip() {
        Optional<VirtualThreadStarter> starter = find();
        assumeTrue(starter.isPresent(), "this JDK has no virtual threads");
        return starter.get();
    }

    /** Starts a virtual thread. */
    public Thread start(Runnable body) {
        try {
            return (Thread) startVirtualThread.invoke(null, body);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("Thread.startVirtualThread cannot be called", e);
        }
    }
}
