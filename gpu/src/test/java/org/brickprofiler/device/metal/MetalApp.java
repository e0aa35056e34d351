package org.brickprofiler.device.metal;

import com.sun.jna.Pointer;
import org.jspecify.annotations.Nullable;

/**
 * An application with a queue of its own on the simulated device, followed by a stream. Closing it checks for leaks.
 */
final class MetalApp implements AutoCloseable {

    private final int liveBefore = SimulatedMetal.live();
    private final Pointer queue = SimulatedMetal.queueNew("decode");
    private final MetalStream stream;

    MetalApp() {
        this(64);
    }

    MetalApp(int buffers) {
        stream = MetalStream.on(Pointer.nativeValue(queue)).buffers(buffers).open();
    }

    MetalStream stream() {
        return stream;
    }

    Pointer queue() {
        return queue;
    }

    /** Makes a command buffer and watches it. */
    Buffer begin(@Nullable String label) {
        Pointer buffer = SimulatedMetal.bufferNew(queue, label);
        return new Buffer(buffer, stream.watch(Pointer.nativeValue(buffer), null));
    }

    /** Makes, watches and commits a command buffer that takes {@code ns}. */
    long submit(String label, long ns) {
        Buffer buffer = begin(label);
        SimulatedMetal.work(buffer.pointer(), ns);
        buffer.commit();
        return buffer.sequence();
    }

    /** A command buffer of the application's. */
    record Buffer(Pointer pointer, long sequence) {

        void commit() {
            SimulatedMetal.commit(pointer);
            SimulatedMetal.release(pointer);
        }
    }

    /** Closes everything, lets the device finish, and fails the test if anything of Metal's is still alive. */
    @Override
    public void close() {
        stream.close();
        SimulatedMetal.run(-1);
        SimulatedMetal.release(queue);
        int leaked = SimulatedMetal.live() - liveBefore;
        if (leaked != 0) {
            throw new AssertionError(leaked + " objects of Metal's are still alive");
        }
    }
}
