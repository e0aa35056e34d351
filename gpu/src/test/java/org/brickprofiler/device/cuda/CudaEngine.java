package org.brickprofiler.device.cuda;

import static jcuda.driver.CUresult.CUDA_SUCCESS;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Constructor;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUfunction;
import jcuda.driver.CUgraph;
import jcuda.driver.CUgraphExec;
import jcuda.driver.CUmodule;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.CUstreamCaptureMode;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.testing.SourceTree;

/**
 * An application that computes on a device, for tests: a context that is current on the thread that made it, a stream,
 * and kernels that take a given time.
 */
final class CudaEngine {

    private static final String KERNELS = kernels();

    private final CUcontext context = new CUcontext();
    private final CUstream stream = new CUstream();
    private final CUmodule module = new CUmodule();
    private final CUfunction spin = new CUfunction();
    private final CUfunction stamped = new CUfunction();

    /** Makes an engine on the primary context of a device. */
    CudaEngine(int ordinal) {
        this(ordinal, false);
    }

    /** Makes an engine on the primary context of a device, or on a context of its own. */
    CudaEngine(int ordinal, boolean ownContext) {
        check(JCudaDriver.cuInit(0));
        CUdevice device = new CUdevice();
        check(JCudaDriver.cuDeviceGet(device, ordinal));
        if (ownContext) {
            check(JCudaDriver.cuCtxCreate(context, 0, device));
        } else {
            check(JCudaDriver.cuDevicePrimaryCtxRetain(context, device));
            check(JCudaDriver.cuCtxSetCurrent(context));
        }
        check(JCudaDriver.cuStreamCreate(stream, 0));
        check(JCudaDriver.cuModuleLoadData(module, KERNELS));
        check(JCudaDriver.cuModuleGetFunction(spin, module, "spin_ns"));
        check(JCudaDriver.cuModuleGetFunction(stamped, module, "spin_ns_stamped"));
    }

    private static String kernels() {
        try {
            return Files.readString(SourceTree.path("gpu", "src", "test", "native", "cuda", "spin_ns.ptx"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    CUcontext context() {
        return context;
    }

    CUstream stream() {
        return stream;
    }

    /** Launches a kernel on the engine's stream. */
    void spin(long ns) {
        check(trySpin(ns));
    }

    /** Launches a kernel on a stream. */
    void spin(long ns, CUstream on) {
        check(launch(spin, on, Pointer.to(Pointer.to(new long[] {ns}))));
    }

    /** Launches a kernel on a stream of the library's, whichever binding it has. */
    void spin(long ns, CudaStream on) {
        spin(ns, objectOf(on.streamAddress()));
    }

    /** Returns JCuda's object for an address. JCuda has no public constructor for that. */
    private static CUstream objectOf(long address) {
        try {
            Constructor<CUstream> constructor = CUstream.class.getDeclaredConstructor(long.class);
            constructor.setAccessible(true);
            return constructor.newInstance(address);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }

    /** Returns an action that launches a kernel on the engine's stream, on any thread, without allocating. */
    Runnable spinner(long ns) {
        Pointer parameters = Pointer.to(Pointer.to(new long[] {ns}));
        CUcontext popped = new CUcontext();
        return () -> {
            check(JCudaDriver.cuCtxPushCurrent(context));
            check(launch(spin, stream, parameters));
            check(JCudaDriver.cuCtxPopCurrent(popped));
        };
    }

    /** Launches a kernel on the engine's stream, and returns the driver's code. */
    int trySpin(long ns) {
        return launch(spin, stream, Pointer.to(Pointer.to(new long[] {ns})));
    }

    /** Launches a kernel on the engine's stream that stores when it began and ended: two numbers from a position on. */
    void spinStamped(long ns, ByteBuffer stamps, int position) {
        Pointer at = Pointer.to(stamps).withByteOffset((long) position * Long.BYTES);
        check(launch(stamped, stream, Pointer.to(Pointer.to(new long[] {ns}), Pointer.to(at))));
    }

    // ---- graphs ----

    /** Captures the work into a graph. */
    CUgraph capture(Runnable work) {
        beginCapture();
        work.run();
        return endCapture();
    }

    void beginCapture() {
        check(JCudaDriver.cuStreamBeginCapture(stream, CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    }

    CUgraph endCapture() {
        CUgraph graph = new CUgraph();
        check(JCudaDriver.cuStreamEndCapture(stream, graph));
        return graph;
    }

    CUgraphExec instantiate(CUgraph graph) {
        CUgraphExec exec = new CUgraphExec();
        check(JCudaDriver.cuGraphInstantiate(exec, graph, 0));
        return exec;
    }

    /** Launches a graph in the engine's stream. */
    void launch(CUgraphExec exec) {
        check(JCudaDriver.cuGraphLaunch(exec, stream));
    }

    /** Returns an action that launches a graph in the engine's stream, on any thread, without allocating. */
    Runnable launcher(CUgraphExec exec) {
        CUcontext popped = new CUcontext();
        return () -> {
            check(JCudaDriver.cuCtxPushCurrent(context));
            check(JCudaDriver.cuGraphLaunch(exec, stream));
            check(JCudaDriver.cuCtxPopCurrent(popped));
        };
    }

    /** Waits for the engine's stream, as an application does. */
    void synchronize() {
        check(JCudaDriver.cuStreamSynchronize(stream));
    }

    /** Runs an action with the engine's context current. */
    void inContext(Runnable body) {
        check(JCudaDriver.cuCtxPushCurrent(context));
        try {
            body.run();
        } finally {
            check(JCudaDriver.cuCtxPopCurrent(new CUcontext()));
        }
    }

    /** Pops the engine's context from the calling thread. */
    void giveUp() {
        check(JCudaDriver.cuCtxPopCurrent(new CUcontext()));
    }

    /** Pushes and pops the engine's context. Returns false if the driver refuses. */
    boolean tryPushAndPop() {
        if (JCudaDriver.cuCtxPushCurrent(context) != CUDA_SUCCESS) {
            return false;
        }
        giveUp();
        return true;
    }

    /** Launches the kernel of a name, which is not told how long to take. */
    void launch(String name) {
        CUfunction function = new CUfunction();
        check(JCudaDriver.cuModuleGetFunction(function, module, name));
        check(launch(function, stream, new Pointer()));
    }

    private static int launch(CUfunction function, CUstream on, Pointer parameters) {
        return JCudaDriver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, on, parameters, null);
    }

    private static void check(int code) {
        if (code != CUDA_SUCCESS) {
            throw new AssertionError("the engine's own call: " + CUresult.stringFor(code));
        }
    }
}
