package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.request.RequestTimeline;
import org.brickprofiler.testing.Profiles;
import org.brickprofiler.testing.RequestSamples;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ServiceLevelTest {

    private static final long MS = 1_000_000;

    private static RequestRecord request(long arrivedMs, long firstMs, long perTokenMs, long tokens, Outcome outcome) {
        long toLastNs = Math.max(0, tokens - 1) * perTokenMs * MS;
        long firstNs = firstMs * MS;
        long durationNs = firstNs + toLastNs;
        return new RequestRecord(
                arrivedMs * MS,
                durationNs,
                firstNs,
                0,
                0,
                tokens,
                outcome,
                Map.of(Cause.DECODE, durationNs),
                0,
                toLastNs);
    }

    /** A profile of requests that finished, of which the recorder kept these. */
    private static ProfileSnapshot profile(long finished, RequestRecord... kept) {
        List<RequestTimeline.Request> requests = new ArrayList<>();
        for (RequestRecord record : kept) {
            requests.add(new RequestTimeline.Request(record, List.of(), List.of(), false));
        }
        RequestStats none = RequestStats.NONE;
        return ProfileSnapshot.builder(Instant.EPOCH, Instant.EPOCH, 1)
                .requests(new RequestStats(
                        new RequestStats.Counts(finished, 0, 0, Map.of(Outcome.COMPLETED, finished), 0, 0),
                        none.tokens(),
                        none.latencies(),
                        none.causeNs(),
                        none.firstTokenCauseNs(),
                        List.of(),
                        List.of()))
                .requestTimeline(new RequestTimeline(List.of(), requests, 0))
                .build();
    }

    private static final RequestRecord[] FIVE = {
        request(0, 500, 50, 11, Outcome.COMPLETED),
        request(100, 501, 10, 11, Outcome.LENGTH),
        request(200, 100, 51, 11, Outcome.COMPLETED),
        request(300, 100, 10, 1, Outcome.LENGTH),
        request(1_400, 100, 10, 51, Outcome.CANCELLED)
    };

    @Spec("25.13")
    @Test
    void countsTheRequestsThatMeetBothLimits() {
        ServiceLevel.Result result = ServiceLevel.parse("ttft=500ms,tpot=50ms").of(profile(5, FIVE));

        assertThat(result.met()).isEqualTo(2);
        assertThat(result.percent()).isEqualTo(40);
        assertThat(result.spanNs()).isEqualTo(2_000 * MS);
        assertThat(result.goodput()).isEqualTo(1);
        assertThat(ServiceLevel.parse("tpot=0.05s").of(profile(5, FIVE)).met()).isEqualTo(3);
        assertThat(ServiceLevel.parse(" ttft = 100 ms ").of(profile(5, FIVE)).met())
                .isEqualTo(2);
    }

    /** One request of an hour, and 10 per second, of which the profile keeps the last second. */
    @Spec("25.13")
    @Test
    void goodputOfTheLastRequestsIsThatOfTheirFinishes() {
        RequestRecord[] kept = new RequestRecord[11];
        kept[0] = request(0, 3_600_000, 10, 1, Outcome.COMPLETED);
        for (int i = 1; i < kept.length; i++) {
            kept[i] = request(3_600_000 + (i - 1) * 100, 100, 10, 1, Outcome.COMPLETED);
        }
        ServiceLevel objective = ServiceLevel.parse("ttft=500ms");

        assertThat(objective.of(profile(36_011, kept)).goodput()).isEqualTo(10);
        assertThat(objective.of(profile(36_011, kept)).met()).isEqualTo(10);
        assertThat(objective.of(profile(11, kept)).goodput()).isEqualTo(10 / 3_601.0);
        assertThat(ServiceLevel.parse("ttft=7200s").of(profile(36_011, kept)).goodput())
                .as("the first one finished before the span")
                .isEqualTo(10);
    }

    @Spec("25.13")
    @Test
    void saysThatAShareOfSomeIsNoShareOfAll() {
        ServiceLevel objective = ServiceLevel.parse("ttft=500ms,tpot=50ms");

        assertThat(objective.render(profile(5, FIVE)))
                .isEqualTo("2 of 5 requests that finished met time to first token up to 500.0 ms and time per output "
                        + "token up to 50.00 ms: 40.0 %, a goodput of 1.000 requests/s.\n");
        assertThat(objective.render(profile(2_000, FIVE)))
                .startsWith("2 of the 5 requests that the profile keeps of 2,000 that finished met ")
                .endsWith(". The others are not known one by one, so this is no share of all.\n");
        assertThat(objective.render(profile(0))).startsWith("No request to compare with time to first token up to ");
    }

    @Spec("25.13")
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "ttft",
                "ttft=",
                "ttft=500",
                "ttft=-1ms",
                "ttft=0ms",
                "ttft=1e3ms",
                "ttft=NaNs",
                "ttft=5 min",
                "ttft=20000000000s",
                "ttft=0.9ns",
                "ttft=500ms,",
                "ttft=1ms,ttft=2ms",
                "itl=5ms",
                "tpot=500ms;ttft=1s"
            })
    void refusesBadLimitsByName(String text) {
        String part = text.contains(",") ? text.substring(text.indexOf(',') + 1) : text;
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ServiceLevel.parse(text))
                .withMessageContaining("'" + part + "'");
    }

    @ParameterizedTest
    @CsvSource({"1500us, 1500000", "2s, 2000000000", "7ns, 7", "0.5 ms, 500000"})
    void readsDurations(String text, long ns) {
        assertThat(ServiceLevel.parse("ttft=" + text).timeToFirstTokenNs()).hasValue(ns);
    }

    /** No id adds a line or a column, and no spreadsheet evaluates it. */
    @Spec("25.21")
    @Test
    void anIdOfAnyCharactersIsOneCell() {
        String csv = RequestExport.toCsv(Profiles.withOwnWork());
        String cell = "\"'" + RequestSamples.HOSTILE_ID.replace("\"", "\"\"") + "\",";
        assertThat(csv).contains("\r\n" + cell + "2026-01-02T03:04:05.", "\r\nchat-2,2026-01-02T03:04:05.");
        assertThat(csv.replace(cell, "x,").lines())
                .hasSize(4)
                .allMatch(line -> line.split(",", -1).length
                        == csv.lines().findFirst().orElseThrow().split(",").length);
    }

    @Spec("25.13")
    @Test
    void writesTheRequestsForOtherPrograms() {
        String csv = RequestExport.toCsv(profile(5, FIVE));
        assertThat(csv.lines())
                .hasSize(6)
                .first()
                .asString()
                .startsWith(
                        "id,arrived_at,trace,model,arrived_ns,duration_ns,time_to_first_token_ns,prompt_tokens,cached_tokens,output_tokens,outcome");
        assertThat(csv.lines().skip(2).findFirst().orElseThrow())
                .startsWith(",,,,100000000,601000000,501000000,0,0,11,length,");

        Map<Cause, Long> causeNs =
                Map.of(Cause.QUEUED_IDLE, 200L, Cause.OWN_PROMPT, 300L, Cause.DECODE, 300L, Cause.DELIVERY, 100L);
        RequestRecord queued = new RequestRecord(0, 900, 500, 64, 0, 4, Outcome.COMPLETED, causeNs, 0, 300);
        assertThat(RequestExport.toOllama(profile(1, queued)).replaceAll("\\s", ""))
                .isEqualTo("[{\"total_duration\":900,\"load_duration\":200,\"prompt_eval_count\":64,"
                        + "\"prompt_eval_duration\":300,\"eval_count\":4,\"eval_duration\":300}]");
    }
}
