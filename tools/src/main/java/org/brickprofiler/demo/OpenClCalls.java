package org.brickprofiler.demo;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;

/** The functions of OpenCL 1.2 that the decoder calls, through JNA's direct mapping. Handles are numbers. */
final class OpenClCalls {

    static final int SUCCESS = 0;
    static final int TRUE = 1;
    static final long ALL_DEVICES = 0xFFFFFFFFL;
    static final long PROFILING = 1 << 1;
    static final long READ_WRITE = 1;
    static final int BUILD_LOG = 0x1183;

    static {
        Native.register(OpenClCalls.class, NativeLibrary.getInstance("OpenCL"));
    }

    private OpenClCalls() {}

    static native int clGetPlatformIDs(int entries, long[] platforms, int[] count);

    static native int clGetDeviceIDs(long platform, long type, int entries, long[] devices, int[] count);

    static native long clCreateContext(
            long properties, int count, long[] devices, long callback, long data, int[] code);

    static native int clReleaseContext(long context);

    static native long clCreateCommandQueue(long context, long device, long properties, int[] code);

    static native int clReleaseCommandQueue(long queue);

    static native long clCreateProgramWithSource(long context, int count, long[] texts, long[] lengths, int[] code);

    static native int clBuildProgram(long program, int count, long[] devices, byte[] options, long callback, long data);

    static native int clGetProgramBuildInfo(
            long program, long device, int what, long size, byte[] value, long[] sizeNeeded);

    static native int clReleaseProgram(long program);

    static native long clCreateKernel(long program, byte[] name, int[] code);

    static native int clReleaseKernel(long kernel);

    static native int clSetKernelArg(long kernel, int index, long size, long value);

    static native int clEnqueueNDRangeKernel(
            long queue,
            long kernel,
            int dimensions,
            long offsets,
            long globalSizes,
            long localSizes,
            int events,
            long list,
            long event);

    static native long clCreateBuffer(long context, long flags, long size, long host, int[] code);

    static native int clReleaseMemObject(long buffer);

    static native int clEnqueueWriteBuffer(
            long queue, long buffer, int wait, long offset, long size, float[] from, int events, long list, long event);

    static native int clEnqueueReadBuffer(
            long queue, long buffer, int wait, long offset, long size, long to, int events, long list, long event);

    static native int clFinish(long queue);
}
