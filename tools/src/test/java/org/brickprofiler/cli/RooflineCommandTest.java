package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.brickprofiler.Environment;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.roofline.MachineRoof;
import org.brickprofiler.roofline.RooflineReport;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** A run of the demonstration below a roof. */
final class RooflineCommandTest {

    @TempDir
    Path folder;

    @Spec("18.2")
    @Test
    void setsAProfileBelowTheRoof() throws IOException {
        Path roof = folder.resolve("roof.json");
        Path run = folder.resolve("run.json");
        RooflineReport.write(roof(1_000), roof);
        String tiny =
                "demo --layers 1 --dim 16 --heads 2 --kv-heads 1 --ffn 32 --vocab 50 --tokens 3 --threads 1 --check-roof --json ";
        assertThat(Cli.run((Object[]) (tiny + run).split(" ")).exitCode()).isZero();

        Cli text = Cli.run("report", run, "--roofline", roof, "--threads", "1");
        assertThat(text.err()).isEmpty();
        assertThat(text.out())
                .contains("Bricks, largest first", "\nDistance to the roof", "threads on one brick: 1;")
                .containsPattern("QkvProjection +neither ")
                .doesNotContain("Above the roof", "Without known work");
        assertThat(Cli.run("report", run, "--roofline", roof, "--json").out())
                .contains("\"roofline\"", "\"peak_gflops\"");
        Cli.run("report", run, "--roofline", roof, "--csv").assertRefused("cannot be combined with --csv");
        assertThat(JsonReport.read(run).facts().machine()).containsKeys("roof_gflops", "roof_read_gbps");
        assertThat(Cli.run("report", run).out()).doesNotContain("Distance to the roof");
    }

    /** The shapes in the files give the work; the file names no machine. */
    @ParameterizedTest
    @CsvSource({"ort-1.22-java.json.gz, QkvProjection", "torch-2.13-cpu.json.gz, Gemm"})
    void productsOfTracesWithShapesAreSetBelowTheRoof(String trace, String brick) throws IOException {
        Path roof = folder.resolve("roof.json");
        RooflineReport.write(roof(1_000), roof);

        Cli text = Cli.run("report", Cli.TRACES.resolve(trace), "--roofline", roof, "--threads", "1");

        assertThat(text.out()).contains("\nDistance to the roof", "does not say on which machine it was taken");
        assertThat(text.out().substring(text.out().indexOf("Distance to the roof")))
                .containsPattern("\n" + brick + " +[a-z]+ +[0-9]");
    }

    static MachineRoof roof(double high) {
        MachineRoof.Rate rate = new MachineRoof.Rate(1, 1, high);
        return new MachineRoof(
                Environment.current(),
                Instant.EPOCH,
                List.of(new MachineRoof.Bandwidth("", 1, rate, rate, rate, rate)),
                rate,
                rate);
    }

    private void processors(String fields) throws IOException {
        Path proc = Files.createDirectories(folder.resolve("proc").resolve("self"));
        Files.writeString(proc.resolveSibling("stat"), "cpu  " + fields + "\n");
        Files.writeString(proc.resolve("stat"), "1 (java) S 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 0 20 0\n");
    }

    @Spec("18.5")
    @Test
    void reportsABusyMachine() throws IOException {
        processors("0 0 0 0 0 0 0 0");
        MachineRoof quiet = roof(1);
        Path roof = folder.resolve("roof.json");
        StringWriter out = new StringWriter();
        CommandLine command = new CommandLine(new RooflineCommand(folder, bytes -> {
                    try {
                        processors("60 0 0 40 0 0 0 0");
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                    return quiet;
                }))
                .setOut(new PrintWriter(out));

        assertThat(command.execute("--out", roof.toString())).isZero();
        assertThat(out.toString()).contains("! The machine was busy meanwhile (other processes 60 %): ");
        assertThat(RooflineReport.read(roof).disturbances()).containsExactly("other processes 60 %");
    }

    @Test
    void refusesSenselessOptions() throws IOException {
        Path profile = Cli.REPORTS.resolve("full.json");
        Path roof = folder.resolve("roof.json");

        Cli.run("report", profile, "--threads", "2").assertRefused("--threads 2 requires --roofline");
        Cli.run("report", profile, "--roofline", roof).assertRefused("roof.json");
        Files.copy(profile, roof);
        Cli.run("report", profile, "--roofline", roof).assertRefused("describes no machine");
        Cli.run("roofline", "--out", folder.resolve("none").resolve("roof.json"))
                .assertRefused("does not exist");
    }
}
