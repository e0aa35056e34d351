package org.brickprofiler.gpucheck;

import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * Shows the cost of another profiler for comparison: PyTorch's, as {@code native/gpu-check/torch_cost.py} measured it
 * on the same device. Its file has a line {@code key=value} for each figure, or one with the {@code reason} for their
 * absence.
 */
final class TorchCost extends Check {

    private static final String CLAIM = "PyTorch's profiler, cost of an operation";

    private final @Nullable Path file;

    /**
     * Creates a check.
     *
     * @param file the file of measurements; null for none
     */
    TorchCost(@Nullable Path file) {
        super("torch");
        this.file = file;
    }

    @Override
    List<Outcome> run() {
        if (file == null) {
            return List.of(Outcome.notMade(name, CLAIM, "nobody measured it"));
        }
        Properties measured = new Properties();
        try (Reader lines = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
            measured.load(lines);
            return List.of(outcome(measured));
        } catch (IOException | IllegalArgumentException e) {
            return List.of(Outcome.notMade(name, CLAIM, "cannot read " + file + ": " + e.getMessage()));
        }
    }

    private Outcome outcome(Properties measured) {
        String reason = measured.getProperty("reason");
        if (reason != null) {
            return Outcome.notMade(name, CLAIM, reason);
        }
        double absentUs = number(measured, "absent_us");
        double profiledUs = number(measured, "profiled_us");
        double operations = number(measured, "operations");
        double costUs = (profiledUs - absentUs) / operations;
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("torch", measured.getProperty("torch", ""));
        figures.put("operations", operations);
        figures.put("absent_us", absentUs);
        figures.put("profiled_us", profiledUs);
        figures.put("cost_us", costUs);
        String found = String.format(
                Locale.ROOT,
                "%.2f us: a pass of %.0f operations takes %.0f us, and %.0f us under the profiler (%+.1f %%)",
                costUs,
                operations,
                absentUs,
                profiledUs,
                100 * (profiledUs - absentUs) / absentUs);
        return new Outcome(name, Outcome.Status.SHOWN, CLAIM, found, figures);
    }

    private static double number(Properties measured, String key) {
        String text = measured.getProperty(key);
        if (text == null) {
            throw new IllegalArgumentException("there is no " + key);
        }
        double number = Double.parseDouble(text);
        if (!(number > 0)) {
            throw new IllegalArgumentException(key + " is " + text);
        }
        return number;
    }
}
