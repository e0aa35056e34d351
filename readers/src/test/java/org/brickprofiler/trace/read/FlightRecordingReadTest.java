package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import org.assertj.core.data.Offset;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.jfr.BrickEvents;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.testing.VirtualThreadStarter;
import org.brickprofiler.trace.CallTree;
import org.brickprofiler.trace.Frame;
import org.brickprofiler.trace.FrameBricks;
import org.brickprofiler.trace.LineProfile;
import org.brickprofiler.trace.LineProfile.Amounts.Part;
import org.brickprofiler.trace.Track;
import org.brickprofiler.trace.read.TraceProfile.Disturbance;
import org.brickprofiler.trace.read.TraceProfile.Disturbance.Cause;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@Timeout(100)
final class FlightRecordingReadTest {

    @TempDir
    private Path folder;

    private final BrickProfiler profiler =
            BrickProfiler.builder().percentiles(true).build();

    FlightRecordingReadTest() {
        profiler.enable();
    }

    private Path recordBricks() throws Exception {
        Path file = folder.resolve("bricks.bin");
        try (Recording recording = new Recording();
                BrickEvents events = BrickEvents.of(profiler)) {
            assertThat(events).isNotNull();
            recording.enable("brick.Execution");
            recording.enable("jdk.GCPhasePause");
            recording.enable("jdk.ExecuteVMOperation");
            recording.start();
            for (int i = 0; i < 200; i++) {
                profiler.beginStep(i == 0 ? StepInfo.prefill(9) : StepInfo.decode(9 + i));
                long timer = profiler.startBrick(BrickId.RMS_NORM);
                timer = profiler.lap(timer, 1, BrickId.ATTENTION_SCORE);
                if (i == 100) {
                    System.gc();
                }
                profiler.stopBrick(timer, 2);
                profiler.endPass();
            }
            Crew.runOnNewThread(() -> profiler.record("mine", 5, 7));
            recording.stop();
            recording.dump(file);
        }
        return file;
    }

    private static void assertSameBricks(ProfileSnapshot actual, ProfileSnapshot expected) {
        assertThat(actual.bricks()).hasSameSizeAs(expected.bricks());
        for (int i = 0; i < expected.bricks().size(); i++) {
            BrickStats one = actual.bricks().get(i);
            BrickStats two = expected.bricks().get(i);
            assertThat(List.of(
                            one.name(),
                            one.category(),
                            one.count(),
                            one.totalNs(),
                            one.minNs(),
                            one.maxNs(),
                            one.totalElements(),
                            one.latency()))
                    .isEqualTo(List.of(
                            two.name(),
                            two.category(),
                            two.count(),
                            two.totalNs(),
                            two.minNs(),
                            two.maxNs(),
                            two.totalElements(),
                            two.latency()));
        }
    }

    @Test
    void executionsOfThisLibraryComeBackAsTheProfile() throws Exception {
        Path file = recordBricks();
        TraceProfile profile = TraceReader.profile(file);

        assertSameBricks(profile.snapshot(), profiler.snapshot());
        assertThat(profile.snapshot().bricks(StepInfo.Phase.PREFILL))
                .extracting(BrickStats::name, BrickStats::count)
                .containsExactlyInAnyOrder(tuple("RmsNorm", 1L), tuple("AttentionScore", 1L));
        assertThat(profile.snapshot().bricks(StepInfo.Phase.DECODE))
                .extracting(BrickStats::name, BrickStats::count)
                .containsExactlyInAnyOrder(tuple("RmsNorm", 199L), tuple("AttentionScore", 199L));
        assertThat(Omissions.counted(profile)).isEmpty();
        assertThat(profile.counting()).isEqualTo(TraceProfile.Counting.BRICKS);
        assertThat(profile.steps()).isEqualTo(200);
        assertThat(profile.rows()).isEqualTo(2);
        assertThat(profile.virtualMachine().anchors()).isPositive();
        assertThat(profile.virtualMachine().clockErrorNs()).isLessThan(10_000_000);
        assertThat(profile.summary()).contains("clock       bricks placed within ");
    }

    /** So many that they come in several batches, with steps between them. */
    @Test
    void manyExecutionsComeBackInTheirOrder() throws Exception {
        Path file = folder.resolve("many.jfr");
        try (Recording recording = new Recording();
                BrickEvents events = BrickEvents.of(profiler)) {
            assertThat(events).isNotNull();
            recording.enable("brick.Execution");
            recording.start();
            for (int i = 0; i < 10_000; i++) {
                if (i % 100 == 0) {
                    profiler.beginStep(i % 200 == 0 ? StepInfo.prefill(9) : StepInfo.decode(i));
                }
                profiler.record(i % 3 == 0 ? "a" : "Ab\u00e4", i, 2L * i);
                if (i % 100 == 99) {
                    profiler.endPass();
                }
            }
            recording.stop();
            recording.dump(file);
        }
        TraceProfile profile = TraceReader.profile(file);
        assertSameBricks(profile.snapshot(), profiler.snapshot());
        assertThat(profile.steps()).isEqualTo(100);
        for (StepInfo.Phase phase : List.of(StepInfo.Phase.PREFILL, StepInfo.Phase.DECODE)) {
            assertThat(profile.snapshot().bricks(phase))
                    .extracting(BrickStats::name, BrickStats::count, BrickStats::totalNs)
                    .containsExactlyInAnyOrderElementsOf(profiler.snapshot().bricks(phase).stream()
                            .map(brick -> tuple(brick.name(), brick.count(), brick.totalNs()))
                            .toList());
        }
    }

    /**
     * Works in a brick and beside it for a second, with samples each 10 ms. The first brick, and the time after it,
     * wait for a lock for 40 ms and 20 ms; bricks allocate.
     */
    private Path recordLines(boolean hasBricks) throws Exception {
        return recordLines(hasBricks, false);
    }

    private Path recordLines(boolean hasBricks, boolean isByProcessorTime) throws Exception {
        Path file = folder.resolve("lines.jfr");
        try (Recording recording = new Recording();
                BrickEvents events = BrickEvents.of(profiler)) {
            assertThat(events).isNotNull();
            if (hasBricks) {
                recording.enable("brick.Execution");
            }
            recording.enable("jdk.ActiveSetting");
            recording.enable("jdk.ExecutionSample").withPeriod(Duration.ofMillis(10));
            if (isByProcessorTime) {
                recording.enable("jdk.CPUTimeSample").with("throttle", "2ms");
            }
            recording.enable("jdk.JavaMonitorEnter").withThreshold(Duration.ofMillis(5));
            recording.enable("jdk.ObjectAllocationSample").with("throttle", "1000/s");
            recording.start();
            boolean isFirst = true;
            long untilNs = System.nanoTime() + 1_000_000_000;
            while (System.nanoTime() < untilNs) {
                profiler.beginStep(StepInfo.decode(1));
                long timer = profiler.startBrick(BrickId.UP_PROJECTION);
                if (isFirst) {
                    waitForLock(40);
                }
                work(1, 3_000_000);
                profiler.stopBrick(timer, 1);
                if (isFirst) {
                    waitForLock(20);
                }
                isFirst = false;
                workBetween(2, 1_000_000);
                profiler.endPass();
            }
            recording.stop();
            recording.dump(file);
        }
        assertThat(worked).isNotZero();
        return file;
    }

    private final Object lock = new Object();
    private byte[] allocated = {};
    private double worked;

    /** Waits for a lock that another thread holds. */
    private void waitForLock(long ms) throws Exception {
        CountDownLatch isHeld = new CountDownLatch(1);
        Thread holder = new Thread(() -> {
            synchronized (lock) {
                isHeld.countDown();
                LockSupport.parkNanos(ms * 1_000_000);
            }
        });
        holder.start();
        isHeld.await();
        synchronized (lock) {
            worked++;
        }
        holder.join();
    }

    private void work(int seed, long ns) {
        long untilNs = System.nanoTime() + ns;
        while (System.nanoTime() < untilNs) {
            for (int i = 0; i < 1_000; i++) {
                worked = worked * 0.9 + seed + i;
            }
            allocated = new byte[20_000];
        }
    }

    private void workBetween(int seed, long ns) {
        long untilNs = System.nanoTime() + ns;
        while (System.nanoTime() < untilNs) {
            for (int i = 0; i < 1_000; i++) {
                worked = worked * 0.8 + seed + i;
            }
        }
    }

    @Spec("13.19")
    @Test
    void theSamplesOfARecordingAreJoinedWithItsBricks() throws Exception {
        LineProfile lines = TraceReader.profile(recordLines(true)).lines().orElseThrow();

        assertThat(lines.missing()).isEmpty();
        assertThat(lines.periodNs()).isEqualTo(10_000_000);
        LineProfile.OfBrick brick = lines.bricks().get(0);
        assertThat(brick.brick()).isEqualTo("UpProjection");
        assertThat(brick.phase()).contains(StepInfo.Phase.DECODE);
        assertThat(brick.samples()).isGreaterThan(20);
        assertThat(brick.java().methods(9))
                .extracting(CallTree.Share::place)
                .contains(FlightRecordingReadTest.class.getName() + ".work")
                .noneMatch(method -> method.endsWith("workBetween"));
        assertThat(lines.samples().outside()).isPositive();

        assertThat(brick.allocated().events()).isPositive();
        assertThat(brick.allocated().largest().get(0).place())
                .isEqualTo(FlightRecordingReadTest.class.getName() + ".work");
        assertThat(brick.waited().events()).isEqualTo(1);
        assertThat(brick.waited().sum()).isBetween(30_000_000L, 500_000_000L);
        assertThat(brick.waited().largest()).extracting(Part::place).containsExactly("monitor of java.lang.Object");
        assertThat(lines.elsewhere().waits()).isEqualTo(1);
        assertThat(lines.elsewhere().waitedNs())
                .isBetween(10_000_000L, brick.waited().sum());
        assertThat(lines.elsewhere().leastWaitNs()).isEqualTo(5_000_000);
        assertThat(allocated).hasSize(20_000);
    }

    /** Names the methods of a class that are bricks. */
    private record Methods(String type, Map<String, String> bricks, List<String> leftOut) implements FrameBricks {
        @Override
        public Optional<String> brick(String owner, String method, String descriptor) {
            if (!owner.equals(type)) {
                return Optional.empty();
            }
            assertThat(descriptor).startsWith("(");
            return Optional.ofNullable(bricks.get(method));
        }

        @Override
        public int methods() {
            return bricks.size();
        }
    }

    private static LineProfile byFrames(Path file, Class<?> type, Map<String, String> bricks) throws IOException {
        return TraceReader.profile(
                        file,
                        ReadOptions.defaults()
                                .withFrames(new Methods(type.getName(), bricks, List.of("Norm in a.B.c"))))
                .lines()
                .orElseThrow();
    }

    @Spec("13.19")
    @Test
    void aRecordingWithSamplesAndWithoutBricksHasNoLines() throws Exception {
        Path file = recordLines(false);
        TraceProfile profile = TraceReader.profile(file);
        assertThat(profile.lines().orElseThrow().missing())
                .contains("the recording has no bricks; +brick.Execution#enabled=true records those of the library");

        LineProfile told =
                byFrames(file, FlightRecordingReadTest.class, Map.of("work", "UpProjection", "recordLines", "whole"));
        assertThat(told.missing()).isEmpty();
        assertThat(told.byFrames()).contains(new LineProfile.ByFrames(2, List.of("Norm in a.B.c")));
        assertThat(told.samples().inBricks()).as("of %s", told).isGreaterThan(20);
        LineProfile.OfBrick brick = told.bricks().get(0);
        assertThat(brick.brick()).as("the innermost").isEqualTo("UpProjection");
        assertThat(brick.phase()).isEmpty();
        assertThat(brick.due()).as("the time is unknown").isEmpty();
        assertThat(brick.allocated().events()).isPositive();
        assertThat(told.bricks().get(1).java().methods(9))
                .extracting(CallTree.Share::place)
                .contains(FlightRecordingReadTest.class.getName() + ".workBetween");
        assertThat(told.bricks().get(1).waited().events()).isEqualTo(2);
        assertThat(TraceReader.profile(recordBricks()).lines())
                .as("no samples, no lines")
                .isEmpty();
    }

    @Spec("13.19")
    @Test
    @EnabledForJreRange(minVersion = 25, disabledReason = "samples of earlier JDKs need not name the virtual thread")
    void theSamplesOfAVirtualThreadAreJoinedWithItsBricks() throws Exception {
        FutureTask<Path> recording = new FutureTask<>(() -> recordLines(true));
        VirtualThreadStarter.find().orElseThrow().start(recording).join();
        LineProfile lines = TraceReader.profile(recording.get()).lines().orElseThrow();

        LineProfile.OfBrick brick = lines.bricks().get(0);
        assertThat(brick.brick()).isEqualTo("UpProjection");
        assertThat(brick.ofWorkers()).isZero();
        assertThat(brick.java().methods(9))
                .extracting(CallTree.Share::place)
                .contains(FlightRecordingReadTest.class.getName() + ".work")
                .noneMatch(method -> method.endsWith("workBetween"));
        assertThat(lines.samples().virtualThreads()).isZero();
        assertThat(lines.samples().inBricks()).isGreaterThan(lines.samples().outside());
    }

    /** Two kinds of samples share no table: the kind with more samples has it. */
    @Spec("13.19")
    @Test
    @EnabledOnOs(OS.LINUX)
    @EnabledForJreRange(minVersion = 25, disabledReason = "jdk.CPUTimeSample is an event of JDK 25")
    void samplesByProcessorTimeAreAKindOfTheirOwn() throws Exception {
        Path file = recordLines(true, true);
        LineProfile lines = TraceReader.profile(file).lines().orElseThrow();
        assertThat(lines.mode()).contains("processor time");
        assertThat(lines.periodNs()).isBetween(2_000_000L, 20_000_000L);
        assertThat(lines.missing().orElseThrow()).contains(" of running threads left out");
        assertThat(lines.bricks().get(0).brick()).isEqualTo("UpProjection");
        LineProfile byFrames = byFrames(recordLines(false, true), FlightRecordingReadTest.class, Map.of("work", "all"));
        assertThat(byFrames.mode()).contains("processor time");
        assertThat(byFrames.missing().orElseThrow()).contains(" of running threads left out");
        assertThat(byFrames.bricks().get(0).samples()).isPositive();
    }

    @Spec("13.19")
    @Test
    void theBricksOfARecordingAreNotToldByFrames() throws Exception {
        LineProfile lines = byFrames(recordLines(true), FlightRecordingReadTest.class, Map.of("work", "other"));
        assertThat(lines.byFrames()).isEmpty();
        assertThat(lines.bricks()).extracting(LineProfile.OfBrick::brick).doesNotContain("other");
    }

    private static LineProfile async(String mode) throws IOException {
        return TraceReader.profile(
                        Path.of("src", "test", "resources", "traces", "async-" + mode + ".jfr.gz"),
                        ReadOptions.defaults()
                                .withFrames(new Methods(
                                        "SampledEngine",
                                        Map.of(
                                                "attend", "attend",
                                                "project", "project",
                                                "guarded", "guarded",
                                                "pause", "pause"),
                                        List.of())))
                .lines()
                .orElseThrow();
    }

    private static LineProfile.OfBrick brick(LineProfile lines, String name) {
        return lines.bricks().stream()
                .filter(each -> each.brick().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Spec("13.19")
    @Test
    void aRecordingOfAsyncProfilerNamesItsMode() throws Exception {
        LineProfile processor = async("ctimer");
        assertThat(processor.mode()).contains("processor time by async-profiler 4.5");
        assertThat(processor.periodNs()).isEqualTo(1_000_000);
        assertThat(processor.samples()).isEqualTo(new LineProfile.Samples(57, 4, 9, 0, 0, 0, 0, 0));
        assertThat(brick(processor, "attend").java().lines(1).get(0).place().toString())
                .isEqualTo("SampledEngine.dot line 31");
        assertThat(brick(processor, "project").allocated().largest())
                .extracting(Part::place)
                .containsExactly("SampledEngine.project");
        assertThat(brick(processor, "guarded").waited().largest())
                .extracting(Part::place)
                .containsExactly("monitor of java.lang.Object");
        assertThat(processor.elsewhere().leastWaitNs()).isEqualTo(1_000);

        LineProfile wall = async("wall");
        assertThat(wall.mode()).contains("wall-clock time by async-profiler 4.5 (the threads may have waited)");
        assertThat(wall.periodNs()).isEqualTo(5_000_000);
        assertThat(brick(wall, "guarded").natives().samples())
                .as("a thread that waits has samples of the clock")
                .isGreaterThan(brick(wall, "attend").samples());
        CallTree waits = brick(wall, "guarded").natives();
        assertThat(waits.precision().independent())
                .as("%s samples of a thread that waits for a lock", waits.samples())
                .isLessThan(waits.samples() / 2.0);
        CallTree.Share<Frame> line = waits.lines(1).get(0);
        assertThat(line.high() - line.low())
                .isGreaterThan(CallTree.Share.of("", line.samples(), waits.samples())
                                .high()
                        - CallTree.Share.of("", line.samples(), waits.samples()).low());
        assertThat(brick(processor, "attend").java().precision().independent())
                .isEqualTo((double) brick(processor, "attend").java().samples());

        LineProfile both = async("both");
        assertThat(both.mode())
                .contains(
                        "processor time by async-profiler 4.5 (7,792 samples of wall-clock time beside them left out)");
        assertThat(both.samples().total()).isEqualTo(65);
    }

    /** Each brick of the engine computes in a method of its own; {@code between} is in none. */
    @Spec("13.21")
    @Test
    void spansOfAsyncProfilerAreBricks() throws Exception {
        TraceProfile profile = TraceReader.profile(Path.of("src", "test", "resources", "traces", "async-spans.jfr.gz"));
        LineProfile lines = profile.lines().orElseThrow();

        assertThat(profile.snapshot().bricks()).isEmpty();
        assertThat(profile.summary()).contains("no event: spans of samples tell the bricks");
        assertThat(lines.byFrames()).contains(LineProfile.ByFrames.SPANS);
        assertThat(lines.text()).contains("The recording has the spans of bricks with samples");
        assertThat(lines.samples()).isEqualTo(new LineProfile.Samples(58, 66, 55, 0, 0, 1, 0, 0));
        assertThat(lines.mode()).contains("processor time by async-profiler 4.5");
        assertThat(lines.bricks()).allSatisfy(each -> {
            assertThat(each.phase()).contains(StepInfo.Phase.DECODE);
            assertThat(each.due()).isEmpty();
        });
        Map.of("AttentionScore", "attend", "RmsNorm", "norm", "UpProjection", "project")
                .forEach((brick, method) -> assertThat(Stream.of(
                                        brick(lines, brick).java(),
                                        brick(lines, brick).natives())
                                .flatMap(tree -> tree.nodes().stream())
                                .map(node -> node.frame().method())
                                .filter(each -> each.startsWith("SpannedEngine.") && !each.endsWith(".main")))
                        .as(brick)
                        .isNotEmpty()
                        .containsOnly("SpannedEngine." + method));
    }

    @Spec("13.19")
    @Test
    void bricksOfAnotherClockHaveNoLines() throws Exception {
        Path file = folder.resolve("clock.jfr");
        BrickProfiler other = BrickProfiler.builder()
                .clock(() -> System.nanoTime() + 3_600_000_000_000L)
                .build();
        other.enable();
        try (Recording recording = new Recording();
                BrickEvents events = BrickEvents.of(other)) {
            assertThat(events).isNotNull();
            recording.enable("brick.Execution");
            recording.enable("jdk.ExecutionSample").withPeriod(Duration.ofMillis(10));
            recording.start();
            long timer = other.startBrick(BrickId.UP_PROJECTION);
            work(1, 200_000_000);
            other.stopBrick(timer, 1);
            recording.stop();
            recording.dump(file);
        }
        assertThat(TraceReader.profile(file).lines().orElseThrow().missing())
                .contains("the recording has 1 brick of another clock than the one that it relates to its samples");
    }

    @Spec("13.19")
    @Test
    void theRecordingsOfTwoProcessesAreRefusedTogether() throws Exception {
        Path both = folder.resolve("both.jfr");
        for (String mode : List.of("ctimer", "wall")) {
            try (InputStream packed = new GZIPInputStream(
                    Files.newInputStream(Path.of("src", "test", "resources", "traces", "async-" + mode + ".jfr.gz")))) {
                Files.write(both, packed.readAllBytes(), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            }
        }
        assertThat(byFrames(both, FlightRecordingReadTest.class, Map.of("work", "x"))
                        .missing()
                        .orElseThrow())
                .startsWith("the recording holds 2 processes (process ");
    }

    @Test
    void theCollectionThatABrickWaitedForIsNamed() throws Exception {
        TraceProfile profile = TraceReader.profile(recordBricks());
        List<Disturbance> found = profile.virtualMachine().disturbances();
        Disturbance brick = found.stream()
                .filter(each -> each.brick().equals("AttentionScore") && each.cause() == Cause.GARBAGE_COLLECTION)
                .findFirst()
                .orElseThrow();

        BrickStats stats = profile.snapshot().brick("AttentionScore").orElseThrow();
        assertThat(brick.elapsedNs()).isPositive().isLessThanOrEqualTo(stats.maxNs());
        assertThat(brick.share()).isCloseTo((double) brick.elapsedNs() / stats.totalNs(), Offset.offset(1e-9));
        assertThat(brick.shareOfTail()).isGreaterThanOrEqualTo(brick.share());
        assertThat(found).extracting(Disturbance::brick).contains("step: decode");
        assertThat(profile.summary()).contains("AttentionScore: garbage collection ", " of its p99");
    }

    @Test
    void aRecordingIsReadFromAStreamAndPackedToo() throws Exception {
        byte[] bytes = Files.readAllBytes(recordBricks());
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
            gzip.write(bytes);
        }

        ProfileSnapshot expected = profiler.snapshot();
        assertSameBricks(
                TraceReader.profile(new ByteArrayInputStream(bytes), ReadOptions.defaults())
                        .snapshot(),
                expected);
        Path file = Files.write(folder.resolve("packed"), packed.toByteArray());
        assertSameBricks(TraceReader.profile(file).snapshot(), expected);
    }

    @Test
    void aTimelineHasTheSamplesOnTheirThreads() throws Exception {
        try (TraceTimeline timeline = TraceReader.timeline(recordBricks(), ReadOptions.defaults())) {
            assertThat(timeline.isOwn()).isTrue();
            assertThat(timeline.events()).isEqualTo(2 * 200 + 1 + 200);
            assertThat(timeline.timeline().tracks())
                    .extracting(Track::name)
                    .contains(Thread.currentThread().getName());
        }
    }

    /** An engine's own events. */
    @Name("acme.MatMul")
    static final class MatMul extends Event {
        String kind = "";
        int tokens;
    }

    private Path recordEngine() throws IOException {
        Path file = folder.resolve("engine.jfr");
        try (Recording recording = new Recording()) {
            recording.enable(MatMul.class).withoutStackTrace();
            recording.start();
            for (int i = 0; i < 30; i++) {
                MatMul event = new MatMul();
                event.kind = i % 3 == 0 ? "qkv" : "out";
                event.tokens = i;
                event.begin();
                event.end();
                event.commit();
            }
            recording.stop();
            recording.dump(file);
        }
        return file;
    }

    @Test
    void eventsOfAnEngineBecomeBricksByRules() throws Exception {
        TraceRules rules = TraceRules.parse("""
                QkvProjection <- name=/^acme\\.MatMul$/ args.kind=/qkv/ elements=args.tokens
                """);
        ReadOptions options = ReadOptions.defaults().withRules(rules).withKeepWarmup(true);
        ProfileSnapshot snapshot = TraceReader.profile(recordEngine(), options).snapshot();

        BrickStats qkv = snapshot.brick("QkvProjection").orElseThrow();
        assertThat(qkv.count()).isEqualTo(10);
        assertThat(qkv.category()).isEqualTo(BrickCategory.ATTENTION);
        assertThat(qkv.totalElements())
                .isEqualTo(IntStream.range(0, 10).map(i -> 3 * i).sum());
        BrickStats others = snapshot.brick("acme.MatMul").orElseThrow();
        assertThat(others.count()).isEqualTo(20);
        assertThat(others.totalElements()).isZero();
    }

    @Test
    void aTimelineCountsTheFieldsThatItHasNoPlaceFor() throws Exception {
        try (TraceTimeline timeline = TraceReader.timeline(recordEngine(), ReadOptions.defaults())) {
            // The virtual machine may collect garbage meanwhile, which is an event, too.
            assertThat(timeline.differences())
                    .matches("(\\d+ events? of the virtual machine, )?60 arguments left out \\(kind 30, tokens 30\\)");
        }
    }

    @Test
    void anIncompleteRecordingIsRefused() throws Exception {
        byte[] bytes = Files.readAllBytes(recordEngine());
        for (int length : new int[] {4, 40, 100, bytes.length / 2, bytes.length - 1}) {
            Path cut = Files.write(folder.resolve("cut.jfr"), Arrays.copyOf(bytes, length));
            assertThatThrownBy(() -> TraceReader.profile(cut))
                    .as("cut after %d of %d bytes", length, bytes.length)
                    .isInstanceOf(TraceFormatException.class)
                    .hasMessageContaining("cut.jfr");
        }
    }

    private static final ReadOptions SALVAGE = ReadOptions.defaults().withSalvage(true);

    private Path written(byte[] bytes) throws IOException {
        return Files.write(folder.resolve("damaged.jfr"), bytes);
    }

    /** The state of a chunk, at byte 64, is not 0 in a file of a process that was killed; a size follows at byte 8. */
    @Test
    void whatStandsBeforeDamageIsSalvaged() throws Exception {
        byte[] bytes = Files.readAllBytes(recordBricks());
        ProfileSnapshot whole = profiler.snapshot();

        int part = bytes.length / 8;
        byte[] twice = Arrays.copyOf(bytes, bytes.length + part);
        System.arraycopy(bytes, 0, twice, bytes.length, part);
        Path cutInTheSecond = written(twice);
        assertThatThrownBy(() -> TraceReader.profile(cutInTheSecond))
                .isInstanceOfSatisfying(TraceFormatException.class, refused -> assertThat(refused.isDamage())
                        .isTrue())
                .hasMessageContaining("the file ends ");
        assertSameBricks(TraceReader.profile(cutInTheSecond, SALVAGE).snapshot(), whole);

        byte[] longer = bytes.clone();
        longer[14]++;
        Path ofALongerChunk = written(longer);
        assertThatThrownBy(() -> TraceReader.profile(ofALongerChunk)).hasMessageContaining("the file ends ");
        assertSameBricks(TraceReader.profile(ofALongerChunk, SALVAGE).snapshot(), whole);

        byte[] followed = Arrays.copyOf(bytes, bytes.length + 100);
        followed[64] = 1;
        Path ofAKilledProcess = written(followed);
        assertThatThrownBy(() -> TraceReader.profile(ofAKilledProcess)).hasMessageContaining("was not completed");
        assertSameBricks(TraceReader.profile(ofAKilledProcess, SALVAGE).snapshot(), whole);

        for (byte state : new byte[] {1, -1}) {
            byte[] ended = bytes.clone();
            ended[64] = state;
            assertSameBricks(TraceReader.profile(written(ended)).snapshot(), whole);
        }

        Path early = written(Arrays.copyOf(bytes, part));
        assertThatThrownBy(() -> TraceReader.profile(early, SALVAGE))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining("the description of their types and their constants would follow");
    }

    /** Bytes within the value of an event may change a number without a trace: the format has no checksums. */
    @Test
    void damageIsRefusedWithAReasonAndNothingElse() throws Exception {
        byte[] bytes = Files.readAllBytes(recordBricks());
        Random random = new Random(5);
        for (int i = 0; i < 60; i++) {
            byte[] damaged = bytes.clone();
            int at = i < 20 ? 8 + 3 * i : random.nextInt(bytes.length - 64);
            if (i % 3 == 0) {
                Arrays.fill(damaged, at, at + 64, (byte) 0);
            } else {
                damaged[at] ^= (byte) (1 << random.nextInt(8));
            }
            Path file = written(damaged);
            for (ReadOptions options : List.of(ReadOptions.defaults(), SALVAGE)) {
                try {
                    TraceProfile profile = TraceReader.profile(file, options);
                    assertThat(profile.snapshot().bricks())
                            .extracting(BrickStats::count)
                            .allMatch(count -> count <= 200);
                } catch (TraceFormatException refused) {
                    assertThat(refused.fault()).as("damage at %d", at).startsWith("the ");
                }
            }
        }
    }

    /** The texts of an event have the forms of all JDKs, and refer to constants. */
    @Test
    void textsAndNumbersOfARecordingAreRead() throws Exception {
        byte[] bytes = {
            0, 1, 2, 7, 3, 2, (byte) 0xC3, (byte) 0xA4, 4, 1, (byte) 0xE4, 1, 5, 1, (byte) 0xE4, 9, (byte) 0xFF, 1
        };
        RecordingBytes values = new RecordingBytes();
        values.reset(bytes, 0, bytes.length);
        RecordingBytes.Constants constants = number -> "constant " + number;
        assertThat(values.readText(constants)).isNull();
        assertThat(values.readText(constants)).isEmpty();
        assertThat(values.readText(constants)).isEqualTo("constant 7");
        for (int form = 3; form <= 5; form++) {
            assertThat(values.readText(constants)).as("form %d", form).isEqualTo("\u00e4");
        }
        assertThatThrownBy(() -> values.readText(constants)).hasMessageContaining("unknown form 9");
        assertThat(values.readNumber()).isEqualTo(255);
        assertThatThrownBy(values::readNumber).hasMessageContaining("shorter than its values");
        values.reset(new byte[] {-1, -1, -1, -1, -1, -1, -1, -1, -1}, 0, 9);
        assertThat(values.readNumber()).isEqualTo(-1);
    }

    @Test
    void aRuleNamesTheArgumentOrIsRefused() {
        assertThatThrownBy(() -> TraceRules.parse("RmsNorm <- name=/x/ elements=args. "))
                .hasMessageContaining("there is no argument after elements=args.");
        assertThatThrownBy(() -> TraceRules.parse("RmsNorm <- elements=args.tokens"))
                .hasMessageContaining("no condition");
    }

    /** A program whose methods are traced and timed from outside. */
    static final class Engine {
        static double forward(int n) {
            double sum = 0;
            for (int i = 0; i < n; i++) {
                sum += Math.sqrt(i);
            }
            return sum;
        }

        static double project(int n) {
            return forward(n) + 1;
        }

        static double scale(int n) {
            return Math.sqrt(n);
        }

        static double scale(double n) {
            return Math.sqrt(n);
        }

        static double neverCalled(int n) {
            return n;
        }

        public static void main(String[] args) {
            double sum = 0;
            for (int i = 0; i < 25; i++) {
                sum += project(1_000) + scale(i) + scale(i) + scale(1.0 * i);
            }
            if (sum < 0) {
                sum = neverCalled(1);
            }
            System.out.println(sum > 0);
        }
    }

    @Test
    @EnabledForJreRange(minVersion = 25, disabledReason = "earlier JDKs neither trace nor time methods")
    void methodsThatTheJdkTracedAndTimed() throws Exception {
        Path file = folder.resolve("methods.jfr");
        String name = Engine.class.getName();
        ProcessResult result = ChildProcess.java(Engine.class)
                .jvmOptions(List.of("-XX:StartFlightRecording:filename=" + file + ",method-trace=" + name
                        + "::project,method-timing=" + name + "::forward;" + name + "::scale;" + name
                        + "::neverCalled"))
                .run();
        assertThat(result.out()).contains("true");
        ReadOptions options = ReadOptions.defaults()
                .withRules(TraceRules.parse("OutputProjection <- name=/Engine\\.project$/ cat=/^method$/"))
                .withKeepWarmup(true);
        ProfileSnapshot snapshot = TraceReader.profile(file, options).snapshot();

        assertThat(snapshot.brick("OutputProjection").orElseThrow().count()).isEqualTo(25);
        BrickStats forward = snapshot.brick(name + ".forward").orElseThrow();
        assertThat(forward.count()).isEqualTo(25);
        assertThat(forward.totalNs()).isBetween(25 * forward.minNs(), 25 * forward.maxNs());
        BrickStats scale = snapshot.brick(name + ".scale").orElseThrow();
        assertThat(scale.count()).as("of both overloads").isEqualTo(75);
        assertThat(scale.totalNs()).isBetween(75 * scale.minNs(), 75 * scale.maxNs());
        assertThat(snapshot.brick(name + ".neverCalled"))
                .as("a method without a call")
                .isEmpty();
    }
}
