package org.brickprofiler.testing;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Random;
import java.util.stream.LongStream;
import org.brickprofiler.Bottleneck;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.DeviceTime;
import org.brickprofiler.Environment;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.Step;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepStats;
import org.brickprofiler.Steps;
import org.brickprofiler.Work;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.graph.EdgeType;
import org.brickprofiler.graph.ExecutionGraph;
import org.brickprofiler.graph.ExecutionNode;
import org.brickprofiler.graph.TransferDirection;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.tile.TileStats;

/** Snapshots to report. */
public final class Profiles {

    public static final Environment ENVIRONMENT = new Environment(
            "17.0.15", "OpenJDK 64-Bit Server VM 17.0.15+6", "Linux 6.1.0", "amd64", "Example CPU @ 2.40GHz", 8, 21);

    public static final Instant STARTED = Instant.parse("2026-01-02T03:04:05.123456789Z");
    public static final Instant ENDED = Instant.parse("2026-01-02T03:04:17.470Z");

    private static final long LAST_AT_UNIX_NS = 1_767_323_057_470_000_001L;

    private Profiles() {}

    public static ProfileSnapshot empty() {
        return ProfileSnapshot.builder(STARTED, ENDED, 0)
                .environments(List.of(ENVIRONMENT))
                .build();
    }

    /** One thread, no percentiles, nothing optional. */
    public static ProfileSnapshot plain() {
        return ProfileSnapshot.builder(STARTED, ENDED, 20_000_000_000L)
                .threads(1, false)
                .overheadNs(80_000)
                .environments(List.of(ENVIRONMENT))
                .bricks(List.of(
                        brick("DownProjection", BrickCategory.FFN, 704, 6_120_450_112L, 8_011_000, 12_345_678, 704),
                        brick("RmsNorm", BrickCategory.NORM, 1_441, 31_702_000, 13_870, 191_004, 1_441),
                        brick("Sampling", BrickCategory.OTHER, 1, 999, 999, 999, 1)))
                .build();
    }

    /** Bricks on two streams of a device, one of which was lost. */
    public static ProfileSnapshot device() {
        BrickStats host = brick("Sampling", BrickCategory.OTHER, 32, 1_900_000, 40_000, 90_000, 32);
        return ProfileSnapshot.builder(STARTED, ENDED, 12_346_543_211L)
                .threads(1, false)
                .overheadNs(65_432)
                .deferred(0, 14, 0)
                .tilesOff(true)
                .environments(List.of(ENVIRONMENT))
                .bricks(List.of(
                        onDevice(
                                brick("DownProjection", BrickCategory.FFN, 704, 620_450_112L, 801_000, 1_234_567, 704),
                                new DeviceTime(704, 44, 256_000, 3_900, 61_000, 0)),
                        onDevice(
                                brick("RmsNorm", BrickCategory.NORM, 1_441, 3_170_200, 2_010, 9_100, 1_441),
                                new DeviceTime(1_441, 1_441, 9_004_000, 4_100, 88_000, 2)),
                        onDevice(
                                brick("LmHead", BrickCategory.OTHER, 40, 61_000_000, 900_000, 1_900_000, 40),
                                new DeviceTime(32, 0, 0, 0, 0, 0)),
                        onDevice(
                                BrickStats.empty("page out", BrickCategory.TRANSFER, Bottleneck.UNKNOWN),
                                new DeviceTime(0, 0, 0, 0, 0, 12)),
                        host))
                .streams(List.of(
                        StreamTotals.builder("decode", "Example GPU", 0)
                                .identifiers(
                                        Optional.of("GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadae00"),
                                        Optional.of("0000:17:00.0"))
                                .bricks(2_177, 683_120_300, 21_400_900)
                                .gaps(2_145, 1_300)
                                .waits(32)
                                .clockErrorNs(4_200)
                                .build(),
                        StreamTotals.builder("copies", "Example GPU", 0)
                                .failure(Optional.of("the device was lost"))
                                .build()))
                .build();
    }

    /** A device whose bricks were marked by sampling: one with few samples, one without a known error, one exact. */
    public static ProfileSnapshot sampled() {
        return ProfileSnapshot.builder(STARTED, ENDED, 2_346_543_211L)
                .threads(1, false)
                .environments(List.of(ENVIRONMENT))
                .bricks(List.of(
                        onDevice(
                                brick("DownProjection", BrickCategory.FFN, 704, 620_450_112L, 801_000, 1_234_567, 704),
                                new DeviceTime(
                                        66,
                                        0,
                                        0,
                                        0,
                                        0,
                                        0,
                                        0,
                                        638,
                                        6_450_112.5,
                                        61.3,
                                        1_000,
                                        0,
                                        DeviceTime.MarkTime.NONE)),
                        onDevice(
                                brick("RmsNorm", BrickCategory.NORM, 40, 3_170_200, 2_010, 9_100, 40),
                                new DeviceTime(2, 0, 0, 0, 0, 2, 0, 38, 0, 0, 0, 0, DeviceTime.MarkTime.NONE)),
                        onDevice(
                                brick("LmHead", BrickCategory.OTHER, 32, 61_000_000, 900_000, 1_900_000, 40),
                                new DeviceTime(32, 0, 0, 0, 0, 0))))
                .streams(List.of(StreamTotals.builder("decode", "Example GPU", 0)
                        .bricks(776, 684_620_312, 0)
                        .passes(OptionalLong.of(701_000_000), true)
                        .build()))
                .build();
    }

    private static BrickStats onDevice(BrickStats b, DeviceTime device) {
        return b.toBuilder().device(device).build();
    }

    public static BrickStats working(BrickStats b, Work work) {
        return b.toBuilder().work(work).build();
    }

    /** Bricks with and without work, compute bound and memory bound. */
    public static ProfileSnapshot withWork() {
        return of(
                working(
                        "QkvProjection",
                        BrickCategory.ATTENTION,
                        700_000_000,
                        new Work(52_000_000_000L, 26_000_000_000L, 2L << 30)),
                working("RmsNorm", BrickCategory.NORM, 9_000_000, new Work(40_000_000, 60_000_000, 12_288)),
                working("AttentionSoftmax", BrickCategory.ATTENTION, 3_000_000, new Work(2_900_000_000L, 0, 0)),
                working("\u00fcbrig", BrickCategory.OTHER, 1_000, new Work(1, 3_000_000, 4_096)),
                brick("Sampling", BrickCategory.OTHER, 1, 999, 999, 999, 1));
    }

    /** A brick of ten samples that did some work. */
    public static BrickStats working(String name, BrickCategory category, long totalNs, Work work) {
        return working(brick(name, category, 10, totalNs, 1, totalNs, 10), work);
    }

    /** Everything that a snapshot can hold. */
    public static ProfileSnapshot full() {
        return ProfileSnapshot.builder(STARTED, ENDED, 12_346_543_211L)
                .threads(3, true)
                .overheadNs(65_432_100)
                .deferred(12, 0, 0)
                .l2CacheHitRate(OptionalDouble.of(0.9125))
                .zeroCopy(true)
                .environments(List.of(ENVIRONMENT))
                .bricks(fullBricks())
                .tiles(List.of(
                        TileStats.builder(TileLevel.MACRO)
                                .samples(704, 6_100_000_000L, 7_900_000, 12_300_000)
                                .work(5_767_168_000L, 11_534_336_000L)
                                .slowest(3, 7)
                                .build(),
                        TileStats.builder(TileLevel.MICRO)
                                .samples(1_441_792, 5_800_000_000L, 812, 91_000)
                                .work(5_905_580_032L, 11_811_160_064L)
                                .slowest(2_047, 15)
                                .build()))
                .build();
    }

    /** Deferred measurements that shared one resolution, some of which are still pending, and no switch for tiles. */
    public static ProfileSnapshot deferred() {
        return ProfileSnapshot.builder(STARTED, ENDED, 1_000_000)
                .threads(1, false)
                .overheadNs(150)
                .deferred(0, 1_200, 3)
                .tilesOff(true)
                .environments(List.of(ENVIRONMENT))
                .bricks(List.of(
                        brick("RmsNorm", BrickCategory.NORM, 1, 1_000_000, 1_000_000, 1_000_000, 1),
                        brick("DownProjection", BrickCategory.FFN, 1, 900_000, 900_000, 900_000, 1),
                        brick("LmHead", BrickCategory.OTHER, 1, 600_000, 600_000, 600_000, 1)))
                .build();
    }

    private static List<BrickStats> fullBricks() {
        return List.of(
                working(
                        BrickStats.builder("DownProjection", BrickCategory.FFN)
                                .bottleneck(Bottleneck.MEMORY)
                                .samples(704, 6_120_450_112L, 8_011_000, 12_345_678)
                                .last(8_700_001, LAST_AT_UNIX_NS)
                                .elements(704)
                                .bytes(127_205_900_288L, 0)
                                .latency(Optional.of(latency(704, 8_650_000)))
                                .build(),
                        new Work(63_491_014_656L, 127_205_900_288L, 4_000_000_000L)),
                BrickStats.builder("GateProjection", BrickCategory.FFN)
                        .bottleneck(Bottleneck.MEMORY)
                        .samples(704, 6_013_000_771L, 8_000_001, 11_900_000)
                        .last(8_500_500, LAST_AT_UNIX_NS)
                        .elements(704)
                        .bytes(127_205_900_288L, 0)
                        .latency(Optional.of(latency(704, 8_490_000)))
                        .build(),
                BrickStats.builder("AttentionSoftmax", BrickCategory.ATTENTION)
                        .bottleneck(Bottleneck.COMPUTE)
                        .samples(22_528, 2_530_000_000L, 90_100, 412_000)
                        .last(120_000, LAST_AT_UNIX_NS)
                        .elements(1_441_792)
                        .cycles(5_060_000_000L, 180_200, 824_000)
                        .latency(Optional.of(latency(22_528, 109_000)))
                        .build(),
                BrickStats.builder("model.layers.31.self_attn.rotary_embedding.cache_update", BrickCategory.OTHER)
                        .samples(44_000, 120_450_000, 812, 99_960)
                        .last(2_500, LAST_AT_UNIX_NS)
                        .elements(44_000)
                        .build(),
                BrickStats.builder("quantize\n\tkv \u00e9", BrickCategory.QUANTIZATION)
                        .samples(12, 3_400_000, 250_000, 300_000)
                        .last(290_000, LAST_AT_UNIX_NS)
                        .elements(12)
                        .bytes(4_194_304, 1_048_576)
                        .latency(Optional.of(latency(12, 281_000)))
                        .build(),
                brick("Sampling", BrickCategory.OTHER, 1, 999, 999, 999, 1));
    }

    public static BrickStats brick(
            String name, BrickCategory category, long count, long totalNs, long minNs, long maxNs, long elements) {
        return BrickStats.builder(name, category)
                .samples(count, totalNs, minNs, maxNs)
                .last(maxNs, LAST_AT_UNIX_NS)
                .elements(elements)
                .build();
    }

    public static ProfileSnapshot of(BrickStats... bricks) {
        return ProfileSnapshot.builder(STARTED, ENDED, 1_000_000_000)
                .threads(1, false)
                .overheadNs(100)
                .environments(List.of(ENVIRONMENT))
                .bricks(List.of(bricks))
                .build();
    }

    /**
     * Bricks of all categories, with durations of every magnitude. Each has a distribution as wide as on a busy
     * machine.
     */
    public static ProfileSnapshot many(int bricks) {
        Random random = new Random(42);
        BrickCategory[] categories = BrickCategory.values();
        BrickStats[] all = new BrickStats[bricks];
        for (int i = 0; i < bricks; i++) {
            long[] counts = new long[LatencyBuckets.COUNT];
            double typicalNs = Math.pow(10, 2 + 6 * random.nextDouble());
            long count = 0;
            long totalNs = 0;
            long minNs = Long.MAX_VALUE;
            long maxNs = 0;
            for (; count < 1_000; count++) {
                long ns = Math.round(typicalNs * Math.exp(0.3 * random.nextGaussian()));
                counts[LatencyBuckets.indexOf(ns)]++;
                totalNs += ns;
                minNs = Math.min(minNs, ns);
                maxNs = Math.max(maxNs, ns);
            }
            all[i] = BrickStats.builder("model.layers." + i + ".block", categories[i % categories.length])
                    .samples(count, totalNs, minNs, maxNs)
                    .last(maxNs, LAST_AT_UNIX_NS)
                    .elements(4 * count)
                    .latency(Optional.of(LatencyDistribution.ofCounts(counts)))
                    .build();
        }
        return of(all);
    }

    /**
     * A pass on one thread: a brick, then layers of {@code bricks} bricks each, one after the other. The first brick of
     * layer 3 takes ten times as long as in other layers. Nothing waits for a copy beside them.
     */
    public static ExecutionGraph pass(int layers, int bricks) {
        ExecutionGraph graph = new ExecutionGraph();
        int last = graph.addNode(new ExecutionNode.Brick("Embedding", 2_000, 1));
        for (int layer = 0; layer < layers; layer++) {
            int owner = graph.addNode(new ExecutionNode.Layer(layer));
            graph.addEdge(last, owner, EdgeType.SEQUENCE);
            last = owner;
            int previous = -1;
            for (int brick = 0; brick < bricks; brick++) {
                long ns = 1_000L * (brick + 1) * (brick == 0 && layer == 3 ? 10 : 1);
                String name = brick == 0 ? "RmsNorm" : brick == 1 ? "DownProjection" : "model.block." + brick;
                int node = graph.addNode(new ExecutionNode.Brick(name, ns, 1));
                graph.addEdge(owner, node, EdgeType.CONTAINS);
                if (previous >= 0) {
                    graph.addEdge(previous, node, EdgeType.SEQUENCE);
                }
                previous = node;
            }
        }
        graph.addNode(
                new ExecutionNode.Transfer("host", "device", 4_096, TransferDirection.H2D, OptionalLong.of(1_500)));
        return graph;
    }

    /** Runs a pass of layers: an embedding of 1 us, and in each layer a norm of 1 us and a product. */
    public static void pass(BrickProfiler profiler, FakeClock clock, int productUs, int layers) {
        timed(profiler, clock, BrickId.EMBEDDING, 1);
        for (int layer = 0; layer < layers; layer++) {
            profiler.startLayer();
            timed(profiler, clock, BrickId.RMS_NORM, 1);
            timed(profiler, clock, BrickId.DOWN_PROJECTION, productUs);
            profiler.endLayer();
        }
        profiler.endPass();
    }

    /**
     * A profile of prompts of 100 tokens, after each of which 150 tokens are decoded, slower and slower. One token of
     * the second prompt is very slow.
     */
    public static ProfileSnapshot decoded(int prompts) {
        FakeClock clock = new FakeClock();
        BrickProfiler profiler =
                BrickProfiler.builder().clock(clock).percentiles(true).build();
        profiler.enable();
        for (int prompt = 0; prompt < prompts; prompt++) {
            profiler.beginStep(StepInfo.prefill(100));
            pass(profiler, clock, 2_000, 4);
            for (int token = 0; token < 150; token++) {
                clock.advance(5_000);
                profiler.beginStep(StepInfo.decode(100 + token));
                pass(profiler, clock, prompt == 1 && token == 70 ? 300 : 40 + token / 5, 4);
            }
        }
        return profiler.snapshot();
    }

    private static void timed(BrickProfiler profiler, FakeClock clock, BrickId brick, long us) {
        long timer = profiler.startBrick(brick);
        clock.advance(1_000 * us);
        profiler.stopBrick(timer, 1);
    }

    /** Nine tenths in the bucket of a duration, the rest eight buckets further on. */
    private static LatencyDistribution latency(long count, long ns) {
        int bucket = LatencyBuckets.indexOf(ns);
        long[] counts = new long[bucket + 9];
        counts[bucket] = count * 9 / 10;
        counts[bucket + 8] = count - counts[bucket];
        return LatencyDistribution.ofCounts(counts);
    }

    /** Steps of two phases, one of which checks drafted tokens. */
    public static ProfileSnapshot steps() {
        return steps(RequestStats.NONE);
    }

    /** The same steps with 200 requests, of which two waited long behind the prompts of others. */
    public static ProfileSnapshot requests() {
        return steps(RequestSamples.twoOfThemSlow());
    }

    /** Requests of a simulated engine with whole prompts. */
    public static ProfileSnapshot served(int number) {
        return withTimeline(RequestSamples.served(number));
    }

    /** Requests whose threads tokenize and detokenize. */
    public static ProfileSnapshot withOwnWork() {
        return withTimeline(RequestSamples.withOwnWork());
    }

    private static ProfileSnapshot withTimeline(RequestRecorder recorder) {
        return steps(recorder.stats()).toBuilder()
                .requestTimeline(recorder.timeline().get())
                .build();
    }

    private static ProfileSnapshot steps(RequestStats requests) {
        Step prompt = new Step(
                0,
                1_760_000_000_000_000_000L,
                40_000_000,
                StepInfo.prefill(512),
                0,
                Map.of(BrickCategory.ATTENTION, 9_000_000L, BrickCategory.FFN, 28_000_000L));
        Step token = new Step(
                1, 1_760_000_000_041_000_000L, 2_500_000, StepInfo.decode(512).withDraftedTokens(4), 3, Map.of());
        return ProfileSnapshot.builder(STARTED, ENDED, 50_000_000)
                .threads(1, false)
                .overheadNs(65_432)
                .tilesOff(true)
                .environments(List.of(ENVIRONMENT))
                .bricks(List.of(
                        brick("DownProjection", BrickCategory.FFN, 2, 28_000_000, 500_000, 27_500_000, 513),
                        brick("AttentionScore", BrickCategory.ATTENTION, 2, 9_000_000, 500_000, 8_500_000, 513)))
                .steps(new Steps(
                        List.of(phase(prompt, 1, 37_000_000), phase(token, 2, 0)),
                        distribution(40_000_000),
                        40_000_000,
                        distribution(875_000),
                        1,
                        List.of(prompt, token)))
                .requests(requests)
                .build();
    }

    private static StepStats phase(Step step, long steps, long attributedNs) {
        StepInfo info = step.info();
        return StepStats.builder(info.phase())
                .steps(steps, steps * step.durationNs())
                .durations(
                        steps * step.durationNs(),
                        step.durationNs(),
                        step.durationNs(),
                        distribution(LongStream.generate(step::durationNs)
                                .limit(steps)
                                .toArray()))
                .sequences(steps)
                .tokens(
                        steps * info.prefillTokens(),
                        steps * step.outputTokens(),
                        steps * info.draftedTokens(),
                        steps * step.acceptedTokens())
                .kvLength(steps * info.kvLength())
                .categories(attributedNs > 0 ? steps : 0, step.categoryNs())
                .build();
    }

    private static LatencyDistribution distribution(long... durationsNs) {
        long[] counts = new long[LatencyBuckets.COUNT];
        for (long ns : durationsNs) {
            counts[LatencyBuckets.indexOf(ns)]++;
        }
        return LatencyDistribution.ofCounts(counts);
    }
}
