package org.brickprofiler.device.cuda;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.testing.ChildProcess;

/** A process that looks for a device and marks a stream: each virtual machine looks for a driver only once. */
final class CudaProcess {

    private CudaProcess() {}

    /**
     * Prints the result of the probe twice, and uses a stream. With the argument "simulated", builds and loads the
     * simulated driver first.
     */
    public static void main(String[] args) {
        if (List.of(args).contains("simulated")) {
            SimulatedCuda.start();
        }
        System.out.println("first: " + CudaSupport.probe());
        System.out.println("second: " + CudaSupport.probe());
        try (CudaStream stream = CudaStream.onDevice(0).open()) {
            int mark = stream.mark();
            System.out.println("usable: " + stream.isUsable());
            System.out.println("marked: " + (mark != DeviceStream.NO_MARK));
            System.out.println("waited: " + (mark != DeviceStream.NO_MARK && stream.waitFor(mark)));
            System.out.println("failure: " + stream.failure().orElse("none"));
            System.out.println("device: " + stream.deviceName());
        }
        System.out.println("end");
    }

    /** Returns the process with the test's class path and native libraries, and without a driver. */
    static ChildProcess usual() {
        return usual(System.getProperty("java.class.path"));
    }

    /** Returns the process with another class path. */
    static ChildProcess usual(String classPath) {
        return ChildProcess.java(CudaProcess.class, classPath)
                .jvmOptions(List.of(
                        "-Djava.library.path=" + System.getProperty("java.library.path"),
                        // Later JDKs warn of native libraries without it.
                        "--enable-native-access=ALL-UNNAMED"))
                .without("LD_LIBRARY_PATH");
    }

    /** Returns the process with another class path, and a driver's library. */
    static ChildProcess usual(String classPath, Path library) {
        return usual(classPath)
                .environment(
                        Map.of("LD_LIBRARY_PATH", library.resolveSibling("").toString()));
    }

    /** Returns the process with a driver's library. */
    static ChildProcess withDriver(Path library) {
        return usual(System.getProperty("java.class.path"), library);
    }

    /**
     * Returns the process with another folder of native libraries. JCuda also looks in the folder of temporary files,
     * where a program may have left its library.
     */
    static ChildProcess withNatives(Path folder) {
        // Of two such options, the last one counts.
        return usual().jvmOptions(List.of("-Djava.library.path=" + folder, "-Djava.io.tmpdir=" + folder));
    }
}
