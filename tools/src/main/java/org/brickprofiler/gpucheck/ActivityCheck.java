package org.brickprofiler.gpucheck;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Shows whether activity records of CUPTI would be worth it in place of marks. {@link ActivityRun} measures in a
 * process of its own, because CUPTI stays in a process and changes its kernels; if that process crashes or hangs, only
 * this check has no result.
 */
final class ActivityCheck extends Check {

    static final String NAME = "activity";

    private static final int LONGEST_S = 200;
    private static final String SEPARATOR = "\t";

    // The first words of a line.
    private static final String FIGURE = "figure";
    private static final String NUMBER = "number";
    private static final String OUTCOME = "outcome";

    private final int device;
    private final int cycles;
    private final @Nullable Path library;

    /**
     * Creates a check.
     *
     * @param device the number of the device
     * @param cycles how often each way is measured in a group
     * @param library the file of CUPTI; null to search for it
     */
    ActivityCheck(int device, int cycles, @Nullable Path library) {
        super(NAME);
        this.device = device;
        this.cycles = cycles;
        this.library = library;
    }

    @Override
    List<Outcome> run() {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Djava.library.path=" + System.getProperty("java.library.path", ""),
                "-cp",
                System.getProperty("java.class.path"),
                ActivityRun.class.getName(),
                Integer.toString(device),
                Integer.toString(cycles)));
        if (library != null) {
            command.add(library.toString());
        }
        try {
            Path lines = Files.createTempFile("brick-activity", ".txt");
            try {
                return run(command, lines);
            } finally {
                Files.deleteIfExists(lines);
            }
        } catch (IOException e) {
            return List.of(notMade("its process could not be started: " + e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return List.of(notMade("it was interrupted"));
        }
    }

    private List<Outcome> run(List<String> command, Path lines) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(lines.toFile())
                .start();
        try {
            if (!process.waitFor(LONGEST_S, TimeUnit.SECONDS)) {
                return List.of(notMade("its process did not end within " + LONGEST_S + " s"));
            }
        } finally {
            process.destroyForcibly();
        }
        List<String> printed = Files.readAllLines(lines, StandardCharsets.UTF_8);
        List<Outcome> outcomes = read(printed);
        if (process.exitValue() == 0 && !outcomes.isEmpty()) {
            return outcomes;
        }
        String last = printed.isEmpty() ? "" : ": " + printed.get(printed.size() - 1);
        return List.of(notMade("its process ended with the code " + process.exitValue() + last));
    }

    private static Outcome notMade(String reason) {
        return Outcome.notMade(NAME, ActivityRun.CLAIM, reason);
    }

    /** Prints outcomes for {@link #read}: a line for each figure, and then one for the outcome. */
    static void print(List<Outcome> outcomes, PrintStream out) {
        for (Outcome outcome : outcomes) {
            outcome.figures()
                    .forEach((key, value) -> out.println(
                            String.join(SEPARATOR, value instanceof Number ? NUMBER : FIGURE, key, value.toString())));
            out.println(String.join(
                    SEPARATOR, OUTCOME, outcome.status().name(), oneLine(outcome.claim()), oneLine(outcome.found())));
        }
    }

    private static String oneLine(String text) {
        return text.replaceAll("\\s+", " ");
    }

    /** Reads outcomes; ignores lines that CUPTI or the driver have printed. */
    static List<Outcome> read(List<String> lines) {
        List<Outcome> outcomes = new ArrayList<>();
        Map<String, Object> figures = new LinkedHashMap<>();
        for (String line : lines) {
            String[] parts = line.split(SEPARATOR, -1);
            if (parts.length == 3 && parts[0].equals(FIGURE)) {
                figures.put(parts[1], parts[2]);
            } else if (parts.length == 3 && parts[0].equals(NUMBER)) {
                figures.put(parts[1], Double.valueOf(parts[2]));
            } else if (parts.length == 4 && parts[0].equals(OUTCOME)) {
                outcomes.add(new Outcome(NAME, Outcome.Status.valueOf(parts[1]), parts[2], parts[3], figures));
                figures = new LinkedHashMap<>();
            }
        }
        return outcomes;
    }
}
