package org.brickprofiler.demo;

import com.sun.jna.Pointer;
import java.util.List;
import org.brickprofiler.demo.PtxKernel.Order;
import org.brickprofiler.demo.PtxKernel.Shape;
import org.brickprofiler.device.cuda.SimulatedCuda;
import org.jspecify.annotations.Nullable;

/**
 * Lets the simulated driver execute kernels: {@link PtxInterpreter} runs them on the driver's memory, with their
 * arguments. A wrong address is not detected: it crashes the process, as it may on a device.
 */
public final class SimulatedKernels implements AutoCloseable {

    private static final PtxModule KERNELS = PtxInterpreter.read(KernelText.PTX);

    /** The kernel around which the library measures what marks add. */
    private static final String EMPTY = "brick_profiler_empty";

    private final SimulatedCuda.KernelBody body = this::run;

    private @Nullable RuntimeException failure;

    /** Installs the kernels in the driver, until they are closed. */
    public SimulatedKernels() {
        SimulatedCuda.setKernels(body);
    }

    private void run(String name, Pointer shape, Pointer parameters) {
        if (name.equals(EMPTY)) {
            return;
        }
        try {
            PtxKernel kernel = KERNELS.kernel(name);
            List<String> types = kernel.parameterTypes();
            long[] arguments = new long[types.size()];
            for (int i = 0; i < arguments.length; i++) {
                Pointer argument = parameters.getPointer((long) i * Long.BYTES);
                arguments[i] =
                        types.get(i).equals("u64") ? argument.getLong(0) : Integer.toUnsignedLong(argument.getInt(0));
            }
            Shape threads = new Shape(shape.getInt(0), shape.getInt(4), shape.getInt(8));
            kernel.run(threads, arguments, HOST, Order.FORWARD, () -> 0);
        } catch (RuntimeException e) {
            // An exception cannot pass through the driver.
            failure = e;
        }
    }

    /** The memory of the process. */
    private static final PtxMemory HOST = new PtxMemory() {
        @Override
        public int load32(long address) {
            return new Pointer(address).getInt(0);
        }

        @Override
        public void store32(long address, int value) {
            new Pointer(address).setInt(0, value);
        }

        @Override
        public void store64(long address, long value) {
            new Pointer(address).setLong(0, value);
        }
    };

    /** Removes the kernels from the driver, and throws the last exception that occurred in one. */
    @Override
    public void close() {
        SimulatedCuda.setKernels(null);
        if (failure != null) {
            throw failure;
        }
    }
}
