package org.brickprofiler;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import javax.tools.ToolProvider;
import org.brickprofiler.internal.io.TemporaryFiles;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;

/**
 * Studies what the start and the end of the agent cost a program that prints one line, in rounds of whole processes in
 * random order: without an agent, and under {@code rules=llama3}; up to the first line of {@code main}, after which the
 * program halts, and to the end, with the profile as JSON. The arguments are the number of rounds (default 21), the
 * agent's jar (default that of the last build), and further options of the virtual machine. It needs bash.
 */
public final class AgentStartStudy {

    private static final String PROGRAM = """
            public final class Line {
                public static void main(String[] args) {
                    System.out.println("line");
                    if (args.length > 0) {
                        Runtime.getRuntime().halt(0);
                    }
                }
            }
            """;

    /** Appends a line with the seconds of wall clock, user and system to the errors of a program. */
    private static final List<String> TIMED = List.of("bash", "-c", "TIMEFORMAT='%3R %3U %3S'; time \"$@\"", "timed");

    /** The distance from the median to the ends of its 95 % interval, in square roots of the number of values. */
    private static final double HALF_INTERVAL = 0.98;

    private final Path folder;
    private final List<String> options;

    private AgentStartStudy(Path folder, List<String> options) {
        this.folder = folder;
        this.options = options;
    }

    /** The times of a process, s. */
    private record Times(double wall, double processor) {

        static Times of(ProcessResult result) {
            List<String> lines = result.err().lines().toList();
            String[] parts = lines.get(lines.size() - 1).split(" ", -1);
            return new Times(Double.parseDouble(parts[0]), Double.parseDouble(parts[1]) + Double.parseDouble(parts[2]));
        }

        Times beside(Times other) {
            return new Times(wall - other.wall, processor - other.processor);
        }
    }

    /**
     * Runs the study.
     *
     * @param args see the class
     * @throws IOException when a process fails
     */
    public static void main(String[] args) throws IOException {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 21;
        Path jar = Path.of(args.length > 1 ? args[1] : "../agent/target/brick-profiler-agent.jar");
        Path folder = TemporaryFiles.folder("agent-start");
        try {
            Path source = Files.writeString(folder.resolve("Line.java"), PROGRAM);
            ToolProvider.getSystemJavaCompiler().run(null, null, null, "-d", folder.toString(), source.toString());
            new AgentStartStudy(folder, List.of(args).subList(Math.min(2, args.length), args.length))
                    .study(rounds, "-javaagent:" + jar.toAbsolutePath() + "=rules=llama3");
        } finally {
            TemporaryFiles.delete(folder);
        }
    }

    private void study(int rounds, String agent) throws IOException {
        Map<String, List<Times>> added = new TreeMap<>();
        for (int round = 0; round <= rounds; round++) {
            List<Boolean> halts = new ArrayList<>(List.of(true, false));
            Collections.shuffle(halts);
            for (boolean halt : halts) {
                List<String> with = halt ? List.of(agent) : List.of(agent + ",out=" + folder.resolve("run.json"));
                boolean isAgentFirst = Math.random() < 0.5;
                Times first = run(isAgentFirst ? with : List.of(), halt);
                Times second = run(isAgentFirst ? List.of() : with, halt);
                // The first round reads the files into the memory of the system.
                if (round > 0) {
                    added.computeIfAbsent(halt ? "first line of main" : "JSON at the end", none -> new ArrayList<>())
                            .add(isAgentFirst ? first.beside(second) : second.beside(first));
                }
            }
        }
        System.out.println("| up to | pairs | wall, s: median (95 %) | processor time, s: median (95 %) |");
        System.out.println("|---|---|---|---|");
        added.forEach((what, all) -> System.out.printf(
                Locale.ROOT,
                "| %s | %d | %s | %s |%n",
                what,
                all.size(),
                median(all, Times::wall),
                median(all, Times::processor)));
    }

    private Times run(List<String> agent, boolean halts) throws IOException {
        List<String> all = new ArrayList<>(options);
        all.addAll(agent);
        all.addAll(List.of("-cp", folder.toString(), "Line"));
        if (halts) {
            all.add("halt");
        }
        return Times.of(ChildProcess.of(ChildProcess.javaProgram().toString())
                .through(TIMED)
                .arguments(all)
                .run()
                .assertSucceeded());
    }

    private static String median(List<Times> all, ToDoubleFunction<Times> figure) {
        double[] sorted = all.stream().mapToDouble(figure).sorted().toArray();
        double middle = (sorted.length - 1) / 2.0;
        double half = HALF_INTERVAL * Math.sqrt(sorted.length);
        return String.format(
                Locale.ROOT,
                "%.3f (%.3f..%.3f)",
                sorted[(int) Math.round(middle)],
                sorted[(int) Math.max(0, Math.round(middle - half))],
                sorted[(int) Math.min(sorted.length - 1, Math.round(middle + half))]);
    }
}
