package org.brickprofiler.device.cuda;

import static java.nio.charset.StandardCharsets.US_ASCII;

import com.sun.jna.FunctionMapper;
import com.sun.jna.Library;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Platform;
import com.sun.jna.Pointer;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The driver through JNA's direct mapping, for processors and systems that JCuda has no native library for. Handles are
 * addresses. Any thread.
 */
final class JnaCalls implements CudaCalls {

    private static @Nullable JnaCalls bound;

    private final ThreadLocal<Answer> answers = Answer.ofThreads(this);

    private JnaCalls() {}

    /**
     * Loads the driver's library, from where the system looks for it.
     *
     * @throws UnsatisfiedLinkError if it cannot be loaded; the message is one line
     */
    static void loadLibrary() {
        try {
            library();
        } catch (UnsatisfiedLinkError e) {
            // The message is a headline, and a line for each place that was searched.
            List<String> lines = String.valueOf(e.getMessage()).lines().toList();
            throw new UnsatisfiedLinkError(lines.get(Math.min(1, lines.size() - 1)));
        }
    }

    private static NativeLibrary library() {
        FunctionMapper symbols = (library, method) -> DriverCall.symbolOf(method.getName());
        return NativeLibrary.getInstance(
                Platform.isWindows() ? "nvcuda" : "libcuda.so.1", Map.of(Library.OPTION_FUNCTION_MAPPER, symbols));
    }

    /**
     * Binds all functions of the library, once in a process.
     *
     * @throws UnsatisfiedLinkError if the library lacks one
     */
    static synchronized CudaCalls bind() {
        JnaCalls calls = bound;
        if (calls == null) {
            Native.register(JnaCalls.class, library());
            calls = new JnaCalls();
            bound = calls;
        }
        return calls;
    }

    // ---- handles ----

    /** An address, or the number of a device. */
    private static final class Handle implements CudaHandle {
        private long address;

        Handle(long address) {
            this.address = address;
        }

        @Override
        public long address() {
            return address;
        }
    }

    /**
     * A context, in an array that the driver writes: threads query their context while bricks are timed, and must not
     * allocate.
     */
    private static final class Context implements CudaHandle {
        private final long[] address;

        Context(long address) {
            this.address = new long[] {address};
        }

        @Override
        public long address() {
            return address[0];
        }
    }

    /** Returns the handle of a context of the application. */
    static CudaHandle contextOf(long address) {
        return new Context(address);
    }

    /** Returns the handle of a stream of the application; 0 for the default stream. */
    static CudaHandle streamOf(long address) {
        return new Handle(address);
    }

    private static long address(CudaHandle handle) {
        return ((Handle) handle).address;
    }

    private static long[] context(CudaHandle handle) {
        return ((Context) handle).address;
    }

    private static int device(CudaHandle handle) {
        return (int) address(handle);
    }

    /** Makes a call that writes a new handle. */
    private static int create(CudaHandle handle, ToIntFunction<long[]> call) {
        long[] created = {0};
        int code = call.applyAsInt(created);
        ((Handle) handle).address = created[0];
        return code;
    }

    /** Makes a call that writes a device. */
    private static int findDevice(CudaHandle handle, ToIntFunction<int[]> call) {
        int[] found = {0};
        int code = call.applyAsInt(found);
        ((Handle) handle).address = found[0];
        return code;
    }

    @Override
    public ThreadLocal<Answer> answers() {
        return answers;
    }

    @Override
    public CudaHandle newDevice() {
        return new Handle(0);
    }

    @Override
    public CudaHandle newContext() {
        return new Context(0);
    }

    @Override
    public CudaHandle newStream() {
        return new Handle(0);
    }

    @Override
    public CudaHandle newEvent() {
        return new Handle(0);
    }

    @Override
    public CudaHandle newGraph() {
        return new Handle(0);
    }

    @Override
    public CudaHandle newModule() {
        return new Handle(0);
    }

    @Override
    public CudaHandle newFunction() {
        return new Handle(0);
    }

    // ---- the driver ----

    @Override
    public int driverGetVersion(int[] version) {
        return cuDriverGetVersion(version);
    }

    @Override
    public int init() {
        return cuInit(0);
    }

    @Override
    public int deviceGetCount(int[] count) {
        return cuDeviceGetCount(count);
    }

    @Override
    public int deviceGet(CudaHandle device, int ordinal) {
        return findDevice(device, found -> cuDeviceGet(found, ordinal));
    }

    @Override
    public int deviceGetName(byte[] name, CudaHandle device) {
        return cuDeviceGetName(name, name.length, device(device));
    }

    @Override
    public int deviceGetUuid(byte[] uuid, CudaHandle device) {
        return cuDeviceGetUuid(uuid, device(device));
    }

    @Override
    public int deviceGetPciBusId(String[] address, int length, CudaHandle device) {
        byte[] characters = new byte[length];
        int code = cuDeviceGetPCIBusId(characters, length, device(device));
        address[0] = new String(characters, US_ASCII).replace("\0", "");
        return code;
    }

    @Override
    public int primaryCtxRetain(CudaHandle context, CudaHandle device) {
        return cuDevicePrimaryCtxRetain(context(context), device(device));
    }

    @Override
    public int primaryCtxRelease(CudaHandle device) {
        return cuDevicePrimaryCtxRelease(device(device));
    }

    @Override
    public int ctxPushCurrent(CudaHandle context) {
        return cuCtxPushCurrent(context(context)[0]);
    }

    @Override
    public int ctxPopCurrent(CudaHandle popped) {
        return cuCtxPopCurrent(context(popped));
    }

    @Override
    public int ctxGetCurrent(CudaHandle current) {
        return cuCtxGetCurrent(context(current));
    }

    @Override
    public int ctxGetDevice(CudaHandle device) {
        return findDevice(device, found -> cuCtxGetDevice(found));
    }

    @Override
    public int streamCreate(CudaHandle stream, int flags) {
        return create(stream, created -> cuStreamCreate(created, flags));
    }

    @Override
    public int streamDestroy(CudaHandle stream) {
        return cuStreamDestroy(address(stream));
    }

    @Override
    public int streamIsCapturing(CudaHandle stream, int[] status) {
        return cuStreamIsCapturing(address(stream), status);
    }

    @Override
    public int streamBeginCapture(CudaHandle stream, int mode) {
        return cuStreamBeginCapture(address(stream), mode);
    }

    @Override
    public int streamEndCapture(CudaHandle stream, CudaHandle graph) {
        return create(graph, created -> cuStreamEndCapture(address(stream), created));
    }

    @Override
    public int graphDestroy(CudaHandle graph) {
        return cuGraphDestroy(address(graph));
    }

    @Override
    public int exchangeCaptureMode(int[] mode) {
        return cuThreadExchangeStreamCaptureMode(mode);
    }

    @Override
    public int eventCreate(CudaHandle event, int flags) {
        return create(event, created -> cuEventCreate(created, flags));
    }

    @Override
    public int eventRecord(CudaHandle event, CudaHandle stream) {
        return cuEventRecord(address(event), address(stream));
    }

    @Override
    public int eventRecordWithFlags(CudaHandle event, CudaHandle stream, int flags) {
        return InGraphs.cuEventRecordWithFlags(address(event), address(stream), flags);
    }

    @Override
    public int eventQuery(CudaHandle event) {
        return cuEventQuery(address(event));
    }

    @Override
    public int eventSynchronize(CudaHandle event) {
        return cuEventSynchronize(address(event));
    }

    @Override
    public int eventElapsedTime(float[] ms, CudaHandle from, CudaHandle to) {
        return cuEventElapsedTime(ms, address(from), address(to));
    }

    @Override
    public int eventDestroy(CudaHandle event) {
        return cuEventDestroy(address(event));
    }

    @Override
    public int moduleLoadData(CudaHandle module, byte[] ptx) {
        return create(module, created -> cuModuleLoadData(created, ptx));
    }

    @Override
    public int moduleUnload(CudaHandle module) {
        return cuModuleUnload(address(module));
    }

    @Override
    public int moduleGetFunction(CudaHandle function, CudaHandle module, String name) {
        return create(function, found -> cuModuleGetFunction(found, address(module), (name + "\0").getBytes(US_ASCII)));
    }

    @Override
    public int launchKernel(CudaHandle function, CudaHandle stream, long parameter) {
        try (Memory value = new Memory(Long.BYTES)) {
            value.setLong(0, parameter);
            long[] parameters = {Pointer.nativeValue(value)};
            return cuLaunchKernel(address(function), 1, 1, 1, 1, 1, 1, 0, address(stream), parameters, 0);
        }
    }

    // ---- its functions, by their names in its documentation ----

    private static native int cuDriverGetVersion(int[] version);

    private static native int cuInit(int flags);

    private static native int cuDeviceGetCount(int[] count);

    private static native int cuDeviceGet(int[] device, int ordinal);

    private static native int cuDeviceGetName(byte[] name, int length, int device);

    private static native int cuDeviceGetUuid(byte[] uuid, int device);

    private static native int cuDeviceGetPCIBusId(byte[] address, int length, int device);

    private static native int cuDevicePrimaryCtxRetain(long[] context, int device);

    private static native int cuDevicePrimaryCtxRelease(int device);

    private static native int cuCtxPushCurrent(long context);

    private static native int cuCtxPopCurrent(long[] popped);

    private static native int cuCtxGetCurrent(long[] current);

    private static native int cuCtxGetDevice(int[] device);

    private static native int cuStreamCreate(long[] stream, int flags);

    private static native int cuStreamDestroy(long stream);

    private static native int cuStreamIsCapturing(long stream, int[] status);

    private static native int cuStreamBeginCapture(long stream, int mode);

    private static native int cuStreamEndCapture(long stream, long[] graph);

    private static native int cuGraphDestroy(long graph);

    private static native int cuThreadExchangeStreamCaptureMode(int[] mode);

    private static native int cuEventCreate(long[] event, int flags);

    private static native int cuEventRecord(long event, long stream);

    private static native int cuEventQuery(long event);

    private static native int cuEventSynchronize(long event);

    private static native int cuEventElapsedTime(float[] ms, long from, long to);

    private static native int cuEventDestroy(long event);

    private static native int cuModuleLoadData(long[] module, byte[] image);

    private static native int cuModuleUnload(long module);

    private static native int cuModuleGetFunction(long[] function, long module, byte[] name);

    private static native int cuLaunchKernel(
            long function,
            int gridX,
            int gridY,
            int gridZ,
            int blockX,
            int blockY,
            int blockZ,
            int sharedBytes,
            long stream,
            long[] parameters,
            long extra);

    /** A function that drivers have since CUDA 11.1: bound when it is first called, and not with the others. */
    private static final class InGraphs {
        static {
            Native.register(InGraphs.class, library());
        }

        private InGraphs() {}

        static native int cuEventRecordWithFlags(long event, long stream, int flags);
    }
}
