package org.brickprofiler.demo;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.device.cuda.CudaStream;
import org.brickprofiler.device.cuda.CudaSupport;

/**
 * A CUDA device with a stream, the kernels of the demonstration and memory: what an engine has that wants to be
 * profiled. Its context is current on the thread that opens it until that thread closes it, and no other thread may use
 * it, but for {@link #onThisThread}. What a driver refuses is a {@link DeviceFailure}.
 */
public final class Gpu implements AutoCloseable {

    private final CudaStream stream;
    private final List<CudaStream> more = new ArrayList<>();
    private final CUmodule module = new CUmodule();
    private final List<CUdeviceptr> memory = new ArrayList<>();
    private final List<Pointer> hostMemory = new ArrayList<>();

    private Gpu(CudaStream stream) {
        this.stream = stream;
    }

    /** An array of floats on a device. It belongs to a {@link Gpu}, which frees it. */
    public static final class Floats {

        private final CUdeviceptr address;
        private final int length;

        private Floats(CUdeviceptr address, int length) {
            this.address = address;
            this.length = length;
        }

        /**
         * The size.
         *
         * @return number of floats, 1 or more
         */
        public int length() {
            return length;
        }

        /**
         * The size in bytes.
         *
         * @return 4 or more
         */
        public long bytes() {
            return (long) length * Float.BYTES;
        }

        CUdeviceptr address() {
            return address;
        }

        /** Checks that a kernel that works on so many values stays within the array. */
        Floats requireLength(long atLeast) {
            if (length < atLeast) {
                throw new IllegalArgumentException("an array of " + length + " floats is too short for " + atLeast);
            }
            return this;
        }
    }

    /**
     * Memory of the host that a device copies to on its own.
     *
     * @param pointer for the driver
     * @param bytes for Java; to be read when the stream has come to its end
     */
    public record HostMemory(Pointer pointer, ByteBuffer bytes) {}

    /**
     * Throws unless a call of the driver succeeded.
     *
     * @param call its name
     * @param code what it returned
     * @throws DeviceFailure when that is no success
     */
    public static void require(String call, int code) {
        if (code != CUresult.CUDA_SUCCESS) {
            throw new DeviceFailure(call + " answers " + CUresult.stringFor(code) + " (" + code + ")");
        }
    }

    /**
     * Why there is no such device.
     *
     * @param ordinal its number
     * @return empty where there is one
     */
    public static Optional<String> missing(int ordinal) {
        CudaSupport support = CudaSupport.probe();
        if (support.isAvailable() && ordinal >= support.deviceNames().size()) {
            return Optional.of("there is no CUDA device " + ordinal + "; " + support);
        }
        return support.isAvailable() ? Optional.empty() : Optional.of(support.toString());
    }

    /**
     * Opens a device. Compiles the kernels for it, which may take a second.
     *
     * @param ordinal its number
     * @return the device, with a stream of its own
     * @throws DeviceFailure where there is no such device, or it refuses
     */
    public static Gpu open(int ordinal) {
        missing(ordinal).ifPresent(reason -> {
            throw new DeviceFailure(reason);
        });
        Gpu gpu = new Gpu(openStream(ordinal, "decode"));
        try {
            gpu.load();
        } catch (DeviceFailure refused) {
            gpu.close();
            throw refused;
        }
        return gpu;
    }

    private static CudaStream openStream(int ordinal, String name) {
        CudaStream stream = CudaStream.onDevice(ordinal).name(name).open();
        if (!stream.isUsable()) {
            String reason = stream.failure().orElse("it does not say why");
            stream.close();
            throw new DeviceFailure("no stream on CUDA device " + ordinal + ": " + reason);
        }
        return stream;
    }

    /**
     * Opens one more stream of the device, in the same context.
     *
     * @param name what it is called in results
     * @return closed with this
     * @throws DeviceFailure when the device refuses
     */
    public CudaStream openStream(String name) {
        CudaStream opened = openStream(stream.deviceIndex(), name);
        more.add(opened);
        return opened;
    }

    /**
     * Runs something on a thread that has no context, with the device's context current.
     *
     * @param body what to run
     * @throws DeviceFailure when the device refuses
     */
    public void onThisThread(Runnable body) {
        require("cuCtxPushCurrent", JCudaDriver.cuCtxPushCurrent(stream.context()));
        try {
            body.run();
        } finally {
            JCudaDriver.cuCtxPopCurrent(new CUcontext());
        }
    }

    private void load() {
        require("cuCtxPushCurrent", JCudaDriver.cuCtxPushCurrent(stream.context()));
        byte[] text = (Kernels.text() + '\0').getBytes(StandardCharsets.US_ASCII);
        require("cuModuleLoadData", JCudaDriver.cuModuleLoadData(module, text));
    }

    /**
     * The stream that everything is enqueued in.
     *
     * @return open until this is closed
     */
    public CudaStream stream() {
        return stream;
    }

    /**
     * The driver's name of that stream.
     *
     * @return the handle
     */
    public CUstream handle() {
        return stream.stream();
    }

    CUfunction function(String kernel) {
        CUfunction function = new CUfunction();
        require("cuModuleGetFunction for " + kernel, tryFunction(function, kernel));
        return function;
    }

    /**
     * Looks for a kernel.
     *
     * @param function receives it
     * @param kernel its name
     * @return the driver's code
     */
    public int tryFunction(CUfunction function, String kernel) {
        return JCudaDriver.cuModuleGetFunction(function, module, kernel);
    }

    /**
     * Makes an array.
     *
     * @param length how many floats, 1 to {@link Integer#MAX_VALUE}
     * @return the array, of undefined values
     * @throws DeviceFailure when there is no room for it
     */
    public Floats allocate(long length) {
        if (length > Integer.MAX_VALUE) {
            throw new DeviceFailure("an array of " + length + " floats is too large");
        }
        long bytes = length * Float.BYTES;
        CUdeviceptr address = new CUdeviceptr();
        require("cuMemAlloc of " + bytes + " bytes", JCudaDriver.cuMemAlloc(address, bytes));
        memory.add(address);
        return new Floats(address, (int) length);
    }

    /**
     * Makes an array with values. Waits until it has them.
     *
     * @param values the values, at least one
     * @return the array
     * @throws DeviceFailure when there is no room for it
     */
    public Floats upload(float[] values) {
        Floats array = allocate(values.length);
        require("cuMemcpyHtoD", JCudaDriver.cuMemcpyHtoD(array.address(), Pointer.to(values), array.bytes()));
        return array;
    }

    /**
     * Takes memory of the host.
     *
     * @param bytes how many, 1 or more
     * @return the memory, freed with this
     * @throws DeviceFailure when there is none
     */
    public HostMemory allocateHost(long bytes) {
        Pointer pointer = new Pointer();
        require("cuMemAllocHost of " + bytes + " bytes", JCudaDriver.cuMemAllocHost(pointer, bytes));
        hostMemory.add(pointer);
        return new HostMemory(pointer, pointer.getByteBuffer(0, bytes).order(ByteOrder.nativeOrder()));
    }

    /**
     * Enqueues a copy to the host.
     *
     * @param from the array
     * @param to memory of its size
     */
    public void copyToHost(Floats from, HostMemory to) {
        require(
                "cuMemcpyDtoHAsync",
                JCudaDriver.cuMemcpyDtoHAsync(to.pointer(), from.address(), from.bytes(), handle()));
    }

    /**
     * Waits until everything that was enqueued is done.
     *
     * @throws DeviceFailure when that failed
     */
    public void synchronize() {
        require("cuStreamSynchronize", JCudaDriver.cuStreamSynchronize(handle()));
    }

    /**
     * The free memory of the device.
     *
     * @return bytes; empty where the driver does not report it
     */
    public OptionalLong freeBytes() {
        long[] free = new long[1];
        boolean reported = JCudaDriver.cuMemGetInfo(free, new long[1]) == CUresult.CUDA_SUCCESS;
        return reported ? OptionalLong.of(free[0]) : OptionalLong.empty();
    }

    /** Gives everything back. What the driver refuses now has no consequence. */
    @Override
    public void close() {
        memory.forEach(JCudaDriver::cuMemFree);
        memory.clear();
        hostMemory.forEach(JCudaDriver::cuMemFreeHost);
        hostMemory.clear();
        JCudaDriver.cuModuleUnload(module);
        CUcontext current = new CUcontext();
        JCudaDriver.cuCtxGetCurrent(current);
        if (current.equals(stream.context())) {
            JCudaDriver.cuCtxPopCurrent(current);
        }
        more.forEach(CudaStream::close);
        stream.close();
    }
}
