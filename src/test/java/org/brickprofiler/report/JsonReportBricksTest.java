package org.brickprofiler.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.brickprofiler.Bottleneck;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.stats.LatencyDistribution;
import org.junit.jupiter.api.Test;

final class JsonReportBricksTest {

    private static BrickStats read(String fields) throws IOException {
        return JsonReport.fromJson("{\"bricks\": [{" + fields + "}]}").bricks().get(0);
    }

    @Test
    void durationsInMicrosecondsStandInForThoseInNanoseconds() throws IOException {
        BrickStats old = read("\"name\": \"a\", \"count\": 2, \"min_us\": 13.87, \"max_us\": 191.004");

        assertThat(old.minNs()).isEqualTo(13_870);
        assertThat(old.maxNs()).isEqualTo(191_004);
    }

    @Test
    void durationsInNanosecondsAreExactAndWin() throws IOException {
        BrickStats both =
                read("\"name\": \"a\", \"count\": 2, \"min_ns\": 5, \"min_us\": 1.0, \"max_us\": 2, \"max_ns\": 7");

        assertThat(both.minNs()).isEqualTo(5);
        assertThat(both.maxNs()).isEqualTo(7);
    }

    @Test
    void elementsAreWorkedOutFromTheThroughput() throws IOException {
        BrickStats old = read("\"name\": \"a\", \"count\": 2, \"total_ns\": 3000, \"throughput\": 2333333.33");

        assertThat(old.totalElements()).isEqualTo(7);
    }

    @Test
    void compressedBytesAreWorkedOutFromTheRatio() throws IOException {
        assertThat(read("\"name\": \"a\", \"count\": 1, \"total_bytes\": 400, \"compression_ratio\": 4.0")
                        .totalCompressedBytes())
                .isEqualTo(100);
        assertThat(read("\"name\": \"a\", \"count\": 1, \"total_bytes\": 400, \"compression_ratio\": 1.0")
                        .totalCompressedBytes())
                .isZero();
        assertThat(read("\"name\": \"a\", \"count\": 1, \"total_bytes\": 0, \"compression_ratio\": 0.0")
                        .totalCompressedBytes())
                .isZero();
    }

    @Test
    void aMissingCategoryIsTheUsualOneOfTheName() throws IOException {
        assertThat(read("\"name\": \"RmsNorm\", \"count\": 1").category()).isEqualTo(BrickCategory.NORM);
        assertThat(read("\"name\": \"mine\", \"count\": 1").category()).isEqualTo(BrickCategory.OTHER);
    }

    @Test
    void constantsAreReadInUpperAndLowerCase() throws IOException {
        BrickStats brick = read("\"name\": \"a\", \"count\": 1, \"category\": \"ffn\", \"bottleneck\": \"Compute\"");

        assertThat(brick.category()).isEqualTo(BrickCategory.FFN);
        assertThat(brick.bottleneck()).isEqualTo(Bottleneck.COMPUTE);
    }

    @Test
    void percentilesWithoutBucketsAreNoDistribution() throws IOException {
        assertThat(read("\"name\": \"a\", \"count\": 1, \"latency\": {\"p50_us\": 1.0}")
                        .latency())
                .isEmpty();
    }

    @Test
    void bucketsAreReadByNumber() throws IOException {
        long[] counts = new long[41];
        counts[3] = 9;
        counts[40] = 2;

        assertThat(read("\"name\": \"a\", \"count\": 11, \"latency\": {\"buckets\": [[40, 2], [3, 9]]}")
                        .latency())
                .hasValue(LatencyDistribution.ofCounts(counts));
    }
}
