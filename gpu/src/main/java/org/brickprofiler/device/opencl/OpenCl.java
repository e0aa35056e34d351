package org.brickprofiler.device.opencl;

/**
 * The functions of OpenCL that are called here, by their names in the specification. Handles and pointers are
 * addresses, 0 for null; {@code size_t} is 64 bits wide. Any thread.
 */
interface OpenCl {

    int SUCCESS = 0;
    int DEVICE_NOT_AVAILABLE = -2;
    int INVALID_CONTEXT = -34;
    int INVALID_COMMAND_QUEUE = -36;
    int INVALID_OPERATION = -59;

    /** The answer of an ICD loader without a driver. */
    int PLATFORM_NOT_FOUND = -1001;

    int DEVICE_NOT_FOUND = -1;

    int QUEUE_CONTEXT = 0x1090;
    int QUEUE_DEVICE = 0x1091;
    int QUEUE_PROPERTIES = 0x1093;
    long OUT_OF_ORDER = 1;
    long PROFILING = 2;
    long ON_DEVICE = 4;

    int DEVICE_NAME = 0x102B;
    int DEVICE_VERSION = 0x102F;
    int DEVICE_PARENT = 0x1042;
    int DEVICE_UUID = 0x106A;
    int DEVICE_PCI_BUS = 0x410F;
    long ALL_DEVICES = 0xFFFF_FFFFL;

    int EVENT_STATUS = 0x11D3;
    int COMPLETE = 0;
    int QUEUED = 3;
    int COMMAND_START = 0x1282;
    int COMMAND_END = 0x1283;

    int clGetPlatformIDs(int entries, long platforms, long count);

    int clGetDeviceIDs(long platform, long type, int entries, long devices, long count);

    int clGetDeviceInfo(long device, int what, long size, long value, long sizeNeeded);

    long clCreateContext(long properties, int count, long devices, long callback, long data, long code);

    int clReleaseContext(long context);

    long clCreateCommandQueue(long context, long device, long properties, long code);

    int clGetCommandQueueInfo(long queue, int what, long size, long value, long sizeNeeded);

    int clRetainCommandQueue(long queue);

    int clReleaseCommandQueue(long queue);

    int clFlush(long queue);

    long clCreateBuffer(long context, long flags, long size, long host, long code);

    int clReleaseMemObject(long buffer);

    int clEnqueueMarkerWithWaitList(long queue, int events, long list, long event);

    int clEnqueueFillBuffer(
            long queue,
            long buffer,
            long pattern,
            long patternSize,
            long offset,
            long size,
            int events,
            long list,
            long event);

    int clGetEventInfo(long event, int what, long size, long value, long sizeNeeded);

    int clGetEventProfilingInfo(long event, int what, long size, long value, long sizeNeeded);

    long clCreateUserEvent(long context, long code);

    int clSetUserEventStatus(long event, int status);

    int clReleaseEvent(long event);

    /**
     * Reads the clocks of the device and of the host. Available since OpenCL 2.1. Call it only for a device of this
     * version or later: loaders jump into the driver's table, which is shorter in older drivers.
     */
    int clGetDeviceAndHostTimer(long device, long deviceTime, long hostTime);

    /** Reads the host's clock. Available since OpenCL 2.1, with the same condition. */
    int clGetHostTimer(long device, long hostTime);
}
