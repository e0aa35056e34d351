package org.brickprofiler.demo;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.IntSupplier;
import org.brickprofiler.demo.DevicePass.Work;
import org.brickprofiler.device.DeviceStream;

/**
 * A device with memory, a queue and the decoder's kernels, as the decoder uses it. One thread. A call that the driver
 * refuses throws a {@link DeviceFailure}.
 */
interface ComputeDevice extends AutoCloseable {

    /** The unit of work of a launch. Each kernel is written for one of these. */
    enum Share {
        /** One value: neighbouring threads take neighbouring values. */
        VALUE,
        /** A sum over a row in memory. */
        ROW,
        /** A sum over a column in memory: the values are far apart. */
        COLUMN,
        /** Many values, which the threads of one group combine. */
        GROUP
    }

    /** An argument of a kernel. */
    sealed interface Argument permits Floats, HostNumber {}

    /**
     * A kernel with its arguments; it may be enqueued any number of times.
     *
     * @param kernel its name
     * @param share the unit of work
     * @param width returns the number of shares, 1 or more; called at each launch, since some numbers depend on a cell
     * @param height the factor for that number: 1, or the number of heads
     * @param arguments in the kernel's order; cells are read at each launch
     */
    record Launch(String kernel, Share share, IntSupplier width, int height, List<Argument> arguments) {}

    /** Returns the stream that everything is enqueued in; open until this is closed. */
    DeviceStream stream();

    /**
     * Makes an array of undefined values.
     *
     * @param length how many floats, 1 to {@link Integer#MAX_VALUE}
     */
    Floats allocate(long length);

    /**
     * Makes an array with values. Waits until it has them.
     *
     * @param values at least one
     */
    Floats upload(float[] values);

    /** Allocates memory of the host that the device copies to; it is freed with the device. */
    ByteBuffer allocateHost(long bytes);

    /** Enqueues a copy to memory of {@link #allocateHost} that has the array's size. */
    void copyToHost(Floats from, ByteBuffer to);

    /** Prepares a launch. */
    Work prepare(Launch launch);

    /** Waits until everything that was enqueued is done. */
    void synchronize();

    /** Frees all resources. Errors of the driver are ignored. */
    @Override
    void close();
}
