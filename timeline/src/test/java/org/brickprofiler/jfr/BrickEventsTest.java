package org.brickprofiler.jfr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import jdk.jfr.EventType;
import jdk.jfr.Recording;
import jdk.jfr.ValueDescriptor;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import jdk.jfr.consumer.RecordingStream;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.Step;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepStats;
import org.brickprofiler.Steps;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.RequestSamples;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class BrickEventsTest {

    @TempDir
    private Path folder;

    private final BrickProfiler profiler =
            BrickProfiler.builder().percentiles(true).build();

    BrickEventsTest() {
        profiler.enable();
    }

    private void work(int tokens) {
        int mine = profiler.brickKey("mine", BrickCategory.FFN);
        for (int i = 0; i < tokens; i++) {
            profiler.beginStep(
                    i == 0 ? StepInfo.prefill(9) : StepInfo.decode(9 + i).withDraftedTokens(3));
            long timer = profiler.startBrick(BrickId.RMS_NORM);
            timer = profiler.lap(timer, 1, mine);
            profiler.stopBrick(timer, 2);
            profiler.record(BrickId.ATTENTION_SCORE, 1_000 + i, 3);
            if (i > 0) {
                profiler.recordAcceptedTokens(2);
            }
            profiler.endPass();
        }
    }

    private List<RecordedEvent> dump(Recording recording) throws IOException {
        Path file = folder.resolve("recording.jfr");
        recording.stop();
        recording.dump(file);
        return RecordingFile.readAllEvents(file);
    }

    /** Returns the events of a name in the order of their starts; a file has them in the order of its buffers. */
    private static List<RecordedEvent> named(List<RecordedEvent> events, String name) {
        return events.stream()
                .filter(event -> event.getEventType().getName().equals(name))
                .sorted(Comparator.comparing(RecordedEvent::getStartTime))
                .toList();
    }

    @Spec("21.2")
    @Test
    void stepsAreEventsAndExecutionsAreOff() throws Exception {
        try (Recording recording = new Recording();
                BrickEvents events = BrickEvents.of(profiler)) {
            assertThat(events).isNotNull();
            recording.start();
            work(3);
            List<RecordedEvent> recorded = dump(recording);

            assertThat(named(recorded, "brick.Execution")).isEmpty();
            List<Step> steps = profiler.snapshot().steps().kept();
            List<RecordedEvent> stepEvents = named(recorded, "brick.Step");
            assertThat(stepEvents).hasSize(3);
            for (int i = 0; i < 3; i++) {
                RecordedEvent event = stepEvents.get(i);
                Step step = steps.get(i);
                assertThat(event.getString("phase"))
                        .isEqualTo(step.info().phase().displayName());
                assertThat(event.getInt("batch")).isEqualTo(1);
                assertThat(event.getLong("prefillTokens")).isEqualTo(step.info().prefillTokens());
                assertThat(event.getLong("kvLength")).isEqualTo(step.info().kvLength());
                assertThat(event.getLong("outputTokens")).isEqualTo(1);
                assertThat(event.getLong("draftedTokens")).isEqualTo(step.info().draftedTokens());
                assertThat(event.getLong("acceptedTokens")).isEqualTo(step.acceptedTokens());
                assertThat(event.getDuration("elapsed").toNanos()).isEqualTo(step.durationNs());
                assertThat(event.getDuration().toNanos()).isGreaterThanOrEqualTo(step.durationNs());
                assertThat(event.getThread().getJavaThreadId())
                        .isEqualTo(Thread.currentThread().getId());
                for (BrickCategory category : BrickCategory.values()) {
                    assertThat(event.getLong(StepEvent.field(category)))
                            .as("%s", category)
                            .isEqualTo(step.categoryNs().getOrDefault(category, 0L));
                }
            }
        }
    }

    @Spec("21.5")
    @Test
    void requestsAreEventsWithTheirCauses() throws Exception {
        try (Recording recording = new Recording();
                BrickEvents events = BrickEvents.of(profiler)) {
            assertThat(events).isNotNull();
            recording.start();
            for (int i = 0; i < 2; i++) {
                long request = profiler.requests().arrived(9);
                profiler.requests().named(request, RequestSamples.HOSTILE_ID);
                for (StepInfo info : List.of(StepInfo.prefill(9), StepInfo.decode(9))) {
                    profiler.beginStep(info);
                    profiler.requests().inStep(request, info.prefillTokens());
                    profiler.endPass();
                }
                profiler.requests().finished(request, Outcome.LENGTH);
            }
            List<RecordedEvent> found = named(dump(recording), "brick.Request");

            List<RequestRecord> requests = profiler.requests().recent();
            assertThat(found).hasSize(2);
            for (int i = 0; i < 2; i++) {
                RecordedEvent event = found.get(i);
                RequestRecord request = requests.get(i);
                assertThat(event.getString("outcome")).isEqualTo("length");
                assertThat(event.getLong("promptTokens")).isEqualTo(9);
                assertThat(event.getLong("outputTokens")).isEqualTo(2);
                assertThat(event.getString("id")).isEqualTo(RequestSamples.HOSTILE_ID);
                assertThat(event.getLong("elapsed")).isEqualTo(request.durationNs());
                assertThat(event.getLong("timeToFirstToken")).isEqualTo(request.timeToFirstTokenNs());
                assertThat(event.getLong("firstToLastToken")).isEqualTo(request.firstToLastTokenNs());
                for (Cause cause : Cause.values()) {
                    String words = cause.name().toLowerCase(Locale.ROOT);
                    String field = Pattern.compile("_(.)").matcher(words).replaceAll(match -> match.group(1)
                            .toUpperCase(Locale.ROOT));
                    assertThat(event.getLong(field)).as(field).isEqualTo(request.causeNs(cause));
                }
            }
        }
    }

    @Spec("21.2")
    @Test
    void executionsOfARecordingThatWantsThemAddUpToTheSnapshot() throws Exception {
        try (Recording recording = new Recording();
                BrickEvents events = BrickEvents.of(profiler)) {
            assertThat(events).isNotNull();
            recording.enable("brick.Execution");
            recording.start();
            work(50);
            Crew.runOnNewThread(() -> profiler.record(BrickId.RMS_NORM, 5, 7));
            List<RecordedEvent> executions = named(dump(recording), "brick.Execution");
            assertThat(executions).hasSize(151);
            Map<String, long[]> sums = new HashMap<>();
            for (RecordedEvent event : executions) {
                long[] sum = sums.computeIfAbsent(
                        event.getString("brick") + "/" + event.getString("category"), name -> new long[3]);
                sum[0]++;
                sum[1] += event.getDuration("elapsed").toNanos();
                sum[2] += event.getLong("elements");
            }

            List<BrickStats> bricks = profiler.snapshot().bricks();
            assertThat(sums).hasSameSizeAs(bricks);
            assertThat(bricks).allSatisfy(brick -> assertThat(
                            sums.get(brick.name() + "/" + brick.category().displayName()))
                    .containsExactly(brick.count(), brick.totalNs(), brick.totalElements()));

            try (Recording next = new Recording()) {
                next.start();
                work(1);
                List<RecordedEvent> after = dump(next);
                assertThat(named(after, "brick.Step")).hasSize(1);
                assertThat(named(after, "brick.Execution"))
                        .as("after the end of the recording that wants them")
                        .isEmpty();
            }
        }
    }

    @Spec("21.3")
    @Test
    void aStreamBecomesTheProfile() throws Exception {
        try (RecordingStream stream = new RecordingStream();
                BrickEvents events = BrickEvents.of(profiler)) {
            assertThat(events).isNotNull();
            stream.enable("brick.Execution");
            EventProfile profile = EventProfile.of(stream);
            assertThat(profile.snapshot().bricks()).isEmpty();
            stream.startAsync();
            work(40);
            profiler.record(profiler.ownBrickKey("head", BrickCategory.ATTENTION), 2_000, 1);
            profiler.record(BrickId.LM_HEAD, 3_000, 1);
            ProfileSnapshot recorded = profiler.snapshot();
            while (profile.snapshot().samples() < recorded.samples()
                    || profile.snapshot().steps().count() < 40) {
                Thread.sleep(20); // the test's timeout ends this loop
            }
            ProfileSnapshot streamed = profile.snapshot();

            assertThat(streamed.bricks()).hasSameSizeAs(recorded.bricks());
            for (int i = 0; i < recorded.bricks().size(); i++) {
                BrickStats expected = recorded.bricks().get(i);
                BrickStats actual = streamed.bricks().get(i);
                assertThat(List.of(actual.name(), actual.category(), actual.latency()))
                        .isEqualTo(List.of(expected.name(), expected.category(), expected.latency()));
                assertThat(List.of(
                                actual.count(),
                                actual.totalNs(),
                                actual.minNs(),
                                actual.maxNs(),
                                actual.totalElements()))
                        .isEqualTo(List.of(
                                expected.count(),
                                expected.totalNs(),
                                expected.minNs(),
                                expected.maxNs(),
                                expected.totalElements()));
            }
            for (StepInfo.Phase phase : List.of(StepInfo.Phase.PREFILL, StepInfo.Phase.DECODE)) {
                assertThat(streamed.bricks(phase))
                        .extracting(BrickStats::name, BrickStats::count, BrickStats::totalNs)
                        .isEqualTo(recorded.bricks(phase).stream()
                                .map(brick -> tuple(brick.name(), brick.count(), brick.totalNs()))
                                .toList());
                StepStats expected = recorded.steps().phase(phase).orElseThrow();
                StepStats actual = streamed.steps().phase(phase).orElseThrow();
                assertThat(actual.categoryNs()).isEqualTo(expected.categoryNs());
                assertThat(List.of(actual.count(), actual.outputTokens(), actual.acceptedTokens(), actual.kvLength()))
                        .isEqualTo(List.of(
                                expected.count(),
                                expected.outputTokens(),
                                expected.acceptedTokens(),
                                expected.kvLength()));
                assertThat(actual.totalNs()).isGreaterThanOrEqualTo(expected.totalNs());
            }
            assertThat(streamed.steps().timeToFirstToken().count()).isEqualTo(1);
            assertThat(streamed.steps().timePerOutputToken().count()).isEqualTo(39);
            long apartNs = streamed.steps().kept().get(0).startedAtUnixNs()
                    - ChronoUnit.NANOS.between(Instant.EPOCH, streamed.startedAt());
            assertThat(Duration.ofNanos(apartNs).abs()).isLessThan(Duration.ofSeconds(1));
        }
    }

    /**
     * After an abandoned step, the time per output token counts from the start of the next step, and concurrent steps
     * have no brick time.
     */
    @Spec("21.3")
    @Test
    void stepsAroundAbandonedAndConcurrentOnesCountAsInTheProfiler() throws Exception {
        try (RecordingStream stream = new RecordingStream();
                BrickEvents events = BrickEvents.of(profiler)) {
            assertThat(events).isNotNull();
            EventProfile profile = EventProfile.of(stream);
            stream.startAsync();
            decode();
            profiler.beginStep(StepInfo.decode(2));
            profiler.record(BrickId.RMS_NORM, 5, 1);
            profiler.abandonPass();
            decode();
            profiler.beginStep(StepInfo.decode(3));
            decode();
            profiler.abandonPass();
            profiler.beginStep(StepInfo.decode(4));
            Crew.runOnNewThread(this::decode);
            profiler.endPass();
            StepStats expected =
                    profiler.snapshot().steps().phase(StepInfo.Phase.DECODE).orElseThrow();
            while (profile.snapshot().steps().count() < expected.count()) {
                Thread.sleep(20); // the test's timeout ends this loop
            }
            Steps streamed = profile.snapshot().steps();
            StepStats actual = streamed.phase(StepInfo.Phase.DECODE).orElseThrow();

            assertThat(actual.count()).isEqualTo(5);
            assertThat(actual.attributed()).isEqualTo(expected.attributed()).isEqualTo(3);
            assertThat(actual.categoryNs()).isEqualTo(expected.categoryNs());
            assertThat(streamed.timePerOutputToken())
                    .as("no step follows another one")
                    .isEqualTo(actual.durations());
        }
    }

    /**
     * The steps of a draft model lie within those of another model; the times per output token of each count from its
     * own steps.
     */
    @Spec("21.3")
    @Test
    void profilersOnOneThreadCountApart() throws Exception {
        BrickProfiler draft = BrickProfiler.builder().build();
        draft.enable();
        try (RecordingStream stream = new RecordingStream();
                BrickEvents events = BrickEvents.of(profiler);
                BrickEvents ofDraft = BrickEvents.of(draft)) {
            assertThat(List.of(events, ofDraft)).hasSize(2);
            EventProfile profile = EventProfile.of(stream);
            stream.startAsync();
            for (int i = 0; i < 2; i++) {
                profiler.beginStep(StepInfo.decode(1));
                draft.beginStep(StepInfo.decode(1));
                long untilNs = System.nanoTime() + 2_000_000;
                while (System.nanoTime() < untilNs) {
                    Thread.onSpinWait();
                }
                draft.endPass();
                profiler.endPass();
            }
            while (profile.snapshot().steps().count() < 4) {
                Thread.sleep(20); // the test's timeout ends this loop
            }

            assertThat(profile.snapshot().steps().timePerOutputToken().percentileNs(0))
                    .as("no step's tokens count from the other profiler's end")
                    .isGreaterThan(1_000_000);
        }
    }

    private void decode() {
        profiler.beginStep(StepInfo.decode(1));
        profiler.record(BrickId.RMS_NORM, 10, 1);
        profiler.endPass();
    }

    @Spec("21.4")
    @Test
    void anchorsTieTheClocks() throws Exception {
        try (Recording recording = new Recording();
                BrickEvents events = BrickEvents.of(profiler)) {
            assertThat(events).isNotNull();
            recording.start();
            List<RecordedEvent> anchors = named(dump(recording), "brick.ClockAnchor");

            assertThat(anchors).isNotEmpty().allSatisfy(anchor -> {
                long beforeNs = anchor.getLong("beforeNs");
                long afterNs = anchor.getLong("afterNs");
                assertThat(afterNs - beforeNs)
                        .isBetween(0L, Duration.ofSeconds(1).toNanos());
            });
        }
    }

    @Test
    void afterItIsClosedNothingIsRecorded() throws Exception {
        try (Recording recording = new Recording()) {
            BrickEvents events = BrickEvents.of(profiler);
            recording.enable("brick.Execution");
            recording.start();
            work(1);
            events.close();
            events.close();
            work(1);
            List<RecordedEvent> recorded = dump(recording);

            assertThat(named(recorded, "brick.Step")).hasSize(1);
            assertThat(named(recorded, "brick.Execution")).hasSize(3);
        }
    }

    /** A recording silently omits fields of other types. */
    @Spec("21.2")
    @Test
    void everyFieldIsOfATypeThatARecordingKeeps() {
        for (Class<? extends jdk.jfr.Event> event :
                List.of(ExecutionEvent.class, StepEvent.class, RequestEvent.class, AnchorEvent.class)) {
            Set<String> kept = EventType.getEventType(event).getFields().stream()
                    .map(ValueDescriptor::getName)
                    .collect(Collectors.toSet());
            assertThat(Arrays.stream(event.getDeclaredFields())
                            .filter(field ->
                                    !field.isSynthetic() && !java.lang.reflect.Modifier.isStatic(field.getModifiers())))
                    .as(event.getSimpleName())
                    .allSatisfy(field -> assertThat(kept).contains(field.getName()));
        }
        assertThat(Arrays.stream(BrickCategory.values()).map(StepEvent::field)).doesNotHaveDuplicates();
    }

    /** Tools of JDK 25 show these fields beside the events of the step; earlier JDKs do not know the annotation. */
    @Spec("21.2")
    @Test
    void fieldsThatIdentifyAStepAreItsContext() {
        assertThat(EventType.getEventType(StepEvent.class).getFields().stream()
                        .filter(field -> field.getAnnotationElements().stream()
                                .anyMatch(each -> each.getTypeName().equals("jdk.jfr.Contextual")))
                        .map(ValueDescriptor::getName))
                .containsExactlyElementsOf(
                        Runtime.version().feature() < 25
                                ? List.of()
                                : List.of("phase", "elapsed", "batch", "prefillTokens", "kvLength", "outputTokens"));
    }
}
