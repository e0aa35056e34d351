package org.brickprofiler.demo;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.brickprofiler.demo.DevicePass.Work;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.device.opencl.OpenClStream;
import org.brickprofiler.device.opencl.OpenClSupport;

/** A device of an OpenCL driver, with an in-order queue whose bricks can be timed. */
final class OpenClDevice implements ComputeDevice {

    /** The number of work items of a work group. */
    private static final int GROUP = 64;

    private static final int MOST_PLATFORMS = 64;
    private static final int MOST_DEVICES = 256;

    private final long context;
    private final long queue;
    private final long program;
    private final DeviceStream stream;

    /** Frees the created objects, the newest first. */
    private final Deque<Runnable> releases;

    private OpenClDevice(long context, long queue, long program, DeviceStream stream, Deque<Runnable> releases) {
        this.context = context;
        this.queue = queue;
        this.program = program;
        this.stream = stream;
        this.releases = releases;
    }

    private static final class Array extends Floats {

        private final long buffer;
        private final HostNumber argument;

        Array(long buffer, int length) {
            super(length);
            this.buffer = buffer;
            argument = HostNumber.of(buffer);
        }
    }

    // ---- finding and opening ----

    /**
     * Returns why a device is missing.
     *
     * @param number its place in the order of {@code brick devices}
     * @return the reason; empty if the device exists
     */
    static Optional<String> missing(int number) {
        OpenClSupport support = OpenClSupport.probe();
        if (!support.isAvailable()) {
            return Optional.of(support.toString());
        }
        return number < support.deviceNames().size()
                ? Optional.empty()
                : Optional.of("there is no OpenCL device " + number + "; " + support);
    }

    /**
     * Opens a device. Compiles the kernels for it, which may take seconds the first time.
     *
     * @param number its place in the order of {@code brick devices}
     * @throws DeviceFailure if there is no such device, or the driver refuses a call
     */
    static OpenClDevice open(int number) {
        missing(number).ifPresent(reason -> {
            throw new DeviceFailure(reason);
        });
        Deque<Runnable> releases = new ArrayDeque<>();
        try {
            return open(number, releases);
        } catch (DeviceFailure refused) {
            release(releases);
            throw refused;
        }
    }

    private static OpenClDevice open(int number, Deque<Runnable> releases) {
        long device = find(number);
        int[] code = new int[1];
        long context = OpenClCalls.clCreateContext(0, 1, new long[] {device}, 0, 0, code);
        require("clCreateContext", code[0]);
        releases.push(() -> OpenClCalls.clReleaseContext(context));
        long queue = OpenClCalls.clCreateCommandQueue(context, device, OpenClCalls.PROFILING, code);
        require("clCreateCommandQueue", code[0]);
        releases.push(() -> OpenClCalls.clReleaseCommandQueue(queue));
        OpenClStream stream = OpenClStream.on(queue).name("decode").open();
        releases.push(stream::close);
        if (!stream.isUsable()) {
            throw new DeviceFailure("no stream on OpenCL device " + number + ": "
                    + stream.failure().orElse("it does not say why"));
        }
        long program = build(context, device, releases);
        return new OpenClDevice(context, queue, program, stream, releases);
    }

    /** Returns the handle of a device; devices are counted over all platforms, in the driver's order. */
    private static long find(int number) {
        long[] platforms = new long[MOST_PLATFORMS];
        int[] count = new int[1];
        require("clGetPlatformIDs", OpenClCalls.clGetPlatformIDs(platforms.length, platforms, count));
        int before = 0;
        for (long platform : Arrays.copyOf(platforms, count[0])) {
            long[] devices = new long[MOST_DEVICES];
            int code = OpenClCalls.clGetDeviceIDs(platform, OpenClCalls.ALL_DEVICES, devices.length, devices, count);
            // A platform without a device answers with an error, and is passed over.
            if (code == OpenClCalls.SUCCESS) {
                if (number < before + count[0]) {
                    return devices[number - before];
                }
                before += count[0];
            }
        }
        throw new DeviceFailure("OpenCL device " + number + " is gone");
    }

    private static long build(long context, long device, Deque<Runnable> releases) {
        byte[] text = kernelText().getBytes(US_ASCII);
        Memory source = new Memory(text.length);
        source.write(0, text, 0, text.length);
        int[] code = new int[1];
        long program = OpenClCalls.clCreateProgramWithSource(
                context, 1, new long[] {Pointer.nativeValue(source)}, new long[] {text.length}, code);
        require("clCreateProgramWithSource", code[0]);
        releases.push(() -> OpenClCalls.clReleaseProgram(program));
        byte[] options = Native.toByteArray("-DGROUP=" + GROUP);
        int built = OpenClCalls.clBuildProgram(program, 1, new long[] {device}, options, 0, 0);
        if (built != OpenClCalls.SUCCESS) {
            throw new DeviceFailure("clBuildProgram answers " + built + ": " + buildLog(program, device));
        }
        return program;
    }

    private static String buildLog(long program, long device) {
        byte[] log = new byte[1 << 16];
        long[] bytes = new long[1];
        int code = OpenClCalls.clGetProgramBuildInfo(program, device, OpenClCalls.BUILD_LOG, log.length, log, bytes);
        return code == OpenClCalls.SUCCESS
                ? new String(log, 0, (int) Math.min(bytes[0], log.length), UTF_8).strip()
                : "clGetProgramBuildInfo answers " + code;
    }

    /** Returns the source of the program. */
    static String kernelText() {
        try (InputStream text = Objects.requireNonNull(OpenClDevice.class.getResourceAsStream("kernels.cl"))) {
            return new String(text.readAllBytes(), US_ASCII);
        } catch (IOException e) {
            throw new UncheckedIOException("the kernels cannot be read", e);
        }
    }

    private static void require(String call, int code) {
        if (code != OpenClCalls.SUCCESS) {
            throw new DeviceFailure(call + " answers " + code);
        }
    }

    // ---- memory ----

    @Override
    public DeviceStream stream() {
        return stream;
    }

    @Override
    public Floats allocate(long length) {
        int floats = Floats.checkLength(length);
        long bytes = length * Float.BYTES;
        int[] code = new int[1];
        long buffer = OpenClCalls.clCreateBuffer(context, OpenClCalls.READ_WRITE, bytes, 0, code);
        require("clCreateBuffer of " + bytes + " bytes", code[0]);
        releases.push(() -> OpenClCalls.clReleaseMemObject(buffer));
        return new Array(buffer, floats);
    }

    @Override
    public Floats upload(float[] values) {
        Floats array = allocate(values.length);
        require(
                "clEnqueueWriteBuffer",
                OpenClCalls.clEnqueueWriteBuffer(
                        queue, buffer(array), OpenClCalls.TRUE, 0, array.bytes(), values, 0, 0, 0));
        return array;
    }

    @Override
    public ByteBuffer allocateHost(long bytes) {
        return ByteBuffer.allocateDirect(Math.toIntExact(bytes)).order(ByteOrder.nativeOrder());
    }

    @Override
    public void copyToHost(Floats from, ByteBuffer to) {
        require(
                "clEnqueueReadBuffer",
                OpenClCalls.clEnqueueReadBuffer(queue, buffer(from), 0, 0, from.bytes(), address(to), 0, 0, 0));
    }

    private static long buffer(Floats array) {
        return ((Array) array).buffer;
    }

    private static long address(ByteBuffer direct) {
        return Pointer.nativeValue(Native.getDirectBufferPointer(direct));
    }

    // ---- kernels ----

    /** A launch reads its arguments when it is enqueued, so all arguments are set each time: some are cells. */
    @Override
    public Work prepare(Launch launch) {
        int[] code = new int[1];
        long kernel = OpenClCalls.clCreateKernel(program, Native.toByteArray(launch.kernel()), code);
        require("clCreateKernel of " + launch.kernel(), code[0]);
        releases.push(() -> OpenClCalls.clReleaseKernel(kernel));
        boolean inGroups = launch.share() == Share.GROUP;
        Memory sizes = new Memory(4L * Long.BYTES);
        long globalSizes = Pointer.nativeValue(sizes);
        long localSizes = inGroups ? globalSizes + 2L * Long.BYTES : 0;
        sizes.setLong(Long.BYTES, launch.height());
        sizes.setLong(2L * Long.BYTES, GROUP);
        sizes.setLong(3L * Long.BYTES, 1);
        List<Argument> arguments = launch.arguments();
        return () -> {
            for (int i = 0; i < arguments.size(); i++) {
                ByteBuffer bytes = argument(arguments.get(i));
                require("clSetKernelArg", OpenClCalls.clSetKernelArg(kernel, i, bytes.capacity(), address(bytes)));
            }
            sizes.setLong(0, (long) launch.width().getAsInt() * (inGroups ? GROUP : 1));
            require(
                    "clEnqueueNDRangeKernel",
                    OpenClCalls.clEnqueueNDRangeKernel(queue, kernel, 2, 0, globalSizes, localSizes, 0, 0, 0));
        };
    }

    private static ByteBuffer argument(Argument argument) {
        return (argument instanceof HostNumber cell ? cell : ((Array) argument).argument).bytes();
    }

    @Override
    public void synchronize() {
        require("clFinish", OpenClCalls.clFinish(queue));
    }

    @Override
    public void close() {
        release(releases);
    }

    private static void release(Deque<Runnable> releases) {
        while (!releases.isEmpty()) {
            releases.pop().run();
        }
    }
}
