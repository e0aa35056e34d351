package org.brickprofiler.demo.device;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
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
 * A CUDA device with a stream, the kernels of the demonstration and memory: what an engine has that wants to be profiled.
 * Its context is current on the thread that opens it until that thread closes it, and no other thread may use it, but for
 * {@link #onThisThread}. What a driver refuses is a {@link DeviceFailure}.
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

    /**
     * Opens a device. Compiles the kernels for it, which may take a second.
     *
     * @param ordinal its number
     * @return the device, with a stream of its own
     * @throws DeviceFailure where there is no such device, or it refuses
     */
    public static Gpu open(int ordinal) {
        CudaSupport support = CudaSupport.probe();
        if (!support.isAvailable()) {
            throw new DeviceFailure(support.toString());
        }
        if (ordinal >= support.deviceNames().size()) {
            throw new DeviceFailure("there is no CUDA device " + ordinal + ", but 0 to "
                    + (support.deviceNames().size() - 1) + ": " + support);
        }
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

    /** One more stream of the device, in the same context; closed with this. */
    CudaStream openStream(String name) {
        CudaStream opened = openStream(stream.deviceIndex(), name);
        more.add(opened);
        return opened;
    }

    /** Does something on a thread that has no context, which has the device's meanwhile. */
    void onThisThread(Runnable body) {
        DriverAnswer.require("cuCtxPushCurrent", JCudaDriver.cuCtxPushCurrent(stream.context()));
        try {
            body.run();
        } finally {
            JCudaDriver.cuCtxPopCurrent(new CUcontext());
        }
    }

    private void load() {
        DriverAnswer.require("cuCtxPushCurrent", JCudaDriver.cuCtxPushCurrent(stream.context()));
        byte[] text = (Kernels.text() + '\0').getBytes(StandardCharsets.US_ASCII);
        DriverAnswer.require("cuModuleLoadData", JCudaDriver.cuModuleLoadData(module, text));
    }

    /**
     * The stream that everything is enqueued in.
     *
     * @return open until this is closed
     */
    public CudaStream stream() {
        return stream;
    }

    CUstream handle() {
        return stream.stream();
    }

    CUfunction function(String kernel) {
        CUfunction function = new CUfunction();
        DriverAnswer.require("cuModuleGetFunction for " + kernel, tryFunction(function, kernel));
        return function;
    }

    /** Looks for a kernel. Returns the driver's code. */
    int tryFunction(CUfunction function, String kernel) {
        return JCudaDriver.cuModuleGetFunction(function, module, kernel);
    }

    /**
     * Makes an array.
     *
     * @param length how many floats, 1 to {@link Integer#MAX_VALUE}
     * @return the array, of undefined values
     * @throws DeviceFailure when there is no room for it
     */
    public DeviceFloats allocate(long length) {
        if (length > Integer.MAX_VALUE) {
            throw new DeviceFailure("an array of " + length + " floats is too large");
        }
        long bytes = length * Float.BYTES;
        CUdeviceptr address = new CUdeviceptr();
        DriverAnswer.require("cuMemAlloc of " + bytes + " bytes", JCudaDriver.cuMemAlloc(address, bytes));
        memory.add(address);
        return new DeviceFloats(address, (int) length);
    }

    /**
     * Makes an array with values. Waits until it has them.
     *
     * @param values the values, at least one
     * @return the array
     * @throws DeviceFailure when there is no room for it
     */
    public DeviceFloats upload(float[] values) {
        DeviceFloats array = allocate(values.length);
        DriverAnswer.require(
                "cuMemcpyHtoD", JCudaDriver.cuMemcpyHtoD(array.address(), Pointer.to(values), array.bytes()));
        return array;
    }

    /** Memory of the host that a device copies to on its own, without the thread. */
    HostMemory allocateHost(long bytes) {
        Pointer pointer = new Pointer();
        DriverAnswer.require("cuMemAllocHost of " + bytes + " bytes", JCudaDriver.cuMemAllocHost(pointer, bytes));
        hostMemory.add(pointer);
        return new HostMemory(pointer, pointer.getByteBuffer(0, bytes).order(ByteOrder.nativeOrder()));
    }

    /**
     * Memory of the host.
     *
     * @param pointer for the driver
     * @param bytes for Java; to be read when the stream has come to its end
     */
    record HostMemory(Pointer pointer, ByteBuffer bytes) {}

    /** Enqueues a copy to the host. */
    void copyToHost(DeviceFloats from, HostMemory to) {
        DriverAnswer.require(
                "cuMemcpyDtoHAsync",
                JCudaDriver.cuMemcpyDtoHAsync(to.pointer(), from.address(), from.bytes(), handle()));
    }

    /**
     * Waits until everything that was enqueued is done.
     *
     * @throws DeviceFailure when that failed
     */
    public void synchronize() {
        DriverAnswer.require("cuStreamSynchronize", JCudaDriver.cuStreamSynchronize(handle()));
    }

    /** The memory of the device that is free; empty where the driver does not tell. */
    OptionalLong freeBytes() {
        long[] free = new long[1];
        boolean told = JCudaDriver.cuMemGetInfo(free, new long[1]) == CUresult.CUDA_SUCCESS;
        return told ? OptionalLong.of(free[0]) : OptionalLong.empty();
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
