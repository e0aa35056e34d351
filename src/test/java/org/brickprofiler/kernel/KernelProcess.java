package org.brickprofiler.kernel;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.brickprofiler.Backend;

/**
 * A virtual machine of its own that uses kernel timings, since the switch is read once in each.
 *
 * @param exitCode what it ended with
 * @param output what it printed and logged
 */
record KernelProcess(int exitCode, String output) {

    /** What the process does: uses every method, refused arguments among them, and prints what came of it. */
    public static void main(String[] args) {
        KernelTimings timings = KernelTimings.global();
        System.out.println("enabled at first: " + timings.isEnabled());
        timings.enable();
        timings.enable();
        new KernelTimings().enable();
        System.out.println("enabled: " + timings.isEnabled());
        timings.record("matmul", Backend.CPU, 2_000);
        timings.recordCommandBuffer("pass", Backend.METAL, 1, 2);
        timings.recordDispatch("pass", Backend.METAL, "op", 0, 1, 2);
        timings.logSnapshot();
        timings.logSnapshot(1);
        System.out.println("kernels: " + timings.snapshot().size());
        System.out.println("command buffers: " + timings.commandBuffers().size());
        timings.reset();
        timings.disable();
        System.out.println("kernels at the end: " + timings.snapshotAndReset().size());
    }

    /** Runs it with the Java and the class path of the test, and waits for its end. */
    static KernelProcess run(List<String> jvmOptions, Map<String, String> environment)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvmOptions);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), KernelProcess.class.getName()));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        // With these a virtual machine greets on the standard error, or takes options of the test's own.
        builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"));
        builder.environment().remove(KernelSwitch.VARIABLE);
        builder.environment().putAll(environment);
        Process process = builder.start();
        try {
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), UTF_8);
            return new KernelProcess(process.waitFor(), output);
        } finally {
            process.destroyForcibly();
        }
    }
}
