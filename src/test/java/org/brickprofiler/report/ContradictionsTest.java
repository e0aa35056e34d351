package org.brickprofiler.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Reports whose values are valid one by one, and contradict each other. */
@Spec("8.9")
final class ContradictionsTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        "count": 0, "total_ns": 5 | brick a contradicts itself: total_ns is 5, and count is 0
        "count": 0, "total_ns": 0, "max_ns": 5 | max_ns is 5, and count is 0
        "count": 2, "total_ns": 10, "min_ns": 7, "max_ns": 6 | min_ns 7 is above max_ns 6
        "count": 2, "total_ns": 10, "min_us": 0.007, "max_us": 0.006 | min_ns 7 is above max_ns 6
        "count": 2, "total_ns": 10000, "min_ns": 6000, "max_ns": 7000 | total_ns 10000 of 2 samples is an average of 5000 ns, below min_ns 6000
        "count": 2, "total_ns": 10000, "min_ns": 100, "max_ns": 4000 | an average of 5000 ns, above max_ns 4000
        "count": 2, "total_ns": 10000, "min_ns": 100, "max_ns": 9900, "last_ns": 12000 | last_ns is 12000, and max_ns is 9900
        "count": 2, "total_cycles": 5, "max_cycles": 6 | max_cycles is 6, and total_cycles is 5
        "count": 2, "latency": {"buckets": [[5, 3]]} | latency has 3 samples in its buckets, and count is 2
        "count": 2, "latency": {"buckets": []} | latency has 0 samples in its buckets, and count is 2
        "count": 1000, "latency": {"buckets": [[5, 300]]} | latency has 300 samples in its buckets, and count is 1000
        "count": 2, "total_ns": 1000, "latency": {"buckets": [[5, 2]]} | the buckets of latency sum to 8 to 13 ns, and total_ns is 1000
        "count": 2, "device": {"device_samples": 1, "launches": 2} | launches is 2, and device_samples is 1
        "count": 2, "device": {"unresolved": 1, "without_start": 2} | without_start is 2, and unresolved is 1
        "count": 2, "device": {"launches": 2, "launch_ns": 9000, "min_launch_ns": 1, "max_launch_ns": 3} | launch_ns 9000 of 2 samples is an average of 4500 ns, above max_launch_ns 3
        "count": 2, "work": {"flops": 1, "work_samples": 3} | work_samples 3 is above count 2
        "count": 9007199254740993 | brick a has the count 9007199254740993, more than 9007199254740992
        """)
    void aBrickThatContradictsItselfIsRefused(String values, String message) {
        String brick = "{\"name\": \"a\", " + values + "}";
        assertRefused("{\"bricks\": [" + brick + "]}", message);
        assertRefused("{\"bricks\": [], \"phases\": [{\"phase\": \"decode\", \"bricks\": [" + brick + "]}]}", message);
    }

    private static void assertRefused(String json, String message) {
        assertThatIOException()
                .isThrownBy(() -> JsonReport.fromJson(json))
                .withMessageMatching("(?s)line \\d+, column \\d+: .*")
                .withMessageContaining(message);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        "bricks": [{"name": "a", "count": 9007199254740992}, {"name": "b", "count": 1}] | the counts of the bricks sum to 9007199254740993, more than
        "bricks": [{"name": "a", "total_ns": 5}], "total_ns": 6 | total_ns is 6, and its bricks sum to 5
        "total_ns": 0, "bricks": [{"name": "a", "total_ns": 5}] | total_ns is 0, and its bricks sum to 5
        "bricks": [{"name": "a", "category": "FFN", "count": 5}], "categories": [{"name": "FFN", "count": 4}] | count of the category FFN is 4, and its bricks sum to 5
        "bricks": [{"name": "a", "category": "FFN"}], "categories": [{"total_ns": 4, "name": "Norm"}] | total_ns of the category Norm is 4, and its bricks sum to 0
        "bricks": [{"name": "a", "count": 1}], "phases": [{"phase": "decode", "bricks": [{"name": "a", "count": 2}]}] | a has 2 samples of 0 ns in its phases, and 1 sample of 0 ns in all
        "bricks": [], "tiles": [{"level": "midi", "count": 1, "total_ns": 9, "min_ns": 20}] | tile level contradicts itself: total_ns 9 of 1 sample is an average of 9 ns, below min_ns 20
        "bricks": [], "streams": [{"stream": "s", "gaps": 3, "idle_ns": 5, "shortest_gap_ns": 2}] | shortest_gap_ns is 2, and idle_ns is 5
        "bricks": [], "requests": {"arrived": 3, "completed": 2, "duration": {"buckets": [[5, 3]]}} | 2 finished, and the distribution duration has 3
        "bricks": [], "requests": {"prompt_tokens": 3, "cached_tokens": 4} | cached_tokens is 4, and prompt_tokens is 3
        "bricks": [], "requests": {"first_tokens": [{"bucket": 7, "decode_ns": 9}]} | first_tokens has times of bucket 7, in which time_to_first_token has no request
        """)
    void aProfileThatContradictsItselfIsRefused(String values, String message) {
        assertRefused("{" + values + "}", message);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        "count": 1, "total_ns": 9, "max_ns": 3 | an average of 9 ns, above max_ns 3
        "count": 1, "attributed": 2 | attributed is 2, and count is 1
        "count": 1, "cpu_steps": 2 | cpu_steps is 2, and count is 1
        "count": 1, "accepted_tokens": 2, "drafted_tokens": 1 | accepted_tokens is 2, and drafted_tokens is 1
        "count": 1, "accepted_tokens": 2, "output_tokens": 1 | accepted_tokens is 2, and output_tokens is 1
        "count": 1, "attributed": 0, "category_ns": {"FFN": 1} | category_ns has times, and attributed is 0
        "count": 1, "durations": {"buckets": [[5, 3]]} | durations has 3 samples in its buckets, and count is 1
        """)
    void stepsThatContradictThemselvesAreRefused(String values, String message) {
        assertRefused("{\"bricks\": [], \"steps\": {\"phases\": [{\"phase\": \"decode\", " + values + "}]}}", message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"low\": 2, \"median\": 1, \"high\": 3", "\"low\": 0, \"median\": 4, \"high\": 3"})
    void aCostThatContradictsItselfIsRefused(String values) {
        assertRefused(
                "{\"bricks\": [], \"run\": {\"calibrations\": [{\"clock_read_ns\": {" + values + "}}]}}",
                "a cost contradicts itself: ");
    }

    /** An unknown extreme is 0; an average may lack the remainder of its division, and old files lack values. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"count\": 2, \"total_ns\": 10, \"min_ns\": 0, \"max_ns\": 0",
                "\"count\": 2, \"total_ns\": 10, \"min_ns\": 4, \"max_ns\": 0",
                "\"count\": 3, \"total_ns\": 11, \"min_ns\": 3, \"max_ns\": 3",
                "\"count\": 3, \"min_ns\": 3, \"max_ns\": 4",
                "\"count\": 3, \"total_ns\": 9223372036854775807, \"min_ns\": 3, \"max_ns\": 4",
                "\"count\": 1000, \"latency\": {\"buckets\": [[5, 990]]}",
                "\"count\": 1, \"max_us\": 0.5",
            })
    void valuesThatAgreeAreRead(String values) throws IOException {
        ProfileSnapshot read = JsonReport.fromJson("{\"bricks\": [{\"name\": \"a\", " + values + "}]}");
        assertThat(read.bricks()).hasSize(1);
    }
}
