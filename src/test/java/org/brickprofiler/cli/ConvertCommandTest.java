package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.brickprofiler.report.CsvReport;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.trace.read.TraceReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConvertCommandTest {

    private static final Path TRACE = Cli.TRACES.resolve("kineto-simple-add.json.gz");

    @TempDir
    Path folder;

    @Test
    void writesTheProfileInEveryFormat() throws IOException {
        Path json = folder.resolve("profile.JSON");
        Path csv = folder.resolve("profile.csv");
        Path text = folder.resolve("profile.txt");

        assertThat(Cli.run("convert", TRACE, json)).isEqualTo(new Cli(0, "", ""));
        assertThat(JsonReport.read(json)).isEqualTo(TraceReader.read(TRACE).snapshot());
        assertThat(Cli.run("convert", json, csv)).isEqualTo(new Cli(0, "", ""));
        assertThat(Files.readString(csv)).isEqualTo(CsvReport.toCsv(JsonReport.read(json)));
        assertThat(Cli.run("convert", TRACE, text)).isEqualTo(new Cli(0, "", ""));
        assertThat(Files.readString(text)).isEqualTo(Cli.run("report", TRACE).out());
    }

    @ParameterizedTest
    @CsvSource({
        "out.pftrace, that is a timeline",
        "out.perfetto-trace, that is a timeline",
        "out.JSON.GZ, that is a timeline",
        "out.xlsx, the format is not known",
        "json, the format is not known"
    })
    void refusesOtherFormatsBeforeAnythingIsRead(String out, String reason) {
        Cli.run("convert", "missing", folder.resolve(out)).assertRefused(reason, ": .json, .csv or .txt");
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void refusesAnOutputThatCannotBeWritten() throws IOException {
        Path missing = folder.resolve("missing").resolve("out.json");
        Path aFolder = Files.createDirectory(folder.resolve("folder.csv"));

        Cli.run("convert", TRACE, missing).assertRefused("cannot write " + missing, "does not exist");
        Cli.run("convert", TRACE, aFolder).assertRefused("cannot write " + aFolder, "it is a folder");
    }

    @Test
    void leavesItsInputAndAnOlderOutputAlone() throws IOException {
        Path in = Files.writeString(folder.resolve("in.json"), "{\"traceEvents\": [{");
        Path out = Files.writeString(folder.resolve("out.json"), "old");

        Cli.run("convert", in, folder.resolve(".").resolve("in.json")).assertRefused("it is the input");
        Cli.run("convert", in, out).assertRefused(in.toString());
        assertThat(in).hasContent("{\"traceEvents\": [{");
        assertThat(out).hasContent("old");
    }

    @Test
    void tellsThatNothingWasFound() throws IOException {
        Path in = Files.writeString(folder.resolve("in.json"), "[]");
        Path out = folder.resolve("out.csv");

        Cli convert = Cli.run("convert", in, out);
        assertThat(convert.exitCode()).isEqualTo(1);
        assertThat(convert.err()).startsWith("brick: " + in + " holds no brick").hasLineCount(1);
        assertThat(Files.readString(out)).startsWith("name,").hasLineCount(1);
    }
}
