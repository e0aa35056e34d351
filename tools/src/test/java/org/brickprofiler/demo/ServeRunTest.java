package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.demo.ServeRun.LoggedRequest;
import org.brickprofiler.demo.ServeRun.LoggedStep;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.spi.NanoClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The server's own log of requests and steps gives the same numbers as the report of the profiler. */
class ServeRunTest {

    /** Each reading of the clock takes this long; nothing else takes time. */
    private static final long READING_NS = 1_000;

    /** Between the server's reading of the clock and the profiler's there are a few readings for bricks and steps. */
    private static final long FEW_READINGS_NS = 20 * READING_NS;

    private final AtomicLong readings = new AtomicLong();
    private final NanoClock clock = () -> readings.incrementAndGet() * READING_NS;

    private ServeRun serve(BrickProfiler profiler, int chunk) {
        ModelConfig config = new ModelConfig(2, 16, 2, 1, 32, 50, ServeRun.LONGEST_SEQUENCE);
        Weights weights = Weights.random(config, 1);
        try (WorkerPool pool = new WorkerPool(1)) {
            ServeRun run = new ServeRun(
                    profiler,
                    new ServeOptions.Load(40, 2_000, 4, chunk),
                    request -> new Decoder(
                            weights, new Sampler(0, 1, request.number()), pool, Decoder.Instruments.inSteps(profiler)),
                    clock,
                    7);
            run.run();
            return run;
        }
    }

    @Spec("25.4")
    @ParameterizedTest
    @ValueSource(ints = {0, 8})
    void theLogAndTheReportAgree(int chunk) {
        BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();
        profiler.enable();
        ServeRun run = serve(profiler, chunk);

        ProfileSnapshot snapshot = profiler.snapshot();
        assertThat(snapshot.requests().counts().allFinished()).isEqualTo(40);
        assertThat(snapshot.requests().counts().ignoredCalls()).isZero();
        assertThat(snapshot.steps().count()).isEqualTo(run.steps().size());
        Map<Long, RequestRecord> records = profiler.requests().recent().stream()
                .collect(Collectors.toMap(RequestRecord::arrivedNs, Function.identity()));
        long epochNs = run.finished().stream()
                        .mapToLong(LoggedRequest::arrivedNs)
                        .min()
                        .orElseThrow()
                - records.keySet().stream().min(Comparator.naturalOrder()).orElseThrow();
        for (LoggedRequest logged : run.finished()) {
            RequestRecord record = Objects.requireNonNull(records.get(logged.arrivedNs() - epochNs));
            assertThat(record.promptTokens()).isEqualTo(logged.request().promptTokens());
            assertThat(record.outputTokens()).isEqualTo(logged.request().outputTokens());
            assertThat(record.timeToFirstTokenNs())
                    .isCloseTo(logged.firstTokenNs() - logged.arrivedNs(), within(FEW_READINGS_NS));
            assertThat(record.durationNs())
                    .isCloseTo(logged.finishedNs() - logged.arrivedNs(), within(FEW_READINGS_NS));
            long ownNs = run.steps().stream()
                    .filter(step -> step.members().contains(logged.request().number()))
                    .mapToLong(step -> step.endNs() - step.startNs())
                    .sum();
            long steps = run.steps().stream()
                    .filter(step -> step.members().contains(logged.request().number()))
                    .count();
            assertThat(record.causeNs(Cause.OWN_PROMPT)
                            + record.causeNs(Cause.DECODE)
                            + record.causeNs(Cause.DECODE_BESIDE_PROMPTS))
                    .isCloseTo(ownNs, within(steps * FEW_READINGS_NS));
        }
    }

    @Spec("25.4")
    @ParameterizedTest
    @ValueSource(ints = {0, 8})
    void chunksTurnStallsIntoDecodingBesidePrompts(int chunk) {
        BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();
        profiler.enable();
        List<LoggedStep> steps = serve(profiler, chunk).steps();

        Map<Cause, Long> causes = profiler.requests().stats().causeNs();
        boolean isMixed =
                profiler.snapshot().steps().phase(StepInfo.Phase.MIXED).isPresent();
        assertThat(steps).isNotEmpty();
        assertThat(isMixed).isEqualTo(chunk > 0);
        if (chunk == 0) {
            assertThat(causes.get(Cause.STALLED_BEHIND_PROMPTS)).isPositive();
            assertThat(causes.get(Cause.DECODE_BESIDE_PROMPTS)).isZero();
        } else {
            assertThat(causes.get(Cause.STALLED_BEHIND_PROMPTS)).isZero();
            assertThat(causes.get(Cause.DECODE_BESIDE_PROMPTS)).isPositive();
        }
    }
}
