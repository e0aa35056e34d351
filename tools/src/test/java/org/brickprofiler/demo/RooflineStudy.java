package org.brickprofiler.demo;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.Work;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.roofline.BrickRoofline;
import org.brickprofiler.roofline.BrickRoofline.Bound;
import org.brickprofiler.roofline.BrickRoofline.Distance;
import org.brickprofiler.roofline.MachineRoof;
import org.brickprofiler.roofline.RooflineReport;
import org.brickprofiler.spi.NanoClock;

/**
 * Checks over many runs that bricks of the demonstration, and loops close to a roof, stay below their roofs, and that
 * their limit is the same each time. A run is a new decoder with a new profiler, a few tokens of warm-up, and the
 * tokens that count; several runs follow each other in one process, and there are several processes. Profiles stay in a
 * folder: a further call adds to them.
 *
 * <p>Arguments: the folder, the number of processes, and the runs of each model in each process.
 */
final class RooflineStudy {

    /** A model, and how many tokens a run decodes, chosen so that a run takes half a second or less. */
    private record Model(String name, ModelConfig config, int tokens) {}

    /**
     * The default of the demonstration, which no cache but the largest holds, and one that fits a second-level cache.
     */
    private static final List<Model> MODELS = List.of(
            new Model("default", new ModelConfig(12, 512, 8, 4, 1_408, 16_000, 256), 16),
            new Model("small", new ModelConfig(2, 128, 4, 2, 352, 800, 256), 200));

    private static final String CONTROLS = "controls";
    private static final int COPIED_BYTES = 64 << 20;
    private static final int CHAINS = 2_048;
    private static final int CHAIN_PASSES = 20_000;
    private static final int CONTROL_SAMPLES = 3;

    private static final int THREADS = 2;
    private static final int WARMUP = 8;
    private static final int SEED = 1;

    /** Runs before those that count, while the compilers work. */
    private static final int RUNS_BEFORE = 6;

    private RooflineStudy() {}

    /** The results for one brick of one model. */
    private static final class Outcomes {
        private final Map<Bound, Integer> bounds = new EnumMap<>(Bound.class);
        private int runs;
        private int above;
        private double most;
        private double least = Double.POSITIVE_INFINITY;

        void add(Distance brick) {
            runs++;
            bounds.merge(brick.bound(), 1, Integer::sum);
            above += brick.isAboveRoof() ? 1 : 0;
            most = Math.max(most, 1 - brick.distance());
            least = Math.min(least, 1 - brick.distance());
        }

        String line(String name) {
            Map.Entry<Bound, Integer> usual =
                    bounds.entrySet().stream().max(Map.Entry.comparingByValue()).orElseThrow();
            return String.format(
                    Locale.ROOT,
                    "%-18s %5d  %-9s %6.1f %%   %7.2f to %7.2f %%   %5d",
                    name,
                    runs,
                    usual.getKey().name().toLowerCase(Locale.ROOT),
                    100.0 * usual.getValue() / runs,
                    100 * least,
                    100 * most,
                    above);
        }
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        Path folder = Path.of(args[0]);
        Path roof = folder.resolve("roof.json");
        Files.createDirectories(folder);
        if (args[1].equals("one")) {
            runs(folder, Integer.parseInt(args[2]));
            return;
        }
        if (Files.notExists(roof)) {
            RooflineReport.write(MachineRoof.measure(Runtime.getRuntime().maxMemory() / 2), roof);
        }
        for (int process = 0; process < Integer.parseInt(args[1]); process++) {
            child(folder, args[2]);
        }
        print(folder, RooflineReport.read(roof));
    }

    private static void child(Path folder, String runs) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        RooflineStudy.class.getName(),
                        folder.toString(),
                        "one",
                        runs)
                .inheritIO()
                .start();
        if (!process.waitFor(5, TimeUnit.MINUTES) || process.exitValue() != 0) {
            process.destroyForcibly();
            throw new IOException("a process of the study failed");
        }
    }

    private static void runs(Path folder, int runs) throws IOException {
        for (Model model : MODELS) {
            Weights weights = Weights.random(model.config(), SEED);
            for (int run = -RUNS_BEFORE; run < runs; run++) {
                DecodeRun result = run(weights, model.tokens());
                if (run >= 0) {
                    result = run == 0 ? result.withMachine(MachineRoof.measureBriefly()) : result;
                    write(result.snapshot(), folder, model.name(), run);
                }
            }
        }
        controls(folder, runs);
    }

    /**
     * Loops that ought to reach a roof, on one thread: a copy of memory, and chains of fused multiply-adds in the first
     * cache.
     */
    private static void controls(Path folder, int runs) throws IOException {
        float[] from = new float[COPIED_BYTES / Float.BYTES];
        float[] to = new float[from.length];
        float[] values = new float[CHAINS];
        for (int run = -RUNS_BEFORE; run < runs; run++) {
            BrickProfiler profiler = BrickProfiler.enabled();
            int copy = profiler.brickKey("copy of memory");
            int chains = profiler.brickKey("multiply-adds");
            for (int i = 0; i < CONTROL_SAMPLES; i++) {
                long timer = profiler.startBrick(copy);
                System.arraycopy(from, 0, to, 0, from.length);
                timer = profiler.lap(timer, 1, chains);
                for (int pass = 0; pass < CHAIN_PASSES; pass++) {
                    multiplyAdd(values);
                }
                profiler.stopBrick(timer, 1);
                profiler.recordWork(copy, new Work(0, 2L * COPIED_BYTES, 2L * COPIED_BYTES));
                profiler.recordWork(chains, new Work(16L * CHAINS * CHAIN_PASSES, 0, 0));
            }
            if (run >= 0) {
                write(profiler.snapshot(), folder, CONTROLS, run);
            }
        }
    }

    private static void multiplyAdd(float[] values) {
        for (int i = 0; i < values.length; i++) {
            float v = values[i];
            v = Math.fma(v, 0.999f, 0.001f);
            v = Math.fma(v, 0.999f, 0.001f);
            v = Math.fma(v, 0.999f, 0.001f);
            v = Math.fma(v, 0.999f, 0.001f);
            v = Math.fma(v, 0.999f, 0.001f);
            v = Math.fma(v, 0.999f, 0.001f);
            v = Math.fma(v, 0.999f, 0.001f);
            values[i] = Math.fma(v, 0.999f, 0.001f);
        }
    }

    private static void write(ProfileSnapshot profile, Path folder, String model, int run) throws IOException {
        String name = model + "-" + ProcessHandle.current().pid() + "-" + run + ".json";
        JsonReport.write(profile, folder.resolve(name));
    }

    private static DecodeRun run(Weights weights, int tokens) {
        BrickProfiler profiler = BrickProfiler.enabled();
        Sampler greedy = new Sampler(0, 1, SEED);
        try (Decoder decoder = new Decoder(weights, greedy, THREADS, Decoder.Instruments.of(profiler))) {
            DecodeRun.Limit limit = new DecodeRun.Limit(tokens, DecodeRun.Limit.NO_TIME);
            return DecodeRun.run(decoder, profiler, WARMUP, limit, NanoClock.SYSTEM, DecodeProgress.SILENT);
        }
    }

    private static void print(Path folder, MachineRoof machine) throws IOException {
        System.out.print(RooflineReport.render(machine));
        List<String> models = new ArrayList<>(MODELS.stream().map(Model::name).toList());
        models.add(CONTROLS);
        for (String model : models) {
            Map<String, Outcomes> bricks = new TreeMap<>();
            List<Double> attained = new ArrayList<>();
            List<String> remarks = new ArrayList<>();
            try (DirectoryStream<Path> profiles = Files.newDirectoryStream(folder, model + "-*.json")) {
                for (Path profile : profiles) {
                    BrickRoofline roofline =
                            BrickRoofline.of(JsonReport.read(profile), machine, model.equals(CONTROLS) ? 1 : THREADS);
                    attained.add(roofline.attained());
                    remarks.addAll(roofline.remarks());
                    roofline.bricks().forEach(brick -> bricks.computeIfAbsent(brick.name(), n -> new Outcomes())
                            .add(brick));
                }
            }
            attained.sort(null);
            System.out.printf(
                    Locale.ROOT,
                    "%n%s: %d runs; all bricks at their roofs would take %.1f %% of their time (median)%n",
                    model,
                    attained.size(),
                    attained.isEmpty() ? 0 : 100 * attained.get(attained.size() / 2));
            System.out.println("brick               runs  bound by      runs   of the roof             above");
            remarks.forEach(System.out::println);
            bricks.forEach((name, outcomes) -> System.out.println(outcomes.line(name)));
        }
    }
}
