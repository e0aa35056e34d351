package org.brickprofiler.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.brickprofiler.Environment;
import org.brickprofiler.bench.PairedBenchmark.Path;
import org.brickprofiler.device.cuda.CudaBindingBenchmark;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Prints the cost of each path as a multiple of its floor, as a Markdown table.
 *
 * <p>A round runs every benchmark once, each in a separate virtual machine, in a new random order. If a bound is tight,
 * path and floor take turns within one virtual machine ({@link PairedBenchmark}): the time of each is the first decile
 * of its turns, which other load of the core does not affect; the ratio of all turns is shown beside it. The other
 * ratios are taken within a round. The paths of {@link ColdBenchmark} are medians of single calls, in turns within one
 * virtual machine for each buffer. The table shows the median over the rounds.
 *
 * <p>Arguments: a pattern of names (all), {@code -rounds} (3), {@code -warmup} in ms (2,000; some of the other tools
 * need this long to be compiled), {@code -iterations} that are measured (3), {@code -ms} for each (400).
 */
public final class RatioTable {

    private static final String RECORDING = RecordingBenchmark.class.getSimpleName() + ".";
    private static final String COMPETITOR = CompetitorBenchmark.class.getSimpleName() + ".";
    private static final String KERNELS = KernelTimingsBenchmark.class.getSimpleName() + ".";
    private static final String THREADS = ThreadsBenchmark.class.getSimpleName() + ".";

    private static final String GRAPH = GraphBenchmark.class.getSimpleName() + ".";
    private static final String CHECKSUM = ChecksumBenchmark.class.getSimpleName() + ".";

    private static final String SLOW = SlowStepBenchmark.class.getSimpleName() + ".";
    private static final String REQUEST = RequestBenchmark.class.getSimpleName() + ".";
    private static final String BINDING = CudaBindingBenchmark.class.getSimpleName() + ".";

    private static final String PAIRED = PairedBenchmark.class.getSimpleName() + ".";
    private static final String COLD = ColdBenchmark.class.getSimpleName() + ".";

    // After the name of a pair: its floor, and the ratio of all turns.
    private static final String FLOOR = "/floor";
    private static final String ALL = "/all";

    private static final int WARMUP_ITERATIONS = 4;

    private static final String LOOP = RECORDING + "floorEmptyLoop";
    private static final String TWO_READS_BESIDE = COMPETITOR + "floorTwoClockReads";

    private static final List<Row> ROWS = Stream.of(hotRows(), coldRows("24", 100, 600), coldRows("256", 400, 2_000))
            .flatMap(List::stream)
            .toList();

    private RatioTable() {}

    private static List<Row> hotRows() {
        return List.of(
                atMost(1.10, "start + stop by id", Path.BY_ID),
                atMost(1.05, "start + stop by id, bound to its thread", Path.BY_ID_BOUND),
                shown("start + stop by id, on a second thread", Path.BY_ID_SECOND_THREAD),
                atMost(1.10, "start + stop by key", Path.BY_KEY),
                atMost(1.20, "start + stop with percentiles", Path.WITH_PERCENTILES),
                atMost(1.22, "start + stop with a timeline", Path.WITH_TIMELINE),
                paired("start + stop with lines, over without", Path.WITH_LINES, Kind.NS_OVER, 3),
                atMost(1.35, "start + stop by dynamic name", Path.BY_NAME),
                shown("start + stop by alias", Path.BY_ALIAS),
                atMost(0.62, "lap by id", Path.LAP_BY_ID),
                shown("lap by key", Path.LAP_BY_KEY),
                new Row("off, start + stop", RECORDING + "startStopOff", LOOP, Kind.NS_OVER, 1.0),
                atMost(1.4, "elapsedNs + recordDeferred + share of finalize", Path.DEFERRED),
                shown("record", Path.RECORD),
                shown("scope", Path.SCOPE),
                shown("tile, start + stop", Path.TILE),
                shown("graph, a brick", GRAPH + "brickOn", GRAPH + "floorTwoClockReads"),
                shown("graph, a brick past the budget", GRAPH + "brickPastTheBudget", GRAPH + "floorTwoClockReads"),
                shown("graph, off", GRAPH + "brickOff", GRAPH + "floorTwoClockReads"),
                shown("checksum of 64 floats, to their sum", CHECKSUM + "first64", CHECKSUM + "floorSumOf64"),
                shown("checksum of a tensor, to its sum", CHECKSUM + "whole", CHECKSUM + "floorSumOfAll"),
                shown("kernel timing, record", KERNELS + "record", KERNELS + "floorOneClockRead"),
                shown("kernel timing, off", KERNELS + "recordOff", KERNELS + "floorEmptyLoop"),
                new Row(
                        "kernel timing, switched off by property",
                        KERNELS + "recordSwitchedOff",
                        KERNELS + "floorEmptyLoop",
                        Kind.NS_OVER,
                        0.1),
                atMost(1.25, "brick on a simulated CUDA stream", Path.MARKED),
                atMost(0.7, "the same by lap", Path.MARKED_BY_LAP),
                shown("the same, start and stop, to the resolved sample", Path.MARKED_TO_THE_END),
                paired("the same with deviceSampling, unmarked", Path.UNMARKED, Kind.NS_OVER, 15),
                paired("the same by lap, unmarked", Path.UNMARKED_BY_LAP, Kind.NS_OVER, 15),
                new Row("a request in a step", REQUEST + "inStep", REQUEST + "floorStores", Kind.NS_OVER, 25),
                new Row(
                        "a request, arrival and finish",
                        REQUEST + "arriveAndFinish",
                        REQUEST + "floorTwoClockReads",
                        Kind.NS_OVER,
                        400),
                new Row(
                        "a step with 256 requests",
                        REQUEST + "stepOf256",
                        REQUEST + "floorTwoClockReads",
                        Kind.NS_OVER,
                        10_000),
                new Row(
                        "a step of 23 bricks, slow steps kept",
                        SLOW + "keepsSlowSteps",
                        SLOW + "floorPlainTimeline",
                        Kind.NS_OVER,
                        3_000),
                shown("cuEventRecord through JCuda", BINDING + "recordThroughJCuda", BINDING + "floorRecord"),
                shown("cuEventRecord through JNA", BINDING + "recordThroughJna", BINDING + "recordThroughJCuda"),
                shown("cuEventQuery through JNA", BINDING + "queryThroughJna", BINDING + "queryThroughJCuda"),
                shown(
                        "cuEventElapsedTime through JNA",
                        BINDING + "elapsedTimeThroughJna",
                        BINDING + "elapsedTimeThroughJCuda"),
                new Row("two threads to one", THREADS + "twoThreads", THREADS + "oneThread", Kind.AT_LEAST, 1.9),
                shown("(clock reads, two threads to one)", THREADS + "floorTwoThreads", THREADS + "floorOneThread"),
                shown("Brick Profiler", COMPETITOR + "brickProfiler", TWO_READS_BESIDE),
                shown("PerfMark", COMPETITOR + "perfMark", TWO_READS_BESIDE),
                shown("PerfMark, off", COMPETITOR + "perfMarkOff", TWO_READS_BESIDE),
                shown("HdrHistogram SingleWriterRecorder", COMPETITOR + "hdrSingleWriter", TWO_READS_BESIDE),
                shown("HdrHistogram Recorder", COMPETITOR + "hdrRecorder", TWO_READS_BESIDE),
                shown("Micrometer Timer.record", COMPETITOR + "micrometerRecord", TWO_READS_BESIDE),
                shown("Micrometer Timer.Sample", COMPETITOR + "micrometerSample", TWO_READS_BESIDE),
                shown("Dropwizard Timer", COMPETITOR + "dropwizard", TWO_READS_BESIDE),
                shown("JFR event", COMPETITOR + "jfrEvent", TWO_READS_BESIDE),
                shown("JFR event, off", COMPETITOR + "jfrEventOff", TWO_READS_BESIDE),
                shown("OpenTelemetry span", COMPETITOR + "openTelemetry", TWO_READS_BESIDE),
                shown("OpenTelemetry span, not sampled", COMPETITOR + "openTelemetryNotSampled", TWO_READS_BESIDE));
    }

    /**
     * Returns the rows of {@link ColdBenchmark} with one buffer.
     *
     * @param percentilesNs the bound of percentiles over a plain brick, ns
     * @param stepNs the bound of a step over two clock reads, ns
     */
    private static List<Row> coldRows(String megabytes, double percentilesNs, double stepNs) {
        String cold = COLD + megabytes + ".";
        String when = "cold, " + megabytes + " MB: ";
        BiFunction<String, String, Row> over =
                (what, name) -> new Row(when + what, cold + name, cold + "twoClockReads", Kind.SHOWN_OVER, 0);
        return List.of(
                over.apply("one row of an array", "oneRow"),
                over.apply("brick by constant id", "brick"),
                over.apply("brick bound to its thread", "bound"),
                over.apply("brick by a variable id", "variable"),
                over.apply("brick with percentiles", "withPercentiles"),
                new Row(
                        when + "percentiles, over a brick without",
                        cold + "withPercentiles",
                        cold + "brick",
                        Kind.NS_OVER,
                        percentilesNs),
                over.apply("lap, two bricks", "lap"),
                new Row(when + "a step", cold + "step", cold + "twoClockReads", Kind.NS_OVER, stepNs),
                over.apply("a step, 8 threads have recorded", "stepAfterThreads"),
                over.apply("a step of 23 bricks", "stepOfBricks"),
                over.apply("a step of 23 bricks with percentiles", "stepOfBricksWithPercentiles"),
                over.apply("PerfMark", "perfMark"),
                over.apply("HdrHistogram SingleWriterRecorder", "hdrSingleWriter"),
                over.apply("Micrometer Timer.record", "micrometerRecord"),
                over.apply("Micrometer Timer.Sample", "micrometerSample"));
    }

    private enum Kind {
        AT_MOST,
        AT_LEAST,
        NS_OVER,
        SHOWN,
        SHOWN_OVER
    }

    private record Row(String what, String benchmark, String floor, Kind kind, double bound) {
        double compare(double value, double floorValue) {
            return isDifference() ? value - floorValue : value / floorValue;
        }

        boolean isDifference() {
            return kind == Kind.NS_OVER || kind == Kind.SHOWN_OVER;
        }

        String boundText() {
            return switch (kind) {
                case AT_MOST -> format("≤ %.2f ×", bound);
                case AT_LEAST -> format("≥ %.2f ×", bound);
                case NS_OVER -> format("≤ floor + %.2f ns", bound);
                case SHOWN, SHOWN_OVER -> "";
            };
        }

        String verdict(double compared) {
            return switch (kind) {
                case AT_MOST, NS_OVER -> compared <= bound ? "ok" : "over";
                case AT_LEAST -> compared >= bound ? "ok" : "under";
                case SHOWN, SHOWN_OVER -> "";
            };
        }
    }

    private static Row atMost(double bound, String what, Path path) {
        return paired(what, path, Kind.AT_MOST, bound);
    }

    private static Row shown(String what, Path path) {
        return paired(what, path, Kind.SHOWN, 0);
    }

    private static Row paired(String what, Path path, Kind kind, double bound) {
        return new Row(what, PAIRED + path, PAIRED + path + FLOOR, kind, bound);
    }

    private static Row shown(String what, String benchmark, String floor) {
        return new Row(what, benchmark, floor, Kind.SHOWN, 0);
    }

    /**
     * Runs the rounds and prints the table.
     *
     * @param args the arguments that the class describes
     * @throws RunnerException if a benchmark fails
     */
    public static void main(String[] args) throws RunnerException {
        String pattern = args.length > 0 && !args[0].startsWith("-") ? args[0] : ".*";
        int rounds = option(args, "-rounds", 3);
        int warmupMs = option(args, "-warmup", 2_000);
        int iterations = option(args, "-iterations", 3);
        int ms = option(args, "-ms", 400);
        List<Row> rows = ROWS.stream()
                .filter(row -> Pattern.compile(pattern).matcher(row.benchmark).find())
                .toList();
        if (rows.isEmpty()) {
            throw new IllegalArgumentException("no benchmark matches '" + pattern + "'");
        }
        List<Map<String, Double>> scores = new ArrayList<>();
        Random order = new Random(rounds);
        for (int round = 1; round <= rounds; round++) {
            System.err.printf("round %d of %d%n", round, rounds);
            scores.add(runRound(rows, order, warmupMs, iterations, ms));
        }
        System.out.println(table(rows, scores));
        Environment here = Environment.current();
        System.out.printf(
                Locale.ROOT,
                "`%s %s`, %d rounds of %d × %d ms after %d ms of warm-up; %s%n",
                RatioTable.class.getName(),
                String.join(" ", args),
                rounds,
                iterations,
                ms,
                warmupMs,
                here);
    }

    private static int option(String[] args, String name, int otherwise) {
        int at = Arrays.asList(args).indexOf(name);
        return at < 0 || at + 1 == args.length ? otherwise : Integer.parseInt(args[at + 1]);
    }

    private static Map<String, Double> runRound(List<Row> rows, Random order, int warmupMs, int iterations, int ms)
            throws RunnerException {
        Set<String> wanted = new LinkedHashSet<>();
        for (Row row : rows) {
            wanted.add(run(row.benchmark));
            if (!row.floor.endsWith(FLOOR)) {
                wanted.add(run(row.floor));
            }
        }
        List<String> shuffled = new ArrayList<>(wanted);
        Collections.shuffle(shuffled, order);
        Map<String, Double> scores = new HashMap<>();
        for (String benchmark : shuffled) {
            if (benchmark.startsWith(COLD)) {
                scores.putAll(cold(benchmark));
                continue;
            }
            boolean paired = benchmark.startsWith(PAIRED);
            ChainedOptionsBuilder options = new OptionsBuilder()
                    .include(Pattern.quote("." + (paired ? PAIRED + "turns" : benchmark)) + "$")
                    .forks(1)
                    .warmupIterations(WARMUP_ITERATIONS)
                    .warmupTime(TimeValue.milliseconds(warmupMs / WARMUP_ITERATIONS))
                    .measurementIterations(iterations)
                    .measurementTime(TimeValue.milliseconds(ms))
                    .verbosity(VerboseMode.SILENT)
                    .shouldFailOnError(true);
            if (paired) {
                options.param("path", benchmark.substring(PAIRED.length()));
            }
            RunResult result = new Runner(options.build()).run().iterator().next();
            if (paired) {
                int bricks = Path.valueOf(benchmark.substring(PAIRED.length())).bricks();
                scores.put(benchmark, turn(result, "pathQuietNs") / bricks);
                scores.put(benchmark + FLOOR, turn(result, "floorQuietNs") / bricks);
                scores.put(benchmark + ALL, turn(result, "pathAvgNs") / turn(result, "floorAvgNs"));
            } else {
                scores.put(benchmark, result.getPrimaryResult().getScore());
            }
        }
        return scores;
    }

    /** Returns the name of the run that measures a benchmark: one measures all paths of a {@link ColdBenchmark}. */
    private static String run(String benchmark) {
        return benchmark.startsWith(COLD) ? benchmark.substring(0, benchmark.lastIndexOf('.') + 1) : benchmark;
    }

    private static Map<String, Double> cold(String run) throws RunnerException {
        Options options = new OptionsBuilder()
                .include(Pattern.quote("." + COLD + "turns") + "$")
                .param("megabytes", run.substring(COLD.length(), run.length() - 1))
                .forks(1)
                .verbosity(VerboseMode.SILENT)
                .shouldFailOnError(true)
                .build();
        Map<String, Double> scores = new HashMap<>();
        new Runner(options)
                .run()
                .iterator()
                .next()
                .getSecondaryResults()
                .forEach((name, median) -> scores.put(run + name, median.getScore()));
        return scores;
    }

    private static double turn(RunResult result, String counter) {
        return counter(result, counter) / counter(result, "iterations");
    }

    private static double counter(RunResult result, String name) {
        return Objects.requireNonNull(result.getSecondaryResults().get(name), name)
                .getScore();
    }

    private static String table(List<Row> rows, List<Map<String, Double>> scores) {
        StringBuilder text = new StringBuilder(
                "| what | measured | floor | to floor | lowest..highest round | all turns | bound | |\n");
        text.append("|---|---:|---:|---:|---|---|---|---|\n");
        for (Row row : rows) {
            double[] values = sorted(scores, row.benchmark);
            double[] floors = sorted(scores, row.floor);
            double[] compared = scores.stream()
                    .mapToDouble(round -> row.compare(score(round, row.benchmark), score(round, row.floor)))
                    .sorted()
                    .toArray();
            double[] all = sorted(scores, row.benchmark + ALL);
            String unit = row.benchmark.startsWith(THREADS) ? "/us" : " ns";
            text.append(format(
                    "| %s | %.2f%s | %.2f%s | %s | %.2f..%.2f | %s | %s | %s |%n",
                    row.what,
                    median(values),
                    unit,
                    median(floors),
                    unit,
                    format(row.isDifference() ? "%+.2f ns" : "%.2f ×", median(compared)),
                    compared[0],
                    compared[compared.length - 1],
                    Double.isNaN(all[0]) ? "" : format("%.2f ×", median(all)),
                    row.boundText(),
                    row.verdict(median(compared))));
        }
        return text.toString();
    }

    private static double[] sorted(List<Map<String, Double>> scores, String benchmark) {
        return scores.stream()
                .mapToDouble(round -> score(round, benchmark))
                .sorted()
                .toArray();
    }

    private static double score(Map<String, Double> round, String benchmark) {
        return round.getOrDefault(benchmark, Double.NaN);
    }

    private static double median(double[] sorted) {
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    private static String format(String pattern, Object... values) {
        return String.format(Locale.ROOT, pattern, values);
    }
}
