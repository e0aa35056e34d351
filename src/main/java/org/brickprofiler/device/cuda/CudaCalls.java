package org.brickprofiler.device.cuda;

import jcuda.CudaException;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUgraph;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;

/**
 * The driver's calls, each with a code as its result: 0 for success. JCuda returns a code, or throws where the
 * application has asked it to; that is one setting for the whole process, and not touched here.
 *
 * <p>None is to be made before {@link CudaSupport} has found a driver: a symbol that is missing ends the process. Any
 * thread; allocates nothing where there is no exception.
 */
final class CudaCalls {

    private CudaCalls() {}

    static int driverGetVersion(int[] version) {
        try {
            return JCudaDriver.cuDriverGetVersion(version);
        } catch (CudaException e) {
            return CudaErrors.codeOf(e);
        }
    }

    static int init() {
        try {
            return JCudaDriver.cuInit(0);
        } catch (CudaException e) {
            return CudaErrors.codeOf(e);
        }
    }

    static int deviceGetCount(int[] count) {
        try {
            return JCudaDriver.cuDeviceGetCount(count);
        } catch (CudaException e) {
            return CudaErrors.codeOf(e);
        }
    }

    static int deviceGet(CUdevice device, int ordinal) {
        try {
            return JCudaDriver.cuDeviceGet(device, ordinal);
        } catch (CudaException e) {
            return CudaErrors.codeOf(e);
        }
    }

    static int deviceGetName(byte[] name, CUdevice device) {
        try {
            return JCudaDriver.cuDeviceGetName(name, name.length, device);
        } catch (CudaException e) {
            return CudaErrors.codeOf(e);
        }
    }

    static int primaryCtxRetain(CUcontext context, CUdevice device) {
        try {
            return JCudaDriver.cuDevicePrimaryCtxRetain(context, device);
        } catch (CudaException e) {
            return CudaErrors.codeOf(e);
        }
    }

    static int primaryCtxRelease(CUdevice device) {
        try {
            return JCudaDriver.cuDevicePrimaryCtxRelease(device);
        } catch (CudaException e) {
            return CudaErrors.codeOf(e);
        }
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
        try {
            return JCudaDriver.cuCtxGetDevice(device);
        } catch (CudaException e) {
            return CudaErrors.codeOf(e);
        }
    }

    /** The flags are those of {@link CUstream_flags}. */
    static int streamCreate(CUstream stream, int flags) {
        try {
            return JCudaDriver.cuStreamCreate(stream, flags);
        } catch (CudaException e) {
            return CudaErrors.codeOf(e);
        }
    }

    static int streamBeginCapture(CUstream stream, int mode) {
        try {
            return JCudaDriver.cuStreamBeginCapture(stream, mode);
        } catch (CudaException e) {
            return CudaErrors.codeOf(e);
        }
    }

    static int streamEndCapture(CUstream stream, CUgraph graph) {
        try {
            return JCudaDriver.cuStreamEndCapture(stream, graph);
        } catch (CudaException e) {
            return CudaErrors.codeOf(e);
        }
    }

    static int graphDestroy(CUgraph graph) {
        try {
            return JCudaDriver.cuGraphDestroy(graph);
        } catch (CudaException e) {
            return CudaErrors.codeOf(e);
        }
    }

    static int streamDestroy(CUstream stream) {
        try {
            return JCudaDriver.cuStreamDestroy(stream);
        } catch (CudaException e) {
            return CudaErrors.codeOf(e);
        }
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

    static int eventCreate(CUevent event) {
        try {
            return JCudaDriver.cuEventCreate(event, CUevent_flags.CU_EVENT_DEFAULT);
        } catch (CudaException e) {
            return CudaErrors.codeOf(e);
        }
    }

    static int eventRecord(CUevent event, CUstream stream) {
        try {
            return JCudaDriver.cuEventRecord(event, stream);
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
        try {
            return JCudaDriver.cuEventDestroy(event);
        } catch (CudaException e) {
            return CudaErrors.codeOf(e);
        }
    }
}
