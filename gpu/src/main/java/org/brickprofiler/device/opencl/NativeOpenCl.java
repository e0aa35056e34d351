package org.brickprofiler.device.opencl;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import java.util.List;

/**
 * OpenCL's library through JNA's direct mapping, which costs a tenth of JNA's mapping by interfaces. Any thread;
 * allocates nothing.
 */
final class NativeOpenCl implements OpenCl {

    /** Handles and {@code size_t} are passed as numbers of 64 bits. */
    private static final int WORD_BYTES = 8;

    private final boolean hasTimers;

    private NativeOpenCl(boolean hasTimers) {
        this.hasTimers = hasTimers;
    }

    /** Functions that the libraries of OpenCL 1.2 and 2.0 do not have. */
    private static final class Timers {
        static native int clGetDeviceAndHostTimer(long device, long deviceTime, long hostTime);

        static native int clGetHostTimer(long device, long hostTime);

        private Timers() {}
    }

    /**
     * Loads the library and binds its functions.
     *
     * @param names the possible names of the library, the best one first
     * @return the functions
     * @throws UnsatisfiedLinkError if no library of these names can be loaded, or the library lacks a function of
     *     OpenCL 1.2
     */
    static OpenCl load(List<String> names) {
        if (Native.POINTER_SIZE != WORD_BYTES || Native.SIZE_T_SIZE != WORD_BYTES) {
            throw new UnsatisfiedLinkError("a 64-bit virtual machine is needed, and this one has pointers of "
                    + Native.POINTER_SIZE + " bytes");
        }
        NativeLibrary library = find(names);
        Native.register(NativeOpenCl.class, library);
        return new NativeOpenCl(bindTimers(library));
    }

    private static boolean bindTimers(NativeLibrary library) {
        try {
            Native.register(Timers.class, library);
            return true;
        } catch (UnsatisfiedLinkError olderLibrary) {
            return false;
        }
    }

    private static NativeLibrary find(List<String> names) {
        StringBuilder reasons = new StringBuilder();
        for (String name : names) {
            try {
                return NativeLibrary.getInstance(name);
            } catch (UnsatisfiedLinkError e) {
                String reason =
                        String.valueOf(e.getMessage()).lines().findFirst().orElse("no reason");
                reasons.append(reasons.length() == 0 ? "" : "; ").append(reason);
            }
        }
        throw new UnsatisfiedLinkError(reasons.toString());
    }

    @Override
    public native int clGetPlatformIDs(int entries, long platforms, long count);

    @Override
    public native int clGetDeviceIDs(long platform, long type, int entries, long devices, long count);

    @Override
    public native int clGetDeviceInfo(long device, int what, long size, long value, long sizeNeeded);

    @Override
    public native long clCreateContext(long properties, int count, long devices, long callback, long data, long code);

    @Override
    public native int clReleaseContext(long context);

    @Override
    public native long clCreateCommandQueue(long context, long device, long properties, long code);

    @Override
    public native int clGetCommandQueueInfo(long queue, int what, long size, long value, long sizeNeeded);

    @Override
    public native int clRetainCommandQueue(long queue);

    @Override
    public native int clReleaseCommandQueue(long queue);

    @Override
    public native int clFlush(long queue);

    @Override
    public native long clCreateBuffer(long context, long flags, long size, long host, long code);

    @Override
    public native int clReleaseMemObject(long buffer);

    @Override
    public native int clEnqueueMarkerWithWaitList(long queue, int events, long list, long event);

    @Override
    public native int clEnqueueFillBuffer(
            long queue,
            long buffer,
            long pattern,
            long patternSize,
            long offset,
            long size,
            int events,
            long list,
            long event);

    @Override
    public native int clGetEventInfo(long event, int what, long size, long value, long sizeNeeded);

    @Override
    public native int clGetEventProfilingInfo(long event, int what, long size, long value, long sizeNeeded);

    @Override
    public native long clCreateUserEvent(long context, long code);

    @Override
    public native int clSetUserEventStatus(long event, int status);

    @Override
    public native int clReleaseEvent(long event);

    @Override
    public int clGetDeviceAndHostTimer(long device, long deviceTime, long hostTime) {
        return hasTimers ? Timers.clGetDeviceAndHostTimer(device, deviceTime, hostTime) : INVALID_OPERATION;
    }

    @Override
    public int clGetHostTimer(long device, long hostTime) {
        return hasTimers ? Timers.clGetHostTimer(device, hostTime) : INVALID_OPERATION;
    }
}
