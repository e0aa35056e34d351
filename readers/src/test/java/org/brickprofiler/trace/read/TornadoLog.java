package org.brickprofiler.trace.read;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The output of TornadoVM's profiler, in the form of its serialiser, with values that a test chooses. */
final class TornadoLog {

    private TornadoLog() {}

    /** The object of an execution: the timers of the graph, then its tasks. */
    static String execution(String graph, Map<String, String> timers, String... tasks) {
        StringBuilder text = new StringBuilder("{\n    \"" + graph + "\": {\n");
        timers.forEach((key, value) -> text.append("        \"" + key + "\": \"" + value + "\",\n"));
        return text.append(String.join(", \n", tasks))
                .append(tasks.length == 0 ? "" : "\n")
                .append("    }\n}\n")
                .toString();
    }

    /** A task of an execution, with the members before its time. */
    static String task(String name, String method, Map<String, String> timers) {
        List<String> members = new ArrayList<>(List.of(
                "\"BACKEND\": \"CUDA\"",
                "\"METHOD\": \"" + method + "\"",
                "\"DEVICE_ID\": \"0:0\"",
                "\"DEVICE\": \"a device\"",
                "\"POWER_USAGE_mW\": \"n/a\""));
        timers.forEach((key, value) -> members.add("\"" + key + "\": \"" + value + "\""));
        return "        \"" + name + "\": {\n            " + String.join(",\n            ", members) + "\n        }";
    }

    /** A task whose kernel took a given time. */
    static String task(String name, long kernelNs) {
        return task(name, "Kernels.run", Map.of("TASK_KERNEL_TIME", Long.toString(kernelNs)));
    }

    /**
     * Reads a log that is generated while it is read, and prints the total times of its two tasks and of its copies to
     * the device, and the wall time, in ns.
     *
     * @param arguments the number of executions
     */
    public static void main(String[] arguments) throws IOException {
        byte[] execution = (execution(
                                "layer_0",
                                Map.of("COPY_IN_TIME", "5", "TOTAL_KERNEL_TIME", "110", "TOTAL_TASK_GRAPH_TIME", "200"),
                                task("layer_0.rmsnorm", 10),
                                task("layer_0.qkvmatmul", 100))
                        + "a token\n")
                .getBytes(UTF_8);
        InputStream log = new InputStream() {
            private long left = Long.parseLong(arguments[0]) * execution.length;

            @Override
            public int read() {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0];
            }

            @Override
            public int read(byte[] into, int from, int length) {
                if (left == 0) {
                    return -1;
                }
                int at = (int) ((execution.length - left % execution.length) % execution.length);
                int read = Math.min(length, execution.length - at);
                System.arraycopy(execution, at, into, from, read);
                left -= read;
                return read;
            }
        };
        TraceProfile read = TraceReader.profile(log, ReadOptions.defaults());
        System.out.println(Traces.totalNs(read, "RmsNorm") + " " + Traces.totalNs(read, "QkvProjection") + " "
                + Traces.totalNs(read, "HostToDevice") + " " + read.wallNs());
    }
}
