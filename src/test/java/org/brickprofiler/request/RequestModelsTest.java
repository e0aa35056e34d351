package org.brickprofiler.request;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.AllocatedBytes;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@Spec("25.28")
final class RequestModelsTest {

    private static final List<Outcome> OUTCOMES = List.of(Outcome.values());

    private final FakeClock clock = new FakeClock(50);
    private final RequestRecorder requests = new RequestRecorder(clock, () -> 50);

    @BeforeEach
    void on() {
        requests.enable();
    }

    /** Serves a request for a model, empty for none. */
    private void serve(String model, long promptTokens, int steps, Outcome outcome) {
        long request = requests.arrived(promptTokens);
        requests.model(request, model);
        for (int i = 0; i < steps; i++) {
            long step = requests.stepBegan(i == 0, promptTokens, clock.now());
            requests.inStep(request, i == 0 ? promptTokens : 0);
            clock.advance(7_000_000L * (i + 1));
            requests.stepEnded(step, clock.now(), 0);
        }
        requests.finished(request, outcome);
    }

    private static String model(RequestRecord record) {
        return record.identity().model().orElse("-");
    }

    private static RequestStats of(RequestStats requests, String model) {
        return Objects.requireNonNull(requests.models().get(model));
    }

    private static RequestStats sum(RequestStats requests) {
        return Stream.concat(Stream.of(requests.unnamed()), requests.models().values().stream())
                .reduce(RequestStats.NONE, RequestStats::merge);
    }

    private static void assertThatModelsSumTo(RequestStats all) {
        RequestStats sum = sum(all);
        assertThat(sum.counts().finished()).isEqualTo(all.counts().finished());
        assertThat(sum.tokens()).isEqualTo(all.tokens());
        assertThat(sum.histograms()).isEqualTo(all.histograms());
    }

    private void serveAtRandom(Random random, int number) {
        for (int i = 0; i < number; i++) {
            String model = random.nextInt(4) == 0 ? "" : "model " + random.nextInt(3);
            Outcome outcome = OUTCOMES.get(random.nextInt(OUTCOMES.size()));
            serve(model, 1 + random.nextInt(50), random.nextInt(4), outcome);
        }
    }

    @Test
    void theModelsAndTheRestSumToTheWhole() {
        Random random = new Random(1);
        serveAtRandom(random, 500);
        RequestStats first = requests.stats();
        serveAtRandom(random, 500);
        RequestStats both = requests.stats();

        assertThat(both.models()).containsOnlyKeys("model 0", "model 1", "model 2");
        assertThat(both.unnamed().counts().allFinished()).isBetween(200L, 300L);
        assertThatModelsSumTo(first);
        assertThatModelsSumTo(both);
        RequestStats second = both.since(first);
        assertThatModelsSumTo(second);
        assertThat(first.merge(second).models()).isEqualTo(both.models());
        assertThat(second.merge(first).models()).isEqualTo(both.models());
        assertThat(both.since(both).models()).isEmpty();
        assertThat(both.withLiveOf(RequestStats.NONE).models()).isEqualTo(both.models());
    }

    @Test
    void eachModelHasItsOwnRequests() {
        serve("a", 10, 2, Outcome.COMPLETED);
        serve("b", 20, 3, Outcome.FAILED);
        serve("b", 30, 1, Outcome.LENGTH);
        serve("", 40, 1, Outcome.LENGTH);

        RequestStats all = requests.stats();
        assertThat(of(all, "a").tokens()).isEqualTo(new RequestStats.Tokens(10, 0, 2));
        assertThat(of(all, "b").tokens()).isEqualTo(new RequestStats.Tokens(50, 0, 4));
        assertThat(all.unnamed().tokens()).isEqualTo(new RequestStats.Tokens(40, 0, 1));
        assertThat(of(all, "b").counts().finished())
                .isEqualTo(
                        Map.of(Outcome.COMPLETED, 0L, Outcome.LENGTH, 1L, Outcome.CANCELLED, 0L, Outcome.FAILED, 1L));
        assertThat(requests.recent()).extracting(RequestModelsTest::model).containsExactly("a", "b", "b", "-");
        assertThat(all.slowestFirstTokens())
                .extracting(RequestModelsTest::model)
                .contains("a", "b", "-");
        assertThat(requests.lastMinutes().get(0).slowestFirstToken().map(RequestModelsTest::model))
                .isPresent();
    }

    @Test
    void furtherModelsShareOneNameWhichIsCountedAndSaid() {
        CapturedLog log = new CapturedLog();
        try (log) {
            for (int i = 0; i < 20; i++) {
                serve("model " + i, 1, 1, Outcome.COMPLETED);
            }
            serve("model 15", 1, 1, Outcome.COMPLETED);
        }

        RequestStats all = requests.stats();
        assertThat(all.models()).hasSize(17);
        assertThat(of(all, RequestStats.OTHER_MODELS).counts().allFinished()).isEqualTo(4);
        assertThat(of(all, "model 15").counts().allFinished()).isEqualTo(2);
        assertThatModelsSumTo(all);
        assertThat(all.counts().ignoredCalls()).isEqualTo(4);
        assertThat(log.lines()).singleElement().asString().contains("another model than the first 16");
        assertThat(requests.recent().get(19))
                .extracting(RequestModelsTest::model)
                .isEqualTo("(other models)");

        requests.reset();
        serve("model 19", 1, 1, Outcome.COMPLETED);
        assertThat(requests.stats().models()).containsOnlyKeys("model 19");
    }

    @Test
    void theLatestModelCountsAndAnEmptyOneRemovesIt() {
        long request = requests.arrived(1);
        requests.model(request, "a");
        requests.model(request, "b");
        assertThat(requests.stats().oldestLive().get(0).identity().model()).contains("b");
        requests.finished(request, Outcome.CANCELLED);
        request = requests.arrived(1);
        requests.model(request, "a");
        requests.model(request, "");
        requests.finished(request, Outcome.FAILED);
        requests.model(request, "late");

        assertThat(requests.stats().models()).containsOnlyKeys("b");
        assertThat(requests.recent()).extracting(RequestModelsTest::model).containsExactly("b", "-");
        assertThat(requests.recent())
                .extracting(RequestRecord::outcome)
                .containsExactly(Outcome.CANCELLED, Outcome.FAILED);
        assertThat(requests.stats().counts().ignoredCalls()).isEqualTo(1);
    }

    @Test
    void longNamesAreCutAndHalvesOfCharactersReplaced() {
        serve("x".repeat(1_000_000), 1, 1, Outcome.COMPLETED);
        serve("x".repeat(128), 1, 1, Outcome.COMPLETED);
        serve("a\ud83d", 1, 1, Outcome.COMPLETED);
        serve("a\ud83e", 1, 1, Outcome.COMPLETED);

        assertThat(requests.stats().models()).containsOnlyKeys("x".repeat(128), "a\ufffd");
        assertThat(requests.stats().counts().ignoredCalls()).isEqualTo(1);
    }

    @Test
    void aTimelineKeepsTheNamesThatItHad() {
        serve("before", 1, 1, Outcome.COMPLETED);
        var timeline = requests.timeline();
        requests.reset();
        serve("after", 1, 1, Outcome.COMPLETED);

        assertThat(timeline.get().requests())
                .extracting(each -> model(each.record()))
                .containsExactly("before");
    }

    @Test
    void aModelAllocatesNothing() {
        String[] models = {"one", "two"};
        int[] next = {0};
        Runnable serve = () -> {
            long request = requests.arrived(1);
            requests.model(request, models[next[0]++ & 1]);
            requests.finished(request, Outcome.COMPLETED);
        };
        AllocatedBytes.ofCalls(3_000, serve);

        assertThat(AllocatedBytes.fewest(10, () -> AllocatedBytes.ofCalls(1_000, serve)))
                .isZero();
    }

    @Test
    void aProfileHasTheModels() throws Exception {
        serveAtRandom(new Random(2), 50);
        serve("\"quoted\"\n", 1, 1, Outcome.COMPLETED);
        ProfileSnapshot snapshot = ProfileSnapshot.builder(Instant.EPOCH, Instant.EPOCH, 1)
                .threads(1, false)
                .requests(requests.stats())
                .build();

        String json = JsonReport.toJson(snapshot);
        assertThat(JsonReport.read(new ByteArrayInputStream(json.getBytes(UTF_8)), "json")
                        .requests())
                .isEqualTo(requests.stats());
    }
}
