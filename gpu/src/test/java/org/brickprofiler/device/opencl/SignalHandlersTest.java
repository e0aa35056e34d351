package org.brickprofiler.device.opencl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

@Spec("12.48")
class SignalHandlersTest {

    /** Sent for a file that is too large; nothing sends it here. */
    private static final int XFSZ = 25;

    private static final int FPE = 8;
    private static final long IGNORE = 1;

    private static long handlerOf(int signal) {
        Memory action = new Memory(512);
        action.clear();
        Function.getFunction("c", "sigaction").invokeInt(new Object[] {signal, Pointer.NULL, action});
        return action.getLong(0);
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void areAsBeforeAfterADriverHasReplacedThem() {
        long before = handlerOf(XFSZ);

        SignalHandlers handlers = SignalHandlers.save();
        Function.getFunction("c", "signal").invokePointer(new Object[] {XFSZ, IGNORE});
        long replaced = handlerOf(XFSZ);
        handlers.restore();

        assertThat(replaced).isEqualTo(IGNORE).isNotEqualTo(before);
        assertThat(handlerOf(XFSZ)).isEqualTo(before);
    }

    @Test
    void aDivisionByZeroThrowsAfterADriverWasLoaded() {
        try (RealOpenCl opencl = new RealOpenCl()) {
            long queue = opencl.queue(RealOpenCl.IN_ORDER);
            opencl.work(queue, 1_000);
            opencl.finish(queue);

            assertThat(handlerOf(FPE)).isEqualTo(handlerOf(XFSZ));
            assertThatThrownBy(() -> divide(5, Integer.parseInt("0"))).isInstanceOf(ArithmeticException.class);
        }
    }

    private static int divide(int dividend, int divisor) {
        return dividend / divisor;
    }
}
