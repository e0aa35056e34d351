package org.brickprofiler.roofline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.Environment;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo.Phase;
import org.brickprofiler.Work;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.roofline.BrickRoofline.Bound;
import org.brickprofiler.roofline.MachineRoof.Bandwidth;
import org.brickprofiler.roofline.MachineRoof.Rate;
import org.brickprofiler.testing.Golden;
import org.brickprofiler.testing.Profiles;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Roofs and the bricks below them, as text, values and a file. */
public final class RooflineReportTest {

    public static final MachineRoof MACHINE = new MachineRoof(
            Profiles.ENVIRONMENT,
            Instant.parse("2026-01-02T03:04:05.678Z"),
            List.of(
                    new Bandwidth("L1", 32 << 10, rate(150), rate(1_100), rate(240), rate(1_900)),
                    new Bandwidth("L2", 1 << 20, rate(100), rate(700), rate(90), rate(690)),
                    new Bandwidth(Bandwidth.MEMORY, 1L << 30, rate(12.5), rate(40), rate(12), rate(38))),
            rate(200.5),
            rate(1_500));

    public static final ProfileSnapshot PROFILE = Profiles.withWork();

    @TempDir
    Path folder;

    private static Rate rate(double high) {
        return new Rate(0.75 * high, 0.9375 * high, high);
    }

    @Spec("18.2")
    @Test
    void looksAsExpected() throws IOException {
        Golden.assertSame(RooflineReport.render(BrickRoofline.of(PROFILE, MACHINE, 8)), getClass(), "roofline.txt");
    }

    /** One brick, bound by its operations in prefill and by its bytes in decode. */
    public static ProfileSnapshot inPhases() {
        BrickStats prefill = Profiles.working(
                "QkvProjection", BrickCategory.ATTENTION, 60_000_000, new Work(80_000_000_000L, 52_000_000L, 2L << 30));
        BrickStats decode = Profiles.working(
                "QkvProjection",
                BrickCategory.ATTENTION,
                90_000_000,
                new Work(5_000_000_000L, 2_600_000_000L, 2L << 30));
        return Profiles.of(prefill, decode).toBuilder()
                .phases(Map.of(Phase.PREFILL, List.of(prefill), Phase.DECODE, List.of(decode)))
                .build();
    }

    @Spec("18.2")
    @Test
    void eachPhaseHasItsOwnBounds() throws IOException {
        BrickRoofline roofline = BrickRoofline.of(inPhases(), MACHINE, 8);

        assertThat(roofline.phases())
                .hasEntrySatisfying(
                        Phase.PREFILL, phase -> assertThat(phase.bounds()).containsEntry(Bound.COMPUTE, 1.0))
                .hasEntrySatisfying(
                        Phase.DECODE, phase -> assertThat(phase.bounds()).containsEntry(Bound.MEMORY, 1.0));
        assertThat(RooflineReport.render(roofline))
                .contains("In prefill steps, by counted time: 100.0 % bound by compute")
                .contains("In decode steps, by counted time: 100.0 % bound by memory");
        assertThat(new ObjectMapper()
                        .readTree(JsonReport.toJson(inPhases(), Map.of("roofline", RooflineReport.values(roofline))))
                        .at("/roofline/phases/1/bounds/memory")
                        .asDouble())
                .isEqualTo(1);
    }

    /** A profile without work was merged. */
    @Spec("18.7")
    @Test
    void theDoubtsOfPhasesAreInTextAndValues() throws IOException {
        ProfileSnapshot plain =
                Profiles.of(Profiles.brick("QkvProjection", BrickCategory.ATTENTION, 10, 60_000_000, 1, 1, 1));
        ProfileSnapshot merged = inPhases()
                .merge(plain.toBuilder()
                        .phases(Map.of(Phase.DECODE, plain.bricks()))
                        .build());
        BrickRoofline roofline = BrickRoofline.of(merged, MACHINE, 8);

        String known = "known is that of QkvProjection (10 of 20 samples)";
        assertThat(roofline.bricks()).isEmpty();
        assertThat(RooflineReport.render(roofline))
                .contains("In decode steps no brick is compared\n! the work of some samples is unknown")
                .contains("known is that of QkvProjection (20 of 30 samples)", known)
                .contains("In prefill steps, by counted time: 100.0 % bound by compute");
        JsonNode written = new ObjectMapper()
                .readTree(JsonReport.toJson(merged, Map.of("roofline", RooflineReport.values(roofline))))
                .get("roofline");
        assertThat(written.at("/phases/1/phase").asText()).isEqualTo("decode");
        assertThat(written.at("/phases/1/bricks")).isEmpty();
        assertThat(written.at("/phases/1/remarks/0").asText()).endsWith(known);
        assertThat(written.at("/remarks").toString()).contains("QkvProjection (");
    }

    @Test
    void theMachineLooksAsExpected() throws IOException {
        Golden.assertSame(RooflineReport.render(MACHINE), getClass(), "roofline-machine.txt");
    }

    @Test
    void saysThatNoWorkIsKnown() {
        assertThat(RooflineReport.render(BrickRoofline.of(Profiles.plain(), MACHINE, 1)))
                .endsWith("states the work of bricks.\n");
    }

    @Test
    void reportsThatMemoryWasNotReached() {
        MachineRoof cachesOnly = new MachineRoof(
                MACHINE.environment(),
                MACHINE.measuredAt(),
                MACHINE.bandwidths().subList(0, 2),
                rate(1),
                rate(1));

        assertThat(cachesOnly.reachesMemory()).isFalse();
        assertThat(RooflineReport.render(cachesOnly)).endsWith("more heap is needed (-Xmx).\n");
        assertThat(MACHINE.reachesMemory()).isTrue();
    }

    @Spec("18.2")
    @Test
    void standsInTheJsonReport() throws IOException {
        BrickRoofline roofline = BrickRoofline.of(PROFILE, MACHINE, 8);
        String json = JsonReport.toJson(PROFILE, Map.of("roofline", RooflineReport.values(roofline)));

        JsonNode written = new ObjectMapper().readTree(json).get("roofline");
        assertThat(written.get("threads").asInt()).isEqualTo(8);
        assertThat(written.get("peak_gflops").asDouble()).isEqualTo(1_500);
        assertThat(written.get("bandwidths").findValuesAsText("gbps")).containsExactly("1900.0", "700.0", "40.0");
        assertThat(written.get("bricks").findValuesAsText("name"))
                .isEqualTo(roofline.bricks().stream()
                        .map(BrickRoofline.Distance::name)
                        .toList());
        JsonNode brick = written.get("bricks").get(0);
        assertThat(brick.get("name").asText()).isEqualTo("QkvProjection");
        assertThat(brick.get("bound").asText()).isEqualTo("memory");
        assertThat(brick.get("roof").asText()).isEqualTo("memory");
        assertThat(written.get("bricks"))
                .filteredOn(other -> other.get("name").asText().equals("RmsNorm"))
                .extracting(other -> other.get("bound").asText())
                .containsExactly("neither");
        assertThat(brick.get("above_roof").asBoolean()).isFalse();
        assertThat(written.get("unplaced").get(0).asText()).isEqualTo("Sampling");
        assertThat(JsonReport.fromJson(json)).isEqualTo(PROFILE);
    }

    @Spec("18.5")
    @Test
    void aMachineComesBackFromItsFile() throws IOException {
        Path file = folder.resolve("roof.json");
        RooflineReport.write(MACHINE, file);

        assertThat(RooflineReport.read(file)).isEqualTo(MACHINE);
        Golden.assertSame(Files.readString(file), getClass(), "roofline-machine.json");
    }

    @Spec("18.5")
    @Test
    void aBusyMachineIsNamedWhereverItsRoofIsUsed() throws IOException {
        Path file = folder.resolve("roof.json");
        MachineRoof busy = MACHINE.withDisturbances(List.of("other processes 93 %"));
        RooflineReport.write(busy, file);

        MachineRoof read = RooflineReport.read(file);
        assertThat(read).isEqualTo(busy);
        assertThat(RooflineReport.render(read)).startsWith("! The machine was busy meanwhile (other processes 93 %): ");
        assertThat(RooflineReport.render(BrickRoofline.of(PROFILE, read, 8)))
                .contains(
                        "\n! the machine was busy while its roof was measured (other processes 93 %): the roof may be too low\n");
    }

    @Spec("18.5")
    @Test
    void refusesOtherFiles() throws IOException {
        Path file = folder.resolve("roof.json");
        RooflineReport.write(MACHINE, file);
        String good = Files.readString(file);

        refuses("{}", "it describes no machine");
        refuses(JsonReport.toJson(PROFILE), "it describes no machine");
        refuses(good.replace("\"1.0\"", "\"2.0\""), "too new");
        refuses(good.replace("machine-roof", "machine"), "it describes no machine");
        refuses(good.replaceFirst("112\\.5", "\"fast\""), "fast");
        refuses(good.replaceFirst("112\\.5", "1e9"), "1.0E9");
        refuses(good.replaceFirst("112\\.5, ", ""), "2 numbers");
        refuses(good.replaceFirst("\"gflops_all\"", "\"other\""), "gflops_all");
        refuses(good.replaceFirst("32768", "0"), "working_set_bytes");
        refuses(good.substring(0, good.length() / 2), "roof.json");
        assertThatIOException()
                .isThrownBy(() -> RooflineReport.read(folder.resolve("none")))
                .withMessageContaining("none");
    }

    private void refuses(String text, String reason) throws IOException {
        Path file = folder.resolve("roof.json");
        Files.writeString(file, text);
        assertThatIOException()
                .isThrownBy(() -> RooflineReport.read(file))
                .withMessageContaining("roof.json")
                .withMessageContaining(reason);
    }

    @Test
    void olderFilesMayLackOptionalParts() throws IOException {
        Path file = folder.resolve("roof.json");
        RooflineReport.write(MACHINE, file);
        Files.writeString(file, Files.readString(file).replaceAll("\"level\" : \"L1\",|\"level\": \"L1\",", ""));

        assertThat(RooflineReport.read(file).bandwidths().get(0).level()).isEmpty();
        assertThat(RooflineReport.read(file).environment())
                .isEqualTo(new Environment(
                        "17.0.15",
                        "OpenJDK 64-Bit Server VM 17.0.15+6",
                        "Linux 6.1.0",
                        "amd64",
                        "Example CPU @ 2.40GHz",
                        8,
                        21));
    }

    @Test
    void tablesFitATerminal() {
        BrickRoofline roofline = BrickRoofline.of(PROFILE, MACHINE, 8);

        assertThat(RooflineReport.render(roofline, 80)).containsPattern("brick +bound by +total +% of roof +roof\n");
        for (int columns : new int[] {80, 100, 110}) {
            List<String> lines =
                    RooflineReport.render(roofline, columns).lines().toList();
            assertThat(lines.stream().filter(line -> line.startsWith("--")))
                    .isNotEmpty()
                    .allMatch(line -> line.length() <= columns);
        }
    }
}
