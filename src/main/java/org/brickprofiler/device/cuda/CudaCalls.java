package org.brickprofiler.device.cuda;

import java.util.function.IntSupplier;
import jcuda.CudaException;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUgraph;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.CUuuid;
import jcuda.driver.JCudaDriver;

/**
 * The driver's calls, each with a code as its result: 0 for success. JCuda returns a code, or throws where the
 * application has asked it to; that is one setting for the whole process, and not touched here.
 *
 * <p>None is to be made before {@link CudaSupport} has found a driver: a symbol that is missing ends the process. Any
 * thread; what is called while bricks are timed allocates nothing where there is no exception.
 */
final class CudaCalls {

    private CudaCalls() {}

    /** A call that is not made while bricks are timed: those are written out, since a lambda may be allocated. */
    private static int code(IntSupplier call) {
        try {
            return call.getAsInt();
        } catch (CudaException e) {
            return CudaErrors.codeOf(e);
        }
    }

    static int driverGetVersion(int[] version) {
        return code(() -> JCudaDriver.cuDriverGetVersion(version));
    }

    static int init() {
        return code(() -> JCudaDriver.cuInit(0));
    }

    static int deviceGetCount(int[] count) {
        return code(() -> JCudaDriver.cuDeviceGetCount(count));
    }

    static int deviceGet(CUdevice device, int ordinal) {
        return code(() -> JCudaDriver.cuDeviceGet(device, ordinal));
    }

    static int deviceGetName(byte[] name, CUdevice device) {
        return code(() -> JCudaDriver.cuDeviceGetName(name, name.length, device));
    }

    static int deviceGetUuid(CUuuid uuid, CUdevice device) {
        return code(() -> JCudaDriver.cuDeviceGetUuid(uuid, device));
    }

    /** The address goes into the only place of the array; it has so many characters at most, with one for its end. */
    static int deviceGetPciBusId(String[] address, int length, CUdevice device) {
        return code(() -> JCudaDriver.cuDeviceGetPCIBusId(address, length, device));
    }

    static int primaryCtxRetain(CUcontext context, CUdevice device) {
        return code(() -> JCudaDriver.cuDevicePrimaryCtxRetain(context, device));
    }

    static int primaryCtxRelease(CUdevice device) {
        return code(() -> JCudaDriver.cuDevicePrimaryCtxRelease(device));
    }

    static int ctxPushCurrent(CUcontext context) {
        try {
            return JCudaDriver.cuCtxPushCurrent(context);
        } catch (CudaException e) {
            return CudaErrors.codeOf(e);
        }
    }

    static int ctxPopCurrent(CUcontext popped) {
        try {
            return JCudaDriver.cuCtxPopCurrent(popped);
        } catch (CudaException e) {
            return CudaErrors.codeOf(e);
        }
    }

    static int ctxGetCurrent(CUcontext current) {
        try {
            return JCudaDriver.cuCtxGetCurrent(current);
        } catch (CudaException e) {
            return CudaErrors.codeOf(e);
        }
    }

    static int ctxGetDevice(CUdevice device) {
        return code(() -> JCudaDriver.cuCtxGetDevice(device));
    }

    /** The flags are those of {@link CUstream_flags}. */
    static int streamCreate(CUstream stream, int flags) {
        return code(() -> JCudaDriver.cuStreamCreate(stream, flags));
    }

    static int streamBeginCapture(CUstream stream, int mode) {
        return code(() -> JCudaDriver.cuStreamBeginCapture(stream, mode));
    }

    static int streamEndCapture(CUstream stream, CUgraph graph) {
        return code(() -> JCudaDriver.cuStreamEndCapture(stream, graph));
    }

    static int graphDestroy(CUgraph graph) {
        return code(() -> JCudaDriver.cuGraphDestroy(graph));
    }

    static int streamDestroy(CUstream stream) {
        return code(() -> JCudaDriver.cuStreamDestroy(stream));
    }

    static int streamIsCapturing(CUstream stream, int[] status) {
        try {
            return JCudaDriver.cuStreamIsCapturing(stream, status);
        } catch (CudaException e) {
            return CudaErrors.codeOf(e);
        }
    }

    static int exchangeCaptureMode(int[] mode) {
        try {
            return JCudaDriver.cuThreadExchangeStreamCaptureMode(mode);
        } catch (CudaException e) {
            return CudaErrors.codeOf(e);
        }
    }

    /** The flags are those of {@link CUevent_flags}. */
    static int eventCreate(CUevent event, int flags) {
        return code(() -> JCudaDriver.cuEventCreate(event, flags));
    }

    static int eventRecord(CUevent event, CUstream stream) {
        try {
            return JCudaDriver.cuEventRecord(event, stream);
        } catch (CudaException e) {
            return CudaErrors.codeOf(e);
        }
    }

    /** The flags are those of {@link jcuda.driver.CUevent_record_flags}. */
    static int eventRecordWithFlags(CUevent event, CUstream stream, int flags) {
        try {
            return JCudaDriver.cuEventRecordWithFlags(event, stream, flags);
        } catch (CudaException e) {
            return CudaErrors.codeOf(e);
        }
    }

    static int eventQuery(CUevent event) {
        try {
            return JCudaDriver.cuEventQuery(event);
        } catch (CudaException e) {
            return CudaErrors.codeOf(e);
        }
    }

    static int eventSynchronize(CUevent event) {
        try {
            return JCudaDriver.cuEventSynchronize(event);
        } catch (CudaException e) {
            return CudaErrors.codeOf(e);
        }
    }

    static int eventElapsedTime(float[] ms, CUevent from, CUevent to) {
        try {
            return JCudaDriver.cuEventElapsedTime(ms, from, to);
        } catch (CudaException e) {
            return CudaErrors.codeOf(e);
        }
    }

    static int eventDestroy(CUevent event) {
        return code(() -> JCudaDriver.cuEventDestroy(event));
    }
}
