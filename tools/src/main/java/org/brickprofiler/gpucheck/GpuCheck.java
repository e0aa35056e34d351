package org.brickprofiler.gpucheck;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.brickprofiler.console.OutputFile;
import org.brickprofiler.console.Terminal;
import org.brickprofiler.demo.Demo;
import org.brickprofiler.demo.DeviceFailure;
import org.brickprofiler.demo.Gpu;
import org.brickprofiler.device.cuda.CudaSupport;
import org.brickprofiler.spi.NanoClock;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The checks for a machine with a GPU, of claims that tests over a simulated driver cannot prove. Its first line
 * describes the machine. Exit code 0 if nothing is broken, no bound is missed and at least one claim held; 1 if
 * something is broken, no claim held or there is no device; 2 after bad input; 3 if a bound is missed and nothing is
 * broken.
 */
@Command(
        name = "gpu-check",
        sortOptions = false,
        usageHelpWidth = 100,
        description = "Checks device times, and what taking them costs, on a CUDA device.")
public final class GpuCheck implements Callable<Integer> {

    /** The name by which a simulated driver is recognised. */
    private static final String SIMULATED = "Simulated GPU";

    private static final long NS_PER_S = 1_000_000_000L;

    /** The exit code for a bound that is missed if nothing is broken. */
    static final int BOUND_MISSED = 3;

    @Spec
    private CommandSpec spec;

    @Option(names = "--device", paramLabel = "N", description = "The number of the device (${DEFAULT-VALUE}).")
    private int device;

    @Option(names = "--json", paramLabel = "FILE", description = "Where the figures go (${DEFAULT-VALUE}).")
    private Path json = Path.of("gpu-check.json");

    @Option(
            names = "--rounds",
            paramLabel = "N",
            description = "How often each way of watching is measured (${DEFAULT-VALUE}).")
    private int rounds = 150;

    @Option(names = "--marks", paramLabel = "N", description = "How many marks are set (${DEFAULT-VALUE}).")
    private long marks = 10_000_000;

    @Option(
            names = "--cycles",
            paramLabel = "N",
            description = "How often activity records are switched on and off (${DEFAULT-VALUE}).")
    private int cycles = 24;

    @Option(names = "--cupti", paramLabel = "FILE", description = "The library of CUPTI (the newest that is found).")
    private @Nullable Path cupti;

    @Option(names = "--torch", paramLabel = "FILE", description = "What torch_cost.py printed (nothing).")
    private @Nullable Path torch;

    @Option(
            names = "--limit-s",
            paramLabel = "S",
            description = "No check is begun after so many seconds (${DEFAULT-VALUE}).")
    private long limitS = 280;

    @SuppressWarnings("unused") // picocli reads it
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Print this and end.")
    private boolean help;

    private GpuCheck() {}

    /**
     * Performs the checks, and ends the virtual machine with the exit code.
     *
     * @param args the options; {@code --help} lists them
     */
    public static void main(String[] args) {
        Terminal.printMessages(Level.WARNING);
        System.exit(commandLine().execute(args));
    }

    /** Returns the command. */
    static CommandLine commandLine() {
        return new CommandLine(new GpuCheck())
                .setParameterExceptionHandler((badInput, args) -> refuse(badInput.getCommandLine(), badInput));
    }

    private static int refuse(CommandLine command, Exception badInput) {
        command.getErr().println("gpu-check: " + badInput.getMessage());
        command.getErr().flush();
        return CommandLine.ExitCode.USAGE;
    }

    @Override
    public Integer call() throws IOException {
        try {
            if (device < 0) {
                throw new IllegalArgumentException("device " + device + " is negative");
            }
            requirePositive("rounds", rounds);
            requirePositive("marks", marks);
            requirePositive("cycles", cycles);
            OutputFile.requireWritable(json);
        } catch (IllegalArgumentException badInput) {
            return refuse(spec.commandLine(), badInput);
        }
        Optional<String> missing = Gpu.missing(device);
        if (missing.isPresent()) {
            spec.commandLine().getErr().println("gpu-check: " + missing.get());
            spec.commandLine().getErr().flush();
            return CommandLine.ExitCode.SOFTWARE;
        }
        String deviceName = CudaSupport.probe().deviceNames().get(device);
        boolean simulated = deviceName.startsWith(SIMULATED);
        String driver = CudaSupport.probe().driverVersion().orElse("");
        PrintWriter out = spec.commandLine().getOut();
        out.println(CheckReport.header(deviceName, simulated, driver));
        out.flush();
        CheckReport report = new CheckReport(deviceName, simulated, driver, check(simulated));
        out.print(report.toText());
        report.write(json);
        out.println("JSON: " + json.toAbsolutePath());
        out.flush();
        return switch (report.worst()) {
            case HELD -> CommandLine.ExitCode.OK;
            case MISSED -> BOUND_MISSED;
            default -> CommandLine.ExitCode.SOFTWARE;
        };
    }

    private static void requirePositive(String what, long value) {
        if (value < 1) {
            throw new IllegalArgumentException(what + " " + value + " is too small");
        }
    }

    private List<Outcome> check(boolean simulated) {
        long endNs = System.nanoTime() + limitS * NS_PER_S;
        List<Outcome> outcomes = new ArrayList<>();
        if (simulated) {
            outcomes.add(Outcome.notMade(
                    "decoder", DecoderCheck.CLAIM, "the driver is simulated: its kernels compute nothing"));
        } else {
            outcomes.addAll(outcomes(new DecoderCheck(device), endNs));
        }
        try (Gpu gpu = Gpu.open(device)) {
            for (Check check : checks(gpu)) {
                outcomes.addAll(outcomes(check, endNs));
            }
        } catch (DeviceFailure refused) {
            outcomes.add(refusal("device", refused));
        }
        return outcomes;
    }

    /** Returns the checks in their order: after the last one the device is unusable. */
    private List<Check> checks(Gpu gpu) {
        NanoClock clock = NanoClock.SYSTEM;
        return List.of(
                new SpinCheck(gpu),
                new NetCheck(gpu),
                new SpanCheck(gpu),
                new DeferredCheck(gpu, clock),
                new StreamsCheck(gpu),
                new CaptureCheck(gpu),
                new GraphCheck(gpu, clock),
                new BindingCheck(gpu, clock),
                new ErrorsCheck(gpu),
                new ClockCheck(gpu, clock),
                new CostCheck(gpu, rounds, clock),
                new ActivityCheck(device, cycles, cupti),
                new MarksCheck(gpu, marks),
                new TorchCost(torch),
                new LossCheck(gpu));
    }

    private List<Outcome> outcomes(Check check, long endNs) {
        if (System.nanoTime() - endNs > 0) {
            return List.of(Outcome.notMade(
                    check.name, "it could be begun in time", "the others took " + limitS + " s and more"));
        }
        PrintWriter err = spec.commandLine().getErr();
        err.println("gpu-check: " + check.name + " ...");
        err.flush();
        try {
            return check.run();
        } catch (DeviceFailure refused) {
            return List.of(refusal(check.name, refused));
        }
    }

    private static Outcome refusal(String check, DeviceFailure refused) {
        return new Outcome(
                check,
                Outcome.Status.BROKEN,
                "the device does what it is asked",
                String.valueOf(refused.getMessage()),
                Map.of());
    }

    /** Checks whether the demonstration computes the same on the device as on the processor. */
    private static final class DecoderCheck extends Check {

        private static final String CLAIM = "the decoder gives the processor's logits and tokens within 1e-3";

        private final int ordinal;

        DecoderCheck(int ordinal) {
            super("decoder");
            this.ordinal = ordinal;
        }

        @Override
        List<Outcome> run() {
            StringWriter out = new StringWriter();
            StringWriter err = new StringWriter();
            int exitCode;
            try {
                Path json = Files.createTempFile("brick-gpu-check", ".json");
                try {
                    exitCode = Demo.commandLine()
                            .setOut(new PrintWriter(out))
                            .setErr(new PrintWriter(err))
                            .execute(
                                    "--device",
                                    "cuda:" + ordinal,
                                    "--layers",
                                    "6",
                                    "--tokens",
                                    "100",
                                    "--json",
                                    json.toString());
                } finally {
                    Files.deleteIfExists(json);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            String found = exitCode == CommandLine.ExitCode.OK
                    ? out.toString()
                            .lines()
                            .filter(line -> line.startsWith("The same"))
                            .findFirst()
                            .orElse("")
                    : err.toString().strip();
            return List.of(Outcome.of(
                    name,
                    exitCode == CommandLine.ExitCode.OK,
                    CLAIM,
                    found,
                    Map.of("output", out.toString().lines().toList())));
        }
    }
}
