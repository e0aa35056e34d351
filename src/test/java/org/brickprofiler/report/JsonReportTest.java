package org.brickprofiler.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.testing.Profiles;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.tile.TileLevel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class JsonReportTest {

    @TempDir
    Path folder;

    @Test
    void aFileIsReadBackExactly() throws IOException {
        Path path = folder.resolve("profile.json");

        JsonReport.write(Profiles.full(), path);

        assertThat(JsonReport.read(path)).isEqualTo(Profiles.full());
        assertThat(path).hasContent(JsonReport.toJson(Profiles.full()));
    }

    @Test
    void aRecordedProfileIsReadBackExactly() throws IOException {
        BrickProfiler profiler = BrickProfiler.builder().percentiles(true).build();
        profiler.enable();
        profiler.tiles().enable();
        profiler.record(BrickId.RMS_NORM, 1_234, 1);
        profiler.recordBytes("kv", 77, 1, 400, 100);
        profiler.stopBrick(profiler.startBrick("dynamic"), 3);
        profiler.tiles().record(TileLevel.MICRO, 4, 2, 99, 64, 128);
        ProfileSnapshot snapshot = profiler.snapshot();

        assertThat(JsonReport.fromJson(JsonReport.toJson(snapshot))).isEqualTo(snapshot);
    }

    @Test
    @Spec("23.6")
    void theCompactFormIsOneLineOfLessThanHalfTheText() throws IOException {
        String json = JsonReport.toCompactJson(Profiles.full(), Map.of("more", 1));

        assertThat(json).hasLineCount(1).endsWith(",\"more\":1}\n").doesNotContain("_us\"", "\"pct\"");
        assertThat(json.length()).isLessThan(JsonReport.toJson(Profiles.full()).length() / 2);
        assertThat(JsonReport.fromJson(json)).isEqualTo(Profiles.full());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JsonReport.toCompactJson(Profiles.full(), Map.of("bricks", 1)));
    }

    @Test
    void furtherKeysStandBehindTheReportsOwnAndAreIgnored() throws IOException {
        String json = JsonReport.toJson(
                Profiles.full(), Map.of("more", List.of(Map.of("name", "x", "share", 0.5, "count", 3L, "sure", true))));

        assertThat(json).contains("\"more\": [ {").contains("\"share\": 0.5").contains("\"sure\": true");
        assertThat(json.indexOf("\"more\"")).isGreaterThan(json.indexOf("\"tiles\""));
        assertThat(JsonReport.fromJson(json)).isEqualTo(Profiles.full());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JsonReport.toJson(Profiles.full(), Map.of("bricks", 1)))
                .withMessageContaining("'bricks'");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> JsonReport.toJson(Profiles.full(), Map.of("path", folder)))
                .withMessage("unsupported value " + folder);
    }

    @Test
    void anEmptyProfileIsReadBackExactly() throws IOException {
        assertThat(JsonReport.fromJson(JsonReport.toJson(Profiles.empty()))).isEqualTo(Profiles.empty());
    }

    @Test
    void namesMayHoldAnything() throws IOException {
        String name = "\u0000\n\"\\\u00e9\u4e2d\ud83d\ude00\udc00\ud800";
        ProfileSnapshot odd = Profiles.of(Profiles.brick(name, BrickCategory.OTHER, 1, 1, 1, 1, 1));

        assertThat(JsonReport.fromJson(JsonReport.toJson(odd))).isEqualTo(odd);
        Path path = folder.resolve("profile.json");
        JsonReport.write(odd, path);
        assertThat(JsonReport.read(path)).isEqualTo(odd);
    }

    @Test
    void readFailuresNameThePathThePlaceAndTheValue() throws IOException {
        Path path = Files.writeString(folder.resolve("bad.json"), "{\n  \"bricks\": [{\"count\": -5}]\n}");

        assertThatIOException()
                .isThrownBy(() -> JsonReport.read(path))
                .withMessage(path + ": line 2, column 24: count -5 is negative");
    }

    @Test
    void textFailuresNameThePlaceAndTheValue() {
        assertThatIOException()
                .isThrownBy(() -> JsonReport.fromJson("{\"threads\": 1.5}"))
                .withMessage("line 1, column 13: threads 1.5 is not a whole number of at most 2147483647");
    }

    @Test
    void aTruncatedFileIsSaidToEndTooEarly() throws IOException {
        String whole = JsonReport.toJson(Profiles.full());
        Path path = folder.resolve("truncated.json");
        for (int length = 1; length < whole.length() - 2; length += 97) {
            Files.writeString(path, whole.substring(0, length), StandardCharsets.UTF_8);

            assertThatIOException()
                    .isThrownBy(() -> JsonReport.read(path))
                    .withMessageStartingWith(path + ": line ")
                    .withMessageNotContaining("Source");
        }
    }

    @Test
    void aMissingFileIsNamed() {
        Path path = folder.resolve("missing.json");

        assertThatIOException()
                .isThrownBy(() -> JsonReport.read(path))
                .withMessage("cannot read " + path + ": it does not exist");
    }

    @Test
    void aFolderIsNoFile() {
        assertThatIOException()
                .isThrownBy(() -> JsonReport.read(folder))
                .withMessageStartingWith("cannot read " + folder + ": ");
    }

    @Test
    void aFileThatIsNoTextIsNamed() throws IOException {
        Path path = Files.write(folder.resolve("binary"), new byte[] {0, 0, 0, 7, (byte) 0xff, (byte) 0xfe, 1, 2});

        assertThatIOException().isThrownBy(() -> JsonReport.read(path)).withMessageContaining(path.toString());
    }

    @Test
    void writeFailuresNameThePathAndTheReason() {
        Path path = folder.resolve("missing").resolve("profile.json");

        assertThatIOException()
                .isThrownBy(() -> JsonReport.write(Profiles.plain(), path))
                .withMessage("cannot write " + path + ": " + folder.resolve("missing") + " does not exist");
    }
}
