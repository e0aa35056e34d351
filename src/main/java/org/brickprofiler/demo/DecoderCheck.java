package org.brickprofiler.demo;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.brickprofiler.demo.device.Check;
import org.brickprofiler.demo.device.Outcome;
import picocli.CommandLine;

/** The demonstration on the device: does it compute what the processor does? */
final class DecoderCheck implements Check {

    static final String CLAIM = "the decoder gives the processor's logits and tokens within 1e-3";

    private final int ordinal;

    /**
     * A check.
     *
     * @param ordinal the number of the device
     */
    DecoderCheck(int ordinal) {
        this.ordinal = ordinal;
    }

    @Override
    public String name() {
        return "decoder";
    }

    @Override
    public List<Outcome> run() {
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
                                "--device", "cuda:" + ordinal, "--layers", "6", "--tokens", "100", "--json",
                                json.toString());
            } finally {
                Files.deleteIfExists(json);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        String found = exitCode == CommandLine.ExitCode.OK
                ? out.toString().lines().filter(line -> line.startsWith("The same")).findFirst().orElse("")
                : err.toString().strip();
        return List.of(Outcome.of(
                name(),
                exitCode == CommandLine.ExitCode.OK,
                CLAIM,
                found,
                Map.of("output", out.toString().lines().toList())));
    }
}
