package org.brickprofiler.device.opencl;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Platform;
import java.util.ArrayList;
import java.util.List;

/**
 * The process's signal handlers, most of them the virtual machine's. Drivers replace them while they load: PoCL's
 * handler of SIGFPE skips the division, so that {@code 5 / 0} is some number in Java, and that of its compiler ends the
 * process if two threads come to a safepoint. On systems without {@code sigaction}, and if the JDK's {@code libjsig}
 * chains handlers, there is nothing to keep. Any thread; what another thread sets between the two calls is lost.
 */
final class SignalHandlers {

    /** All but those of real-time signals, which the C library uses itself. */
    private static final int LAST = 31;

    /** Enough for {@code struct sigaction}, which has 152 bytes on Linux on x86-64. */
    private static final int BYTES = 512;

    private record Handler(int number, NativeMemory action) {}

    private final List<Handler> handlers = new ArrayList<>();

    private SignalHandlers() {}

    /**
     * Reads the handlers as they are now.
     *
     * @return the handlers, for {@link #restore()}
     * @throws LinkageError if JNA is missing or does not work
     */
    static SignalHandlers save() {
        SignalHandlers saved = new SignalHandlers();
        if (!Platform.isWindows() && !areChained()) {
            for (int number = 1; number <= LAST; number++) {
                saved.add(number);
            }
        }
        return saved;
    }

    private void add(int number) {
        NativeMemory action = new NativeMemory(BYTES);
        if (sigaction().invokeInt(new Object[] {number, 0L, action.address(0)}) == 0) {
            handlers.add(new Handler(number, action));
        }
    }

    /**
     * Sets the handlers that were read; the system refuses those of KILL and STOP, which nothing can replace either.
     */
    void restore() {
        for (Handler handler : handlers) {
            sigaction()
                    .invokeInt(new Object[] {handler.number(), handler.action().address(0), 0L});
        }
    }

    private static Function sigaction() {
        return NativeLibrary.getProcess().getFunction("sigaction");
    }

    /**
     * Returns whether the JDK's {@code libjsig} is loaded, the only library with this function. A driver then replaces
     * no handler.
     */
    private static boolean areChained() {
        try {
            NativeLibrary.getProcess().getFunction("JVM_get_signal_action");
            return true;
        } catch (UnsatisfiedLinkError absent) {
            return false;
        }
    }
}
