package org.brickprofiler.internal.device;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;

/**
 * Whether the true total of a kernel lies within its 95 % interval, for the sequences of kernels in traces of PyTorch's
 * profiler: pure computation, many draws from each sequence. A row is a kernel's name on a stream. A row of
 * {@value #FEWEST} kernels and more fails if the 99.9 % interval of its coverage lies below 92 %, unless more than
 * {@value #MOST_OUTLIERS_PERCENT} % of its samples are above three medians; such rows are printed. So are all sequences
 * repeated, as in pass after pass: without noise, what a sequence has once is missed by most draws, and the interval is
 * that of the rest.
 *
 * <p>Arguments: the number of draws of a row, and traces ({@code .json.gz}).
 */
public final class TraceSamplingStudy {

    private static final int[] SAMPLINGS = {8, 16, 32};

    /** The fewest kernels of a row, and of a row that is repeated. */
    private static final int FEWEST = 100;

    private static final int FEWEST_REPEATED = 4;

    /** The kernels of a repeated row, at least. */
    private static final int REPEATED = 1_000;

    private static final int MOST_OUTLIERS_PERCENT = 1;
    private static final int OUTLIER_MEDIANS = 3;
    private static final double NS_PER_US = 1_000;

    /** A launch of a kernel. */
    private record Kernel(String row, double startUs, long ns) {}

    private final SplittableRandom random = new SplittableRandom(1);
    private final int draws;
    private int missed;

    private TraceSamplingStudy(int draws) {
        this.draws = draws;
    }

    /** Prints the rows that are covered less often than promised, and how many are; fails if one has no reason. */
    public static void main(String... args) throws IOException {
        TraceSamplingStudy study = new TraceSamplingStudy(Integer.parseInt(args[0]));
        List<long[]> all = new ArrayList<>();
        for (int i = 1; i < args.length; i++) {
            all.addAll(rows(Path.of(args[i])));
        }
        List<long[]> rows = all.stream().filter(row -> row.length >= FEWEST).toList();
        List<long[]> repeated = all.stream()
                .filter(row -> row.length >= FEWEST_REPEATED)
                .map(TraceSamplingStudy::repeated)
                .toList();
        for (int every : SAMPLINGS) {
            study.look("as they are", true, rows, every);
            study.look("repeated", false, repeated, every);
        }
        if (rows.isEmpty() || study.missed > 0) {
            throw new AssertionError(
                    study.missed + " of " + (rows.size() + repeated.size()) + " rows are covered too seldom");
        }
    }

    private static long[] repeated(long[] row) {
        long[] all = new long[(REPEATED + row.length - 1) / row.length * row.length];
        Arrays.setAll(all, i -> row[i % row.length]);
        return all;
    }

    private void look(String kind, boolean mayFail, List<long[]> rows, int every) {
        int asPromised = 0;
        for (long[] ns : rows) {
            int covered = 0;
            for (int draw = 0; draw < draws; draw++) {
                covered += isCovered(ns, every) ? 1 : 0;
            }
            boolean isBelow = SamplingStudy.isBelow(covered, draws);
            double outliers = outliersPercent(ns);
            if (isBelow) {
                boolean isMissed = mayFail && outliers <= MOST_OUTLIERS_PERCENT;
                missed += isMissed ? 1 : 0;
                System.out.printf(
                        Locale.ROOT,
                        "N %d, %s: covered in %.1f %%: %d kernels, %.1f %% above three medians%s%n",
                        every,
                        kind,
                        100.0 * covered / draws,
                        ns.length,
                        outliers,
                        isMissed ? " !" : "");
            }
            asPromised += covered >= 0.95 * draws ? 1 : 0;
        }
        System.out.printf(
                "N %d, %s: %d of %d rows are covered in 95 %% or more%n", every, kind, asPromised, rows.size());
    }

    private boolean isCovered(long[] ns, int every) {
        DrawnBlocks blocks = new DrawnBlocks(every);
        long seed = random.nextLong();
        RowEstimate estimate = new RowEstimate();
        double truthNs = 0;
        for (int i = 0; i < ns.length; i++) {
            truthNs += ns[i];
            if (blocks.next(seed, i) == i) {
                estimate.sample(ns[i], blocks.size(i));
            } else {
                estimate.stopped(1);
            }
        }
        return SamplingStudy.covers(Estimate.of(estimate, 0), truthNs);
    }

    private static double outliersPercent(long[] ns) {
        long[] sorted = ns.clone();
        Arrays.sort(sorted);
        long most = OUTLIER_MEDIANS * sorted[sorted.length / 2];
        return 100.0 * Arrays.stream(ns).filter(each -> each > most).count() / ns.length;
    }

    private static List<long[]> rows(Path trace) throws IOException {
        List<Kernel> kernels = new ArrayList<>();
        try (JsonParser json = new JsonFactory().createParser(new GZIPInputStream(Files.newInputStream(trace)))) {
            while (json.nextToken() != null) {
                if (json.currentToken() == JsonToken.FIELD_NAME
                        && json.currentName().equals("traceEvents")
                        && json.nextToken() == JsonToken.START_ARRAY) {
                    while (json.nextToken() == JsonToken.START_OBJECT) {
                        addKernel(json, kernels);
                    }
                }
            }
        }
        kernels.sort(Comparator.comparingDouble(Kernel::startUs));
        Map<String, List<Long>> byRow = new TreeMap<>();
        kernels.forEach(kernel ->
                byRow.computeIfAbsent(kernel.row, none -> new ArrayList<>()).add(kernel.ns));
        return byRow.values().stream()
                .map(row -> row.stream().mapToLong(Long::longValue).toArray())
                .toList();
    }

    /** Adds the event whose object begins, if it is a kernel. */
    private static void addKernel(JsonParser json, List<Kernel> kernels) throws IOException {
        Map<String, String> values = new HashMap<>();
        while (json.nextToken() != JsonToken.END_OBJECT) {
            String name = json.currentName();
            if (json.nextToken().isScalarValue()) {
                values.put(name, json.getText());
            } else {
                json.skipChildren();
            }
        }
        if ("kernel".equals(values.get("cat"))) {
            kernels.add(new Kernel(
                    values.get("pid") + '/' + values.get("tid") + '/' + values.get("name"),
                    Double.parseDouble(values.get("ts")),
                    Math.round(NS_PER_US * Double.parseDouble(values.get("dur")))));
        }
    }
}
