package org.brickprofiler.device.opencl;

import com.sun.jna.Callback;
import com.sun.jna.CallbackReference;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import org.brickprofiler.testing.Fixture;

/**
 * A context and queues of an installed driver, as an application has them. Work is a native kernel that spins on the
 * host's clock for a given time; PoCL supports native kernels. Skips the test if there is no driver. One thread makes
 * queues and closes this; any thread may enqueue work.
 */
public final class RealOpenCl implements AutoCloseable {

    public static final long IN_ORDER = OpenCl.PROFILING;

    private static final int REFERENCE_COUNT = 0x1092;
    private static final long RELEASED_WITHIN_NS = 5_000_000_000L;
    private static final int CONTEXT_REFERENCE_COUNT = 0x1080;

    /** A native kernel. */
    interface NativeKernel extends Callback {
        void invoke(Pointer arguments);
    }

    private static final NativeKernel SPIN = arguments -> {
        long untilNs = System.nanoTime() + arguments.getLong(0);
        while (System.nanoTime() < untilNs) {
            Thread.onSpinWait();
        }
    };

    /** The functions that applications call and streams do not. */
    private static final class More {
        static {
            Native.register(More.class, NativeLibrary.getInstance("OpenCL"));
        }

        static native int clEnqueueNativeKernel(
                long queue,
                Pointer function,
                Pointer arguments,
                long size,
                int memories,
                long list,
                long locations,
                int events,
                long waits,
                long event);

        static native int clFinish(long queue);

        static native int clGetContextInfo(long context, int what, long size, long value, long sizeNeeded);

        private More() {}
    }

    final OpenCl driver;
    final long context;
    final long device;
    private final Deque<Runnable> closing = new ArrayDeque<>();

    public RealOpenCl() {
        OpenClSupport support = support();
        driver = Objects.requireNonNull(support.driver());
        Memory out = new Memory(64);
        check(driver.clGetPlatformIDs(1, Pointer.nativeValue(out), 0));
        check(driver.clGetDeviceIDs(out.getLong(0), OpenCl.ALL_DEVICES, 1, Pointer.nativeValue(out) + Long.BYTES, 0));
        device = out.getLong(Long.BYTES);
        context = driver.clCreateContext(
                0, 1, Pointer.nativeValue(out) + Long.BYTES, 0, 0, Pointer.nativeValue(out) + 16);
        check(out.getInt(16));
        closing.push(() -> driver.clReleaseContext(context));
    }

    static OpenClSupport support() {
        OpenClSupport support = OpenClSupport.probe();
        if (!support.isAvailable()) {
            throw Fixture.OPENCL.missing(support.reason().orElseThrow());
        }
        return support;
    }

    static void check(int code) {
        if (code != OpenCl.SUCCESS) {
            throw new IllegalStateException(OpenClFailures.describe(code));
        }
    }

    /** Returns a queue with some properties, which {@link #close} releases. */
    public long queue(long properties) {
        long queue = ownQueue(properties);
        closing.push(() -> driver.clReleaseCommandQueue(queue));
        return queue;
    }

    /** Returns a queue that the caller releases. */
    long ownQueue(long properties) {
        Memory code = new Memory(8);
        long queue = driver.clCreateCommandQueue(context, device, properties, Pointer.nativeValue(code));
        check(code.getInt(0));
        return queue;
    }

    /** Enqueues work that takes {@code ns}. */
    void work(long queue, long ns) {
        Memory arguments = new Memory(Long.BYTES);
        arguments.setLong(0, ns);
        check(More.clEnqueueNativeKernel(
                queue, CallbackReference.getFunctionPointer(SPIN), arguments, Long.BYTES, 0, 0, 0, 0, 0, 0));
    }

    /** Enqueues work that takes {@code ns}, and returns its event. */
    long timedWork(long queue, long ns) {
        Memory arguments = new Memory(Long.BYTES);
        arguments.setLong(0, ns);
        Memory event = new Memory(Long.BYTES);
        check(More.clEnqueueNativeKernel(
                queue,
                CallbackReference.getFunctionPointer(SPIN),
                arguments,
                Long.BYTES,
                0,
                0,
                0,
                0,
                0,
                Pointer.nativeValue(event)));
        return event.getLong(0);
    }

    /** Returns the START or END of a command, ns; releases nothing. */
    long profile(long event, int what) {
        Memory ns = new Memory(Long.BYTES);
        check(driver.clGetEventProfilingInfo(event, what, Long.BYTES, Pointer.nativeValue(ns), 0));
        return ns.getLong(0);
    }

    /** Lets a queue wait for an event that {@link #open} sets. */
    long gate(long queue) {
        Memory out = new Memory(2 * Long.BYTES);
        long gate = driver.clCreateUserEvent(context, Pointer.nativeValue(out));
        check(out.getInt(0));
        out.setLong(0, gate);
        check(driver.clEnqueueMarkerWithWaitList(
                queue, 1, Pointer.nativeValue(out), Pointer.nativeValue(out) + Long.BYTES));
        check(driver.clReleaseEvent(out.getLong(Long.BYTES)));
        return gate;
    }

    void open(long gate) {
        check(driver.clSetUserEventStatus(gate, OpenCl.COMPLETE));
        check(driver.clReleaseEvent(gate));
    }

    void finish(long queue) {
        check(More.clFinish(queue));
    }

    /**
     * Returns the references to a queue that has finished. The driver's own thread releases the events of finished
     * commands, which refer to the queue, a moment after the queue has finished; it keeps the latest one.
     */
    int references(long queue) {
        long untilNs = System.nanoTime() + RELEASED_WITHIN_NS;
        int count = referencesNow(queue);
        while (count > 2 && System.nanoTime() < untilNs) {
            Thread.onSpinWait();
            count = referencesNow(queue);
        }
        return count;
    }

    private int referencesNow(long queue) {
        Memory count = new Memory(Long.BYTES);
        check(driver.clGetCommandQueueInfo(queue, REFERENCE_COUNT, Integer.BYTES, Pointer.nativeValue(count), 0));
        return count.getInt(0);
    }

    int contextReferences() {
        Memory count = new Memory(Long.BYTES);
        check(More.clGetContextInfo(context, CONTEXT_REFERENCE_COUNT, Integer.BYTES, Pointer.nativeValue(count), 0));
        return count.getInt(0);
    }

    /** Returns how far the clock of events is ahead of the host's, ns, which is slightly underestimated. */
    long aheadNs(long queue) {
        long aheadNs = Long.MIN_VALUE;
        for (int i = 0; i < 20; i++) {
            long event = timedWork(queue, 0);
            finish(queue);
            aheadNs = Math.max(aheadNs, profile(event, OpenCl.COMMAND_END) - System.nanoTime());
            check(driver.clReleaseEvent(event));
        }
        return aheadNs;
    }

    /** Releases everything; a second call has no effect. */
    @Override
    public void close() {
        while (!closing.isEmpty()) {
            closing.pop().run();
        }
    }
}
