package org.brickprofiler.demo;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.IntSupplier;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.demo.DevicePass.Work;
import org.brickprofiler.device.cuda.CudaStream;
import org.brickprofiler.device.cuda.CudaSupport;

/**
 * A CUDA device with a stream, the kernels of the demonstration and memory, as an engine uses them. Its context is
 * current on the thread that opens it until that thread closes it, and no other thread may use it, but for
 * {@link #onThisThread}. A refused call of the driver throws a {@link DeviceFailure}.
 */
public final class Gpu implements ComputeDevice {

    private static final int BLOCK = 256;
    private static final int WARP = 32;

    /** The rows of a block: a warp adds up a row. */
    private static final int WARPS = BLOCK / WARP;

    /** Values of a column are far apart in memory: more warps hide more of the memory latency. */
    private static final int COLUMN_BLOCK = 512;

    private final CudaStream stream;
    private final List<CudaStream> more = new ArrayList<>();
    private final CUmodule module = new CUmodule();
    private final List<CUdeviceptr> memory = new ArrayList<>();
    private final List<Pointer> hostMemory = new ArrayList<>();
    private final Map<String, CUfunction> functions = new HashMap<>();

    private Gpu(CudaStream stream) {
        this.stream = stream;
    }

    private static final class Array extends Floats {

        private final CUdeviceptr address;

        Array(CUdeviceptr address, int length) {
            super(length);
            this.address = address;
        }
    }

    /**
     * Throws unless a call of the driver succeeded.
     *
     * @param call its name
     * @param code its return value
     * @throws DeviceFailure when that is an error
     */
    public static void require(String call, int code) {
        if (code != CUresult.CUDA_SUCCESS) {
            throw new DeviceFailure(call + " answers " + CUresult.stringFor(code) + " (" + code + ")");
        }
    }

    /**
     * Returns why a device is missing.
     *
     * @param ordinal its number
     * @return the reason; empty if the device exists
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
     * @throws DeviceFailure if there is no such device, or it refuses
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
        try {
            stream.stream();
        } catch (IllegalStateException noObject) {
            stream.close();
            throw new DeviceFailure("the demonstration computes through JCuda, and the driver is bound otherwise: "
                    + CudaSupport.probe());
        }
        return stream;
    }

    /**
     * Opens one more stream of the device, in the same context.
     *
     * @param name its name in results
     * @return closed with this device
     * @throws DeviceFailure when the device refuses
     */
    public CudaStream openStream(String name) {
        CudaStream opened = openStream(stream.deviceIndex(), name);
        more.add(opened);
        return opened;
    }

    /**
     * Runs an action on a thread without a context, with the device's context current.
     *
     * @param body the action
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

    /** Returns the text of the module. */
    static String kernelText() {
        try (InputStream ptx = Objects.requireNonNull(Gpu.class.getResourceAsStream("kernels.ptx"))) {
            return new String(ptx.readAllBytes(), StandardCharsets.US_ASCII);
        } catch (IOException e) {
            throw new UncheckedIOException("the kernels cannot be read", e);
        }
    }

    private void load() {
        require("cuCtxPushCurrent", JCudaDriver.cuCtxPushCurrent(stream.context()));
        byte[] text = (kernelText() + '\0').getBytes(StandardCharsets.US_ASCII);
        require("cuModuleLoadData", JCudaDriver.cuModuleLoadData(module, text));
    }

    @Override
    public CudaStream stream() {
        return stream;
    }

    /**
     * Returns the driver's handle of the stream.
     *
     * @return the handle
     */
    public CUstream handle() {
        return stream.stream();
    }

    CUfunction function(String kernel) {
        return functions.computeIfAbsent(kernel, name -> {
            CUfunction function = new CUfunction();
            require("cuModuleGetFunction for " + name, tryFunction(function, name));
            return function;
        });
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

    @Override
    public Floats allocate(long length) {
        int floats = Floats.checkLength(length);
        long bytes = length * Float.BYTES;
        CUdeviceptr address = new CUdeviceptr();
        require("cuMemAlloc of " + bytes + " bytes", JCudaDriver.cuMemAlloc(address, bytes));
        memory.add(address);
        return new Array(address, floats);
    }

    @Override
    public Floats upload(float[] values) {
        Floats array = allocate(values.length);
        require("cuMemcpyHtoD", JCudaDriver.cuMemcpyHtoD(address(array), Pointer.to(values), array.bytes()));
        return array;
    }

    @Override
    public ByteBuffer allocateHost(long bytes) {
        Pointer pointer = new Pointer();
        require("cuMemAllocHost of " + bytes + " bytes", JCudaDriver.cuMemAllocHost(pointer, bytes));
        hostMemory.add(pointer);
        return pointer.getByteBuffer(0, bytes).order(ByteOrder.nativeOrder());
    }

    @Override
    public void copyToHost(Floats from, ByteBuffer to) {
        require(
                "cuMemcpyDtoHAsync",
                JCudaDriver.cuMemcpyDtoHAsync(Pointer.to(to), address(from), from.bytes(), handle()));
    }

    @Override
    public Work prepare(Launch launch) {
        IntSupplier width = launch.width();
        return switch (launch.share()) {
            case VALUE -> prepare(launch, () -> divideUp(width.getAsInt(), BLOCK), BLOCK);
            case ROW -> prepare(launch, () -> divideUp(width.getAsInt(), WARPS), BLOCK);
            case COLUMN -> prepare(launch, () -> divideUp(width.getAsInt(), WARP), COLUMN_BLOCK);
            case GROUP -> prepare(launch, width, BLOCK);
        };
    }

    private Work prepare(Launch launch, IntSupplier blocks, int threads) {
        CUfunction function = function(launch.kernel());
        Pointer arguments =
                Pointer.to(launch.arguments().stream().map(Gpu::argument).toArray(Pointer[]::new));
        CUstream queue = handle();
        int height = launch.height();
        return () -> require(
                "cuLaunchKernel",
                JCudaDriver.cuLaunchKernel(
                        function, blocks.getAsInt(), height, 1, threads, 1, 1, 0, queue, arguments, null));
    }

    static Pointer argument(Argument argument) {
        return argument instanceof HostNumber cell ? Pointer.to(cell.bytes()) : Pointer.to(address((Floats) argument));
    }

    private static CUdeviceptr address(Floats array) {
        return ((Array) array).address;
    }

    private static int divideUp(int value, int by) {
        return (value + by - 1) / by;
    }

    @Override
    public void synchronize() {
        require("cuStreamSynchronize", JCudaDriver.cuStreamSynchronize(handle()));
    }

    /**
     * Returns the free memory of the device.
     *
     * @return bytes; empty if the driver does not report it
     */
    public OptionalLong freeBytes() {
        long[] free = new long[1];
        boolean reported = JCudaDriver.cuMemGetInfo(free, new long[1]) == CUresult.CUDA_SUCCESS;
        return reported ? OptionalLong.of(free[0]) : OptionalLong.empty();
    }

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
