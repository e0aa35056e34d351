package org.brickprofiler.device.cuda;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.brickprofiler.device.DeviceStream;

/**
 * A virtual machine of its own that looks for a device and marks a stream, since a driver is looked for once in each.
 *
 * @param exitCode what it ended with
 * @param output what it printed and logged
 */
record CudaProcess(int exitCode, String output) {

    /**
     * What the process does: says what it finds, twice, and uses a stream. With the argument "simulated" it builds and
     * loads the simulated driver before.
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
            System.out.println("synchronized: " + stream.synchronize());
            System.out.println("failure: " + stream.failure().orElse("none"));
            System.out.println("device: " + stream.deviceName());
        }
        System.out.println("end");
    }

    /** What the process runs with, other than the test's own class path and native libraries. */
    record Settings(List<String> jvmOptions, Map<String, String> environment, String classPath, List<String> arguments) {

        static Settings usual() {
            return new Settings(
                    List.of("-Djava.library.path=" + System.getProperty("java.library.path")),
                    Map.of(),
                    System.getProperty("java.class.path"),
                    List.of());
        }

        Settings jvmOptions(String... options) {
            return new Settings(List.of(options), environment, classPath, arguments);
        }

        /** The driver's library. */
        Settings driver(Path library) {
            String folder = library.resolveSibling("").toString();
            return new Settings(jvmOptions, Map.of("LD_LIBRARY_PATH", folder), classPath, arguments);
        }

        Settings classPath(String path) {
            return new Settings(jvmOptions, environment, path, arguments);
        }

        Settings arguments(String... all) {
            return new Settings(jvmOptions, environment, classPath, List.of(all));
        }

        /** Starts the process. */
        Process start() throws IOException {
            List<String> command = new ArrayList<>();
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.addAll(jvmOptions);
            // Later JDKs warn of native libraries without it.
            command.add("--enable-native-access=ALL-UNNAMED");
            command.addAll(List.of("-XX:TieredStopAtLevel=1", "-cp", classPath, CudaProcess.class.getName()));
            command.addAll(arguments);
            ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
            // With these a virtual machine greets on the standard error, or takes options of the test's own.
            builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"));
            builder.environment().remove("LD_LIBRARY_PATH");
            builder.environment().putAll(environment);
            return builder.start();
        }

        /** Runs the process to its end. */
        CudaProcess run() throws IOException, InterruptedException {
            return ended(start());
        }
    }

    /** Waits for a process's end. */
    static CudaProcess ended(Process process) throws IOException, InterruptedException {
        try {
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), UTF_8);
            return new CudaProcess(process.waitFor(), output);
        } finally {
            process.destroyForcibly();
        }
    }
}
