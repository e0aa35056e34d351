package org.brickprofiler.demo;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.System.Logger.Level;
import java.lang.management.ManagementFactory;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import javax.management.JMException;
import javax.management.ObjectName;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.console.MachineWatch;
import org.brickprofiler.console.OutputFile;
import org.brickprofiler.console.Terminal;
import org.brickprofiler.demo.TiledProduct.Tiling;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.metrics.jmx.BrickProfileBean;
import org.brickprofiler.report.HtmlReport;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.roofline.MachineRoof;
import org.brickprofiler.spi.NanoClock;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Decodes tokens with a small transformer of random weights and prints the distribution of the time. Exit code 0; 1 if
 * the device is missing or its results differ; 2 for bad input. Errors are reported in one line.
 */
@CommandLine.Command(
        name = "demo",
        sortOptions = false,
        sortSynopsis = false,
        usageHelpWidth = 100,
        description = "Decodes tokens with a small transformer of random weights, and prints where the time went. The "
                + "defaults take about 20 seconds.",
        optionListHeading = "%nOptions, with their defaults:%n",
        footerHeading = "%nExamples:%n",
        footer = {
            "  A short run of a small model:",
            "    brick demo --layers 4 --tokens 200",
            "  One thread, always the likeliest token, results elsewhere:",
            "    brick demo --threads 1 --temperature 0 --json one.json",
            "  A page for a browser:",
            "    brick demo --html out.html",
            "  A timeline for Perfetto, and the graph of one pass:",
            "    brick demo --tokens 50 --trace pass.pftrace --graph pass.dot",
            "  Requests with prompts of mixed length, whole prompts or chunks of them:",
            "    brick demo --serve --rate 2 --slots 4",
            "    brick demo --serve --rate 2 --slots 4 --chunk 16",
            "  On a GPU: the processor's results, each brick's time on the device, and what watching costs:",
            "    brick demo --device cuda --tokens 200",
            "    brick demo --device opencl:0 --tokens 200",
            "  Checksums of every brick, with one value changed on purpose, and where that shows:",
            "    brick demo --tokens 5 --checksums a.jsonl",
            "    brick demo --tokens 5 --checksums b.jsonl --perturb 1:RmsNorm",
            "    brick diverge b.jsonl a.jsonl"
        })
public final class Demo implements Callable<Integer> {

    private static final int BAD_INPUT = CommandLine.ExitCode.USAGE;

    private static final long BYTES_PER_MB = 1_000_000;

    @Spec
    private CommandSpec spec;

    @Mixin
    private DemoOptions options;

    @Mixin
    private ServeOptions serving;

    @SuppressWarnings("unused") // picocli reads it
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Print this and end.")
    private boolean help;

    private Demo() {}

    /**
     * Runs the demonstration. Returns after success, so that it may run inside another program; otherwise ends the
     * virtual machine with the exit code.
     *
     * @param args the options; {@code --help} lists them
     */
    public static void main(String[] args) {
        Terminal.printMessages(Level.INFO);
        int exitCode = commandLine().execute(args);
        if (exitCode != CommandLine.ExitCode.OK) {
            System.exit(exitCode);
        }
    }

    /**
     * Returns the command, with one line for every kind of bad input: on its own, or as a command of another program,
     * whose name then precedes its messages.
     *
     * @return a new one each time; one thread
     */
    public static CommandLine commandLine() {
        return new CommandLine(new Demo())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler((badInput, args) -> refuse(badInput.getCommandLine(), badInput));
    }

    private static int refuse(CommandLine command, Exception badInput) {
        return fail(command, badInput.getMessage() + " (--help lists the options)");
    }

    private static int fail(CommandLine command, String message) {
        report(command, message);
        return BAD_INPUT;
    }

    private static void report(CommandLine command, String message) {
        PrintWriter err = command.getErr();
        String program = command.getCommandSpec().root().name();
        err.println(program + ": " + message.lines().collect(Collectors.joining(" ")));
        err.flush();
    }

    @Override
    public Integer call() {
        try {
            if (serving.serves()) {
                return serve(serving.load());
            }
            Optional<DeviceChoice> device = options.device();
            return device.isPresent() ? onDevice(device.get()) : onProcessor();
        } catch (IllegalArgumentException badInput) {
            return refuse(spec.commandLine(), badInput);
        }
    }

    /** Runs on a device. If the device is missing, nothing is prepared, and no file is opened. */
    private int onDevice(DeviceChoice device) {
        Optional<String> missing = device.missing();
        if (missing.isPresent()) {
            report(spec.commandLine(), missing.get());
            return CommandLine.ExitCode.SOFTWARE;
        }
        for (@Nullable Path file : new @Nullable Path[] {options.json(), options.html()}) {
            if (file != null) {
                OutputFile.requireWritable(file);
            }
        }
        PrintWriter out = spec.commandLine().getOut();
        try (Decoder reference = decoder(Decoder.Instruments.NONE)) {
            describe(reference.config(), out);
            DecodeRun run = new DeviceDemo(options, reference, out).run(device, this::progress);
            writeResults(run.snapshot(), Map.of(), HtmlReport.of(run.snapshot()), out);
        } catch (DeviceFailure failed) {
            report(spec.commandLine(), String.valueOf(failed.getMessage()));
            return CommandLine.ExitCode.SOFTWARE;
        } catch (IOException e) {
            return fail(spec.commandLine(), String.valueOf(e.getMessage()));
        }
        return CommandLine.ExitCode.OK;
    }

    private int onProcessor() {
        Recordings recordings = new Recordings(options);
        BrickProfiler profiler = profiler(recordings);
        Decoder decoder = decoder(recordings.instruments(profiler));
        PrintWriter out = spec.commandLine().getOut();
        DecodeRun run;
        try (decoder) {
            describe(decoder.config(), out);
            run = decode(decoder, profiler, recordings);
        }
        if (options.calibrate()) {
            profiler.calibrate();
            run = run.with(profiler.snapshot());
        }
        if (options.checksRoof()) {
            run = run.withMachine(MachineRoof.measureBriefly());
        }
        report(run, out);
        try {
            recordings.write(profiler, out);
            writeResults(
                    run.snapshot(),
                    recordings.lines(run.snapshot()),
                    recordings.on(HtmlReport.of(run.snapshot())
                            .withTiles(profiler.tiles().places())),
                    out);
        } catch (IOException e) {
            return fail(spec.commandLine(), String.valueOf(e.getMessage()));
        }
        out.flush();
        return CommandLine.ExitCode.OK;
    }

    private int serve(ServeOptions.Load load) {
        options.requireServing();
        Recordings recordings = new Recordings(options);
        BrickProfiler profiler = profiler(recordings);
        ModelConfig config = options.model(ServeRun.LONGEST_SEQUENCE);
        PrintWriter out = spec.commandLine().getOut();
        Weights weights = weights(config);
        try (WorkerPool pool = new WorkerPool(options.threads())) {
            describe(config, out);
            warmUp(weights, pool);
            Decoder.Instruments instruments = Decoder.Instruments.inSteps(profiler);
            ServeRun run = new ServeRun(
                    profiler,
                    load,
                    request ->
                            new Decoder(weights, options.sampler(options.seed() + request.number()), pool, instruments),
                    NanoClock.SYSTEM,
                    options.seed());
            profiler.reset();
            MachineWatch watch = MachineWatch.begin(MachineWatch.ROOT);
            serveWatched(run, profiler);
            ProfileSnapshot recorded = profiler.snapshot();
            ProfileSnapshot snapshot = recorded.withFacts(watch.seen(recorded.facts()));
            out.printf(
                    Locale.ROOT,
                    "%s, %s a second, %s, prompts %s%n%n",
                    Plural.of(load.requests(), "request"),
                    BigDecimal.valueOf(load.rate()).stripTrailingZeros().toPlainString(),
                    Plural.of(load.slots(), "slot"),
                    load.chunk() == 0 ? "whole" : "in chunks of " + Plural.of(load.chunk(), "token"));
            DecodeRun.printReport(snapshot, options.isVerbose(), "", out);
            recordings.write(profiler, out);
            writeResults(
                    snapshot,
                    recordings.lines(snapshot),
                    recordings.on(
                            HtmlReport.of(snapshot).withTiles(profiler.tiles().places())),
                    out);
        } catch (IOException e) {
            return fail(spec.commandLine(), String.valueOf(e.getMessage()));
        }
        return CommandLine.ExitCode.OK;
    }

    /** Serves while {@code brick top} can watch. */
    private static void serveWatched(ServeRun run, BrickProfiler profiler) {
        ObjectName bean = BrickProfileBean.register(profiler, "demo");
        try {
            run.run();
        } finally {
            unregister(bean);
        }
    }

    private static void unregister(ObjectName bean) {
        try {
            ManagementFactory.getPlatformMBeanServer().unregisterMBean(bean);
        } catch (JMException gone) {
            throw new IllegalStateException(gone);
        }
    }

    /** Lets the compiler see the passes before the first request arrives. */
    private void warmUp(Weights weights, WorkerPool pool) {
        Decoder decoder = new Decoder(weights, options.sampler(), pool, Decoder.Instruments.NONE);
        for (int i = 0; i < Math.min(options.warmup(), ServeRun.LONGEST_SEQUENCE); i++) {
            decoder.decode(DecodeRun.BEGIN_OF_SEQUENCE);
        }
    }

    /**
     * Writes the profile and the page.
     *
     * @param further further entries of both; empty for none
     */
    private void writeResults(ProfileSnapshot snapshot, Map<String, Object> further, HtmlReport page, PrintWriter out)
            throws IOException {
        Path json = options.json();
        if (json != null) {
            JsonReport.write(snapshot, further, json);
            out.println("JSON: " + json.toAbsolutePath());
        }
        Path html = options.html();
        if (html != null) {
            (further.isEmpty() ? page : page.withFurther(further)).write(html);
            out.println("HTML: " + html.toAbsolutePath());
        }
        out.flush();
    }

    private BrickProfiler profiler(Recordings recordings) {
        BrickProfiler profiler = recordings
                .on(BrickProfiler.builder().percentiles(options.percentiles()))
                .build();
        profiler.setSyncMode(options.syncMode());
        profiler.enable();
        if (options.tiles()) {
            profiler.tiles().enable();
            if (options.html() != null) {
                ModelConfig config = options.model();
                // The matrices with the most blocks of rows, and of columns.
                profiler.tiles()
                        .recordPlaces(
                                Tiling.of(config.vocab(), config.dim(), options.threads())
                                        .rowBlocks(),
                                Tiling.of(config.dim(), config.ffnDim(), options.threads())
                                        .colBlocks());
            }
        }
        return profiler;
    }

    /** Checks, before the work begins, everything that could fail. */
    private Decoder decoder(Decoder.Instruments instruments) {
        ModelConfig config = options.model();
        Sampler sampler = options.sampler();
        return new Decoder(weights(config), sampler, options.threads(), instruments);
    }

    private Weights weights(ModelConfig config) {
        if (config.memoryBytes() > Runtime.getRuntime().maxMemory()) {
            throw tooLarge(config);
        }
        try {
            return Weights.random(config, options.seed());
        } catch (OutOfMemoryError e) {
            // The collector decides how much of the heap large arrays can use, so only an attempt shows it.
            throw tooLarge(config);
        }
    }

    private static IllegalArgumentException tooLarge(ModelConfig config) {
        return new IllegalArgumentException(String.format(
                Locale.ROOT,
                "the model takes %d MB, too much for a heap of %d MB: choose a smaller one, or a larger -Xmx",
                config.memoryBytes() / BYTES_PER_MB,
                Runtime.getRuntime().maxMemory() / BYTES_PER_MB));
    }

    private DecodeRun decode(Decoder decoder, BrickProfiler profiler, Recordings recordings) {
        try (DecodeProgress progress = recordings.following(progress())) {
            return DecodeRun.run(decoder, profiler, options.warmup(), options.limit(), NanoClock.SYSTEM, progress);
        }
    }

    private void describe(ModelConfig config, PrintWriter out) {
        out.printf(
                Locale.ROOT,
                "Llama decoder, random weights: layers %d, dim %d, heads %d (%d for keys and values), FFN %d, "
                        + "vocabulary %d%n%.1f M parameters, %d MB with the KV cache; seed %d, threads %d%n",
                config.layers(),
                config.dim(),
                config.heads(),
                config.kvHeads(),
                config.ffnDim(),
                config.vocab(),
                config.parameters() / 1e6,
                config.memoryBytes() / BYTES_PER_MB,
                options.seed(),
                options.threads());
        out.flush();
    }

    private DecodeProgress progress() {
        return Terminal.isInteractive()
                ? DecodeProgress.bar(options.warmup() + options.limit().tokens(), System.out)
                : DecodeProgress.SILENT;
    }

    private void report(DecodeRun run, PrintWriter out) {
        String note = options.tiles() && options.isVerbose()
                ? "Elements of a tile: the floats it touches (weights, inputs and outputs)."
                : "";
        run.print(options.warmup(), options.isVerbose(), note, out);
        out.flush();
    }
}
