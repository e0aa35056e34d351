package org.brickprofiler.device.cuda;

import java.util.HashMap;
import java.util.Map;
import java.util.function.IntSupplier;
import jcuda.CudaException;
import jcuda.NativePointerObject;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUevent;
import jcuda.driver.CUfunction;
import jcuda.driver.CUgraph;
import jcuda.driver.CUmodule;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.CUuuid;
import jcuda.driver.JCudaDriver;
import jcuda.runtime.cudaStream_t;
import org.jspecify.annotations.Nullable;

/**
 * The driver through JCuda. JCuda returns a code, or throws if the application has set it to; this setting of the whole
 * process is not changed here.
 *
 * <p>Handles are JCuda's own objects, extended, so that passing one costs no indirection. Contexts of the application
 * are the exception, because JCuda cannot copy them. Any thread.
 */
final class JCudaCalls implements CudaCalls {

    private final ThreadLocal<Answer> answers = Answer.ofThreads(this);

    // ---- handles ----

    private static final class Context extends CUcontext implements CudaHandle {
        @Override
        public long address() {
            return getNativePointer();
        }
    }

    /**
     * A context whose object the application holds. It is of JCuda's own class, because such objects never equal one of
     * a subclass.
     */
    private static final class SharedContext implements CudaHandle {
        private final CUcontext object;

        /** Cached, because reading it allocates an object; 0 until the driver has written the context. */
        private long address;

        SharedContext(CUcontext object) {
            this.object = object;
            this.address = addressOf(object);
        }

        @Override
        public long address() {
            if (address == 0) {
                address = addressOf(object);
            }
            return address;
        }
    }

    private static final class Device extends CUdevice implements CudaHandle {
        @Override
        public long address() {
            return getNativePointer();
        }
    }

    private static final class Stream extends CUstream implements CudaHandle {
        Stream() {}

        Stream(CUstream copied) {
            super(new cudaStream_t(copied));
        }

        @Override
        public long address() {
            return getNativePointer();
        }
    }

    private static final class Event extends CUevent implements CudaHandle {
        @Override
        public long address() {
            return getNativePointer();
        }
    }

    private static final class Graph extends CUgraph implements CudaHandle {
        @Override
        public long address() {
            return getNativePointer();
        }
    }

    private static final class Module extends CUmodule implements CudaHandle {
        @Override
        public long address() {
            return getNativePointer();
        }
    }

    private static final class Function extends CUfunction implements CudaHandle {
        @Override
        public long address() {
            return getNativePointer();
        }
    }

    /** Reads the number in a handle of JCuda, which only subclasses can read. */
    private static final class Address extends NativePointerObject {
        Address(NativePointerObject handle) {
            super(handle);
        }

        long value() {
            return getNativePointer();
        }
    }

    // One method for each exact type: with a supertype, verifying the callers would load JCuda's classes.

    /** Returns the driver's number of a stream. */
    static long addressOf(CUstream stream) {
        return new Address(stream).value();
    }

    private static long addressOf(CUcontext context) {
        return new Address(context).value();
    }

    /**
     * Returns the handle of a context of the application.
     *
     * @param calls the binding that will use the handle
     */
    static CudaHandle handleOf(CudaCalls calls, CUcontext context) {
        return calls instanceof JCudaCalls ? new SharedContext(context) : JnaCalls.contextOf(addressOf(context));
    }

    /** Returns the handle of a stream of the application. */
    static CudaHandle handleOf(CudaCalls calls, CUstream stream) {
        return calls instanceof JCudaCalls ? new Stream(stream) : JnaCalls.streamOf(addressOf(stream));
    }

    /** Returns JCuda's object of a context of this binding. */
    static CUcontext objectOf(CudaHandle context) {
        return context instanceof SharedContext shared ? shared.object : (Context) context;
    }

    /** Returns a new object of JCuda's own class for a stream of this binding, to pass to the application. */
    static CUstream copyOf(CudaHandle stream) {
        return new CUstream(new cudaStream_t((Stream) stream));
    }

    @Override
    public ThreadLocal<Answer> answers() {
        return answers;
    }

    @Override
    public CudaHandle newDevice() {
        return new Device();
    }

    @Override
    public CudaHandle newContext() {
        return new Context();
    }

    @Override
    public CudaHandle newSharedContext() {
        return new SharedContext(new CUcontext());
    }

    @Override
    public CudaHandle newStream() {
        return new Stream();
    }

    @Override
    public CudaHandle newEvent() {
        return new Event();
    }

    @Override
    public CudaHandle newGraph() {
        return new Graph();
    }

    @Override
    public CudaHandle newModule() {
        return new Module();
    }

    @Override
    public CudaHandle newFunction() {
        return new Function();
    }

    // ---- results ----

    /**
     * Makes a call that is not made while bricks are timed. The other calls are written out, because a lambda may be
     * allocated.
     */
    private static int code(IntSupplier call) {
        try {
            return call.getAsInt();
        } catch (CudaException e) {
            return codeOf(e.getMessage());
        }
    }

    /**
     * Returns the code of a JCuda exception, whose message is the code's name; for any other message,
     * {@code CUDA_ERROR_UNKNOWN}.
     */
    static int codeOf(@Nullable String name) {
        Integer code = name == null ? null : Names.CODES.get(name);
        return code == null ? CUresult.CUDA_ERROR_UNKNOWN : code;
    }

    private static final class Names {
        private static final int CODES_END = 1_000;
        static final Map<String, Integer> CODES = codes();

        private static Map<String, Integer> codes() {
            Map<String, Integer> codes = new HashMap<>();
            for (int code = 1; code < CODES_END; code++) {
                codes.put(CUresult.stringFor(code), code);
            }
            return Map.copyOf(codes);
        }
    }

    // ---- the driver ----

    @Override
    public int driverGetVersion(int[] version) {
        return code(() -> JCudaDriver.cuDriverGetVersion(version));
    }

    @Override
    public int init() {
        return code(() -> JCudaDriver.cuInit(0));
    }

    @Override
    public int deviceGetCount(int[] count) {
        return code(() -> JCudaDriver.cuDeviceGetCount(count));
    }

    @Override
    public int deviceGet(CudaHandle device, int ordinal) {
        return code(() -> JCudaDriver.cuDeviceGet((Device) device, ordinal));
    }

    @Override
    public int deviceGetName(byte[] name, CudaHandle device) {
        return code(() -> JCudaDriver.cuDeviceGetName(name, name.length, (Device) device));
    }

    @Override
    public int deviceGetUuid(byte[] uuid, CudaHandle device) {
        CUuuid result = new CUuuid();
        int code = code(() -> JCudaDriver.cuDeviceGetUuid(result, (Device) device));
        System.arraycopy(result.bytes, 0, uuid, 0, UUID_BYTES);
        return code;
    }

    @Override
    public int deviceGetPciBusId(String[] address, int length, CudaHandle device) {
        return code(() -> JCudaDriver.cuDeviceGetPCIBusId(address, length, (Device) device));
    }

    @Override
    public int primaryCtxRetain(CudaHandle context, CudaHandle device) {
        return code(() -> JCudaDriver.cuDevicePrimaryCtxRetain(objectOf(context), (Device) device));
    }

    @Override
    public int primaryCtxRelease(CudaHandle device) {
        return code(() -> JCudaDriver.cuDevicePrimaryCtxRelease((Device) device));
    }

    @Override
    public int ctxPushCurrent(CudaHandle context) {
        try {
            return JCudaDriver.cuCtxPushCurrent(objectOf(context));
        } catch (CudaException e) {
            return codeOf(e.getMessage());
        }
    }

    @Override
    public int ctxPopCurrent(CudaHandle popped) {
        try {
            return JCudaDriver.cuCtxPopCurrent(objectOf(popped));
        } catch (CudaException e) {
            return codeOf(e.getMessage());
        }
    }

    @Override
    public int ctxGetCurrent(CudaHandle current) {
        try {
            return JCudaDriver.cuCtxGetCurrent(objectOf(current));
        } catch (CudaException e) {
            return codeOf(e.getMessage());
        }
    }

    @Override
    public int ctxGetDevice(CudaHandle device) {
        return code(() -> JCudaDriver.cuCtxGetDevice((Device) device));
    }

    @Override
    public int streamCreate(CudaHandle stream, int flags) {
        return code(() -> JCudaDriver.cuStreamCreate((Stream) stream, flags));
    }

    @Override
    public int streamDestroy(CudaHandle stream) {
        return code(() -> JCudaDriver.cuStreamDestroy((Stream) stream));
    }

    @Override
    public int streamIsCapturing(CudaHandle stream, int[] status) {
        try {
            return JCudaDriver.cuStreamIsCapturing((Stream) stream, status);
        } catch (CudaException e) {
            return codeOf(e.getMessage());
        }
    }

    @Override
    public int streamBeginCapture(CudaHandle stream, int mode) {
        return code(() -> JCudaDriver.cuStreamBeginCapture((Stream) stream, mode));
    }

    @Override
    public int streamEndCapture(CudaHandle stream, CudaHandle graph) {
        return code(() -> JCudaDriver.cuStreamEndCapture((Stream) stream, (Graph) graph));
    }

    @Override
    public int graphDestroy(CudaHandle graph) {
        return code(() -> JCudaDriver.cuGraphDestroy((Graph) graph));
    }

    @Override
    public int exchangeCaptureMode(int[] mode) {
        try {
            return JCudaDriver.cuThreadExchangeStreamCaptureMode(mode);
        } catch (CudaException e) {
            return codeOf(e.getMessage());
        }
    }

    @Override
    public int eventCreate(CudaHandle event, int flags) {
        return code(() -> JCudaDriver.cuEventCreate((Event) event, flags));
    }

    @Override
    public int eventRecord(CudaHandle event, CudaHandle stream) {
        try {
            return JCudaDriver.cuEventRecord((Event) event, (Stream) stream);
        } catch (CudaException e) {
            return codeOf(e.getMessage());
        }
    }

    @Override
    public int eventRecordWithFlags(CudaHandle event, CudaHandle stream, int flags) {
        try {
            return JCudaDriver.cuEventRecordWithFlags((Event) event, (Stream) stream, flags);
        } catch (CudaException e) {
            return codeOf(e.getMessage());
        }
    }

    @Override
    public int eventQuery(CudaHandle event) {
        try {
            return JCudaDriver.cuEventQuery((Event) event);
        } catch (CudaException e) {
            return codeOf(e.getMessage());
        }
    }

    @Override
    public int eventSynchronize(CudaHandle event) {
        try {
            return JCudaDriver.cuEventSynchronize((Event) event);
        } catch (CudaException e) {
            return codeOf(e.getMessage());
        }
    }

    @Override
    public int eventElapsedTime(float[] ms, CudaHandle from, CudaHandle to) {
        try {
            return JCudaDriver.cuEventElapsedTime(ms, (Event) from, (Event) to);
        } catch (CudaException e) {
            return codeOf(e.getMessage());
        }
    }

    @Override
    public int eventDestroy(CudaHandle event) {
        return code(() -> JCudaDriver.cuEventDestroy((Event) event));
    }

    @Override
    public int moduleLoadData(CudaHandle module, byte[] ptx) {
        return code(() -> JCudaDriver.cuModuleLoadData((Module) module, ptx));
    }

    @Override
    public int moduleUnload(CudaHandle module) {
        return code(() -> JCudaDriver.cuModuleUnload((Module) module));
    }

    @Override
    public int moduleGetFunction(CudaHandle function, CudaHandle module, String name) {
        return code(() -> JCudaDriver.cuModuleGetFunction((Function) function, (Module) module, name));
    }

    @Override
    public int launchKernel(CudaHandle function, CudaHandle stream, long parameter) {
        Pointer parameters = Pointer.to(Pointer.to(new long[] {parameter}));
        return code(() -> JCudaDriver.cuLaunchKernel(
                (Function) function, 1, 1, 1, 1, 1, 1, 0, (Stream) stream, parameters, null));
    }
}
