package org.brickprofiler.device.cuda;

/**
 * The functions of the driver that are called here, through one binding. Each returns the driver's code, 0 for success,
 * and never throws because of the driver. Handles are those that the same binding made; results go into arrays of one
 * element.
 *
 * <p>No function may be called before {@link CudaSupport} has found a driver: a missing symbol may end the process. Any
 * thread. Functions that are called while bricks are timed allocate nothing; the others may.
 *
 * <p>To add a function: a constant in {@link DriverCall}, a method here, and its two implementations.
 */
interface CudaCalls {

    // Streams that the driver knows without creating them, and constants of its header.
    long STREAM_LEGACY = 1;
    long STREAM_PER_THREAD = 2;
    int UUID_BYTES = 16;

    /** Receives the results of one thread's calls through one binding. */
    final class Answer {
        final float[] ms = new float[1];
        final int[] captureStatus = new int[1];
        final int[] captureMode = new int[1];

        /** The context that was current on the thread. */
        final CudaHandle popped;

        /** The driver's result of the last attempt to make the context current. */
        int pushCode;

        /** Whether the driver refused the last query until the context was made current. */
        boolean wasElsewhere;

        /** The call that was made last. */
        DriverCall call = DriverCall.EVENT_QUERY;

        private Answer(CudaHandle popped) {
            this.popped = popped;
        }

        static ThreadLocal<Answer> ofThreads(CudaCalls calls) {
            return ThreadLocal.withInitial(() -> new Answer(calls.newContext()));
        }

        int of(DriverCall made, int code) {
            call = made;
            return code;
        }
    }

    /** Returns the results of each thread. */
    ThreadLocal<Answer> answers();

    CudaHandle newDevice();

    CudaHandle newContext();

    /** Returns a handle for a context that is passed to the application; the driver writes the handle once. */
    default CudaHandle newSharedContext() {
        return newContext();
    }

    CudaHandle newStream();

    CudaHandle newEvent();

    CudaHandle newGraph();

    CudaHandle newModule();

    CudaHandle newFunction();

    int driverGetVersion(int[] version);

    int init();

    int deviceGetCount(int[] count);

    int deviceGet(CudaHandle device, int ordinal);

    /** Writes the name, in UTF-8 and with a zero behind it. */
    int deviceGetName(byte[] name, CudaHandle device);

    /** Writes the UUID into {@value #UUID_BYTES} bytes. */
    int deviceGetUuid(byte[] uuid, CudaHandle device);

    /** Writes the address, of {@code length - 1} characters at most, into the only element of the array. */
    int deviceGetPciBusId(String[] address, int length, CudaHandle device);

    int primaryCtxRetain(CudaHandle context, CudaHandle device);

    int primaryCtxRelease(CudaHandle device);

    int ctxPushCurrent(CudaHandle context);

    int ctxPopCurrent(CudaHandle popped);

    int ctxGetCurrent(CudaHandle current);

    int ctxGetDevice(CudaHandle device);

    int streamCreate(CudaHandle stream, int flags);

    int streamDestroy(CudaHandle stream);

    int streamIsCapturing(CudaHandle stream, int[] status);

    int streamBeginCapture(CudaHandle stream, int mode);

    int streamEndCapture(CudaHandle stream, CudaHandle graph);

    int graphDestroy(CudaHandle graph);

    /** Exchanges the thread's mode of captures for the one in the array. */
    int exchangeCaptureMode(int[] mode);

    int eventCreate(CudaHandle event, int flags);

    int eventRecord(CudaHandle event, CudaHandle stream);

    /**
     * Records an event with flags of {@link jcuda.driver.CUevent_record_flags}. Call it only if
     * {@link CudaSupport#recordsInGraphs} returns true.
     */
    int eventRecordWithFlags(CudaHandle event, CudaHandle stream, int flags);

    int eventQuery(CudaHandle event);

    int eventSynchronize(CudaHandle event);

    int eventElapsedTime(float[] ms, CudaHandle from, CudaHandle to);

    int eventDestroy(CudaHandle event);

    /** Loads PTX that ends with a zero. */
    int moduleLoadData(CudaHandle module, byte[] ptx);

    int moduleUnload(CudaHandle module);

    int moduleGetFunction(CudaHandle function, CudaHandle module, String name);

    /** Launches one thread of a kernel that has one parameter, of 64 bits. */
    int launchKernel(CudaHandle function, CudaHandle stream, long parameter);
}
