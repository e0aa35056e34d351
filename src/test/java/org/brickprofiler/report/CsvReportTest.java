package org.brickprofiler.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.testing.Profiles;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class CsvReportTest {

    @TempDir
    Path folder;

    static List<ProfileSnapshot> profiles() {
        return List.of(Profiles.full(), Profiles.device(), Profiles.sampled());
    }

    @Spec("8.4")
    @ParameterizedTest
    @MethodSource("profiles")
    void hasTheKeysAndValuesOfTheJson(ProfileSnapshot profile) throws IOException {
        List<List<String>> table = CsvTable.parse(CsvReport.toCsv(profile));
        JsonNode bricks =
                new ObjectMapper().readTree(JsonReport.toJson(profile)).get("bricks");

        List<String> keys = new ArrayList<>();
        bricks.get(0).fieldNames().forEachRemaining(keys::add);
        List<String> ofEstimates = List.of("estimated", "standard_error_ns", "degrees_of_freedom", "half_interval_ns");
        keys.removeAll(ofEstimates);
        keys.addAll(keys.indexOf("total_ns") + 1, ofEstimates);
        keys.removeAll(List.of("latency", "device", "work"));
        keys.addAll(List.of("p50_us", "p90_us", "p99_us", "p999_us"));
        keys.addAll(List.of(
                "time_source",
                "device_samples",
                "launches",
                "launch_ns",
                "unresolved",
                "without_start",
                "unmarked",
                "flops",
                "bytes",
                "working_set_bytes",
                "work_samples"));
        assertThat(table.get(0)).isEqualTo(keys);

        assertThat(table).hasSize(1 + bricks.size());
        for (int i = 0; i < bricks.size(); i++) {
            for (String key : keys) {
                String cell = table.get(i + 1).get(keys.indexOf(key));
                JsonNode value = bricks.get(i).findPath(key);
                if (value.isMissingNode()) {
                    assertThat(cell).as(key).isEmpty();
                } else if (value.isDouble()) {
                    double expected = value.asDouble();
                    assertThat(Math.abs(Double.parseDouble(cell) - expected))
                            .as("%s: %s and %s", key, cell, expected)
                            .isLessThanOrEqualTo(Math.abs(expected) * 1e-14);
                } else {
                    assertThat(cell).as(key).isEqualTo(value.asText());
                }
            }
        }
    }

    @Test
    void isTheSameInEveryLocale() {
        Locale usual = Locale.getDefault();
        String csv = CsvReport.toCsv(Profiles.full());
        try {
            Locale.setDefault(Locale.forLanguageTag("tr-TR-u-nu-arab"));
            assertThat(CsvReport.toCsv(Profiles.full())).isEqualTo(csv).contains(",memory,");
        } finally {
            Locale.setDefault(usual);
        }
    }

    @Spec("8.4")
    @ParameterizedTest
    @ValueSource(strings = {"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "'=1", "\uff1d1"})
    void marksNamesThatASpreadsheetWouldRun(String name) {
        assertThat(nameOf(name)).isEqualTo("'" + name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a=1", "RmsNorm", "a-b", "my \"step\", again", "two\r\nlines", "caf\u00e9", " =1", "a;=1"})
    void leavesOtherNamesAsTheyAre(String name) {
        assertThat(nameOf(name)).isEqualTo(name);
    }

    @Test
    void quotesSeparatorsOfSpreadsheets() {
        assertThat(csvOf("a;=1")).contains("\r\n\"a;=1\",");
    }

    private static String csvOf(String name) {
        return CsvReport.toCsv(Profiles.of(Profiles.brick(name, BrickCategory.OTHER, 3, 10, 3, 4, 3)));
    }

    private static String nameOf(String name) {
        return CsvTable.parse(csvOf(name)).get(1).get(0);
    }

    @Test
    void writesNumbersWithoutExponentAndAtMost15Digits() {
        List<List<String>> table = CsvTable.parse(
                CsvReport.toCsv(Profiles.of(Profiles.brick("x", BrickCategory.OTHER, 3, 10, 3, 4, 1L << 50))));

        List<String> header = table.get(0);
        assertThat(table.get(1).get(header.indexOf("avg_us"))).isEqualTo("0.00333333333333333");
        assertThat(table.get(1).get(header.indexOf("throughput"))).isEqualTo("112589990684262000000000");
        assertThat(table.get(1).get(header.indexOf("pct"))).isEqualTo("100");
        assertThat(table.get(1).get(header.indexOf("p50_us"))).isEmpty();
    }

    @Test
    void anEmptyProfileGivesTheHeaderAlone() {
        assertThat(CsvTable.parse(CsvReport.toCsv(Profiles.empty()))).hasSize(1);
    }

    @Test
    void writesUtf8AndNamesAPathThatCannotBeWritten() throws IOException {
        Path file = folder.resolve("bricks.csv");
        CsvReport.write(Profiles.full(), file);
        assertThat(Files.readString(file))
                .isEqualTo(CsvReport.toCsv(Profiles.full()))
                .contains("\u00e9");

        Path missing = folder.resolve("missing").resolve("bricks.csv");
        assertThatThrownBy(() -> CsvReport.write(Profiles.full(), missing))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(missing.toString())
                .hasMessageContaining("does not exist");
    }
}
