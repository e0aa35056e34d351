package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.brickprofiler.BrickStats;
import org.brickprofiler.report.CsvReport;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.report.TextReport;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.read.TraceProfile;
import org.brickprofiler.trace.read.TraceReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConvertCommandTest {

    private static final Path TRACE = Cli.TRACES.resolve("kineto-simple-add.json.gz");

    @TempDir
    Path folder;

    @Spec("15.3")
    @Test
    void writesTheProfileInEveryFormat() throws IOException {
        Path json = folder.resolve("profile.JSON");
        Path csv = folder.resolve("profile.csv");
        Path text = folder.resolve("profile.txt");

        assertThat(Cli.run("convert", TRACE, json)).isEqualTo(new Cli(0, "", ""));
        assertThat(JsonReport.read(json)).isEqualTo(TraceReader.profile(TRACE).snapshot());
        assertThat(Cli.run("convert", json, csv)).isEqualTo(new Cli(0, "", ""));
        assertThat(Files.readString(csv)).isEqualTo(CsvReport.toCsv(JsonReport.read(json)));
        assertThat(Cli.run("convert", TRACE, text)).isEqualTo(new Cli(0, "", ""));
        TraceProfile profile = TraceReader.profile(TRACE);
        assertThat(Files.readString(text))
                .startsWith(profile.summary() + "\n" + TextReport.render(profile.snapshot(), Integer.MAX_VALUE, true));
    }

    @ParameterizedTest
    @CsvSource({
        "out.xlsx, false, the format is not known: .json",
        "json, false, the format is not known: .json",
        "out.csv, true, the format of a timeline is .pftrace",
        "out.xlsx, true, the format of a timeline is .pftrace"
    })
    void refusesOtherFormatsBeforeAnythingIsRead(String out, boolean timeline, String reason) {
        Path file = folder.resolve(out);
        Cli convert =
                timeline ? Cli.run("convert", "missing", file, "--timeline") : Cli.run("convert", "missing", file);

        convert.assertRefused("cannot write " + file, reason);
        assertThat(folder).isEmptyDirectory();
    }

    @Spec("15.1")
    @ParameterizedTest
    @ValueSource(strings = {"out.json", "out.pftrace"})
    void offersToReadACutTraceUpToTheCut(String name) throws IOException {
        byte[] whole = Files.readAllBytes(TRACE);
        Path cut = Files.write(folder.resolve("cut.json.gz"), Arrays.copyOf(whole, whole.length / 2));
        Path out = folder.resolve(name);

        Cli.run("convert", cut, out)
                .assertRefused("the packed file ends too early; --salvage reads what stands before it");
        assertThat(out).doesNotExist();
        Cli salvaged = Cli.run("convert", cut, out, "--salvage");
        assertThat(salvaged.exitCode()).isZero();
        assertThat(salvaged.err()).contains("the packed file ends too early");
        assertThat(out).isNotEmptyFile();
    }

    @Test
    void reportsThatThereIsNoTimelineWithoutTimes() {
        Path log = Cli.TRACES.resolve("tornadovm-invented.json");

        Cli.run("convert", log, folder.resolve("out.pftrace"))
                .assertRefused("there is no timeline in what TornadoVM's profiler writes");
        assertThat(Cli.run("convert", log, folder.resolve("out.json"))).isEqualTo(new Cli(0, "", ""));
        assertThat(folder).isDirectoryContaining(file -> file.endsWith("out.json"));
    }

    @Test
    void refusesAnOutputThatCannotBeWritten() throws IOException {
        Path missing = folder.resolve("missing").resolve("out.json");
        Path aFolder = Files.createDirectory(folder.resolve("folder.csv"));

        Cli.run("convert", TRACE, missing).assertRefused("cannot write " + missing, "does not exist");
        Cli.run("convert", TRACE, aFolder).assertRefused("cannot write " + aFolder, "it is a folder");
    }

    @Spec("15.3")
    @Test
    void leavesItsInputAndAnOlderOutputAlone() throws IOException {
        Path in = Files.writeString(folder.resolve("in.json"), "{\"traceEvents\": [{");
        Path out = Files.writeString(folder.resolve("out.json"), "old");

        Cli.run("convert", in, folder.resolve(".").resolve("in.json")).assertRefused("it is the input");
        Cli.run("convert", in, out).assertRefused(in.toString());
        assertThat(in).hasContent("{\"traceEvents\": [{");
        assertThat(out).hasContent("old");
    }

    // ---- timelines ----

    private Path recorded() {
        Path trace = folder.resolve("pass.pftrace");
        String tiny = "demo --layers 2 --dim 16 --heads 2 --kv-heads 1 --ffn 32 --vocab 50 --tokens 3 --threads 2 "
                + "--json=" + folder.resolve("demo.json") + " --trace=" + trace;
        assertThat(Cli.run((Object[]) tiny.split(" ")).exitCode()).isZero();
        return trace;
    }

    private static List<BrickStats> bricks(Path trace) throws IOException {
        return TraceReader.profile(trace).snapshot().bricks();
    }

    @Test
    void aTimelineOfThisLibraryKeepsItsProfileInEitherFormat() throws IOException {
        Path recorded = recorded();
        Path chrome = folder.resolve("pass.json.gz");
        Path plain = folder.resolve("pass.json");
        Path back = folder.resolve("back.Perfetto-Trace");

        assertThat(Cli.run("convert", recorded, chrome)).isEqualTo(new Cli(0, "", ""));
        assertThat(Cli.run("convert", "--timeline", chrome, plain)).isEqualTo(new Cli(0, "", ""));
        assertThat(Cli.run("convert", plain, back)).isEqualTo(new Cli(0, "", ""));
        assertThat(bricks(recorded)).hasSizeGreaterThan(5);
        for (Path converted : List.of(chrome, plain, back)) {
            assertThat(bricks(converted)).as("%s", converted).isEqualTo(bricks(recorded));
        }
        assertThat(Files.readString(plain))
                .startsWith("{\n  \"schemaVersion\": 1,\n  \"producer\": \"brick-profiler 2\"");
        assertThat(Files.size(back)).isBetween(Files.size(recorded) / 2, 2 * Files.size(recorded));
    }

    @Spec("15.3")
    @Test
    void aTraceOfAnotherProgramKeepsItsProfileAndReportsItsLosses() throws IOException {
        Path out = folder.resolve("kineto.pftrace");
        Cli convert = Cli.run("convert", TRACE, out);

        assertThat(convert.exitCode()).isZero();
        assertThat(convert.out()).isEmpty();
        assertThat(convert.err())
                .hasLineCount(1)
                .startsWith("brick: " + out + " lacks parts of " + TRACE + ": 2,671 arguments left out (External id")
                .contains("192 flows without two ends left out");
        assertThat(TraceReader.profile(out).eventsCounted())
                .isEqualTo(TraceReader.profile(TRACE).eventsCounted())
                .isEqualTo(98);
        assertThat(TraceReader.profile(out).snapshot().totalNs())
                .isEqualTo(TraceReader.profile(TRACE).snapshot().totalNs());
    }

    @Test
    void makesNoTimelineOfSums() throws IOException {
        Path out = folder.resolve("out.pftrace");
        Path checksums = Files.writeString(folder.resolve("log.jsonl"), "{\"kind\": \"brick-checksums\"}\n");

        Cli.run("convert", Cli.REPORTS.resolve("full.json"), out).assertRefused("is a report");
        Cli.run("convert", checksums, out).assertRefused("is a log of checksums");
        Cli.run("convert", TRACE, out, "--keep-warmup").assertRefused("--keep-warmup", "are for profiles");
        Cli.run("convert", folder.resolve("missing"), out).assertRefused("missing: it does not exist");
        assertThat(out).doesNotExist();
    }

    @Spec("15.3")
    @Test
    void aTimelineIsWrittenWholeOrNotAtAll() throws IOException {
        Path recorded = recorded();
        byte[] whole = Files.readAllBytes(recorded);
        Path cut = Files.write(folder.resolve("cut.pftrace"), Arrays.copyOf(whole, whole.length - 1));
        Path out = Files.writeString(folder.resolve("out.json.gz"), "old");

        Cli.run("convert", cut, out).assertRefused(cut + ", offset " + (whole.length - 1), "ends too early; --salvage");
        Path salvaged = folder.resolve("salvaged.pftrace");
        assertThat(Cli.run("convert", cut, salvaged, "--salvage").err())
                .contains("1 damage, read up to there (the trace ends too early, first at offset " + (whole.length - 1)
                        + ")");
        assertThat(TraceReader.profile(salvaged).eventsRead())
                .isBetween(
                        TraceReader.profile(recorded).eventsRead() - 2,
                        TraceReader.profile(recorded).eventsRead());
        Cli.run("convert", recorded, folder.resolve(".").resolve("pass.pftrace"))
                .assertRefused("it is the input");
        Cli.run("convert", recorded, folder.resolve("no").resolve("out.pftrace"))
                .assertRefused("does not exist");
        assertThat(out).hasContent("old");
        assertThat(recorded).hasBinaryContent(whole);
    }

    @Test
    void tellsThatThereIsNoEvent() throws IOException {
        Path in = Files.writeString(folder.resolve("in.json"), "[]");
        Path out = folder.resolve("out.pftrace");

        Cli convert = Cli.run("convert", in, out);
        assertThat(convert.exitCode()).isEqualTo(1);
        assertThat(convert.err()).isEqualTo("brick: " + in + " contains no event for a timeline\n");
        assertThat(out).isNotEmptyFile();
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
