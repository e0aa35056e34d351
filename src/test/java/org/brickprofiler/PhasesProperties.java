package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.lifecycle.AfterProperty;
import net.jqwik.api.lifecycle.BeforeProperty;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.jspecify.annotations.Nullable;

/**
 * The phases of samples in random schedules of steps on several threads, which end and are replaced. Bricks get their
 * names at any moment, so tables grow at any moment, also while steps of several phases are under way. A naive model
 * decides for each sample, by looking at all steps, which phase it has; both agree in every figure.
 */
class PhasesProperties {

    private static final int THREADS = 3;
    private static final int OPERATIONS = 160;
    private static final List<String> KNOWN =
            List.of(BrickId.RMS_NORM.displayName(), BrickId.QKV_PROJECTION.displayName());

    private final List<ExecutorService> threads = new ArrayList<>();

    @BeforeProperty
    void startThreads() {
        for (int i = 0; i < THREADS; i++) {
            threads.add(Executors.newSingleThreadExecutor());
        }
    }

    @AfterProperty
    void endThreads() {
        threads.forEach(ExecutorService::shutdown);
    }

    /** The phase of a recorded step, a step that was not recorded, or no step. */
    private enum Of {
        NO_STEP,
        UNRECORDED,
        PREFILL,
        DECODE,
        MIXED;

        static Of of(StepInfo.Phase phase) {
            return valueOf(phase.name());
        }

        StepInfo.@Nullable Phase phase() {
            return this == NO_STEP || this == UNRECORDED ? null : StepInfo.Phase.valueOf(name());
        }
    }

    /** The state of a thread in the model. */
    private static final class Modelled {
        private Of own = Of.NO_STEP;

        /** Whether its own step is under way: a switch off abandons it, and its samples keep its phase. */
        private boolean isUnderWay;

        /** Whether it has begun a step or served a request: between its steps, it works for no other step. */
        private boolean hasOwnSteps;

        private RequestRecorder.@Nullable Scope served;
        private Of given = Of.NO_STEP;
        private boolean inLayer;
        private long layer;
        private final ThreadProfiler timers;

        Modelled(ThreadProfiler timers) {
            this.timers = timers;
        }
    }

    /** A layer token, and the step to which its layer belongs. */
    private record Token(long value, Of step) {}

    /** The samples of a brick. */
    private static final class Samples {
        private final long[] counts = new long[LatencyBuckets.COUNT];
        private long count;
        private long totalNs;
        private long minNs = Long.MAX_VALUE;
        private long maxNs;
        private long elements;
        private long flops;

        void add(long ns, long number) {
            counts[LatencyBuckets.indexOf(ns)]++;
            count++;
            totalNs += ns;
            minNs = Math.min(minNs, ns);
            maxNs = Math.max(maxNs, ns);
            elements += number;
        }

        List<Object> figures() {
            return List.of(
                    count,
                    totalNs,
                    count == 0 ? 0 : minNs,
                    maxNs,
                    elements,
                    flops,
                    LatencyDistribution.ofCounts(counts));
        }
    }

    private static List<Object> figures(BrickStats stats) {
        return List.of(
                stats.count(),
                stats.totalNs(),
                stats.minNs(),
                stats.maxNs(),
                stats.totalElements(),
                stats.work().flops(),
                stats.latency().orElse(LatencyDistribution.EMPTY));
    }

    @Spec({"17.9", "17.10"})
    @Property(tries = 30)
    void everySampleHasThePhaseThatANaiveModelFinds(@ForAll long seed) {
        new Schedule(new Random(seed)).run();
    }

    /** One random schedule. Operations of different threads follow one another. */
    private final class Schedule {
        private final Random random;
        private final FakeClock clock = new FakeClock();
        private final BrickProfiler profiler =
                BrickProfiler.builder().clock(clock).percentiles(true).build();
        private final List<Modelled> models = new ArrayList<>();
        private final List<Token> tokens = new ArrayList<>();

        /** The bricks so far; each new one is dynamic, and lets the tables grow in which it is recorded. */
        private final List<String> bricks = new ArrayList<>(KNOWN);

        private final Map<String, Samples> expected = new HashMap<>();
        private final List<ProfileSnapshot> parts = new ArrayList<>();
        private final List<Thread> ended = new ArrayList<>();
        private @Nullable ProfileSnapshot earlier;

        Schedule(Random random) {
            this.random = random;
        }

        void run() {
            profiler.enable();
            for (int i = 0; i < THREADS; i++) {
                on(i, () -> models.add(new Modelled(profiler.forThisThread())));
            }
            for (int i = 0; i < OPERATIONS; i++) {
                int thread = random.nextInt(THREADS);
                if (random.nextInt(20) == 0) {
                    end(thread);
                }
                on(thread, operation(models.get(thread)));
            }
            for (int i = 0; i < THREADS; i++) {
                on(i, () -> {
                    profiler.workFor(0);
                    profiler.endPass();
                });
            }
            part();
            check();
        }

        private void on(int thread, Runnable action) {
            try {
                threads.get(thread).submit(action).get();
            } catch (InterruptedException | ExecutionException e) {
                throw new AssertionError(e);
            }
        }

        /** Replaces an idle thread by a new one, which may become the first of the live threads. */
        private void end(int thread) {
            Modelled mine = models.get(thread);
            if (mine.own == Of.NO_STEP && mine.given == Of.NO_STEP && !mine.inLayer) {
                on(thread, () -> ended.add(Thread.currentThread()));
                threads.get(thread).shutdown();
                awaitEnd(ended.get(ended.size() - 1));
                threads.set(thread, Executors.newSingleThreadExecutor());
                on(thread, () -> models.set(thread, new Modelled(profiler.forThisThread())));
            }
        }

        private void awaitEnd(Thread thread) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        private Runnable operation(Modelled mine) {
            return switch (random.nextInt(16)) {
                case 0, 1 -> () -> begin(mine);
                case 2 -> () -> end(mine);
                case 3 -> () -> layer(mine);
                case 4 -> () -> workFor(mine);
                case 5 -> random.nextInt(4) == 0 ? this::part : () -> timed(mine);
                case 6 -> random.nextInt(4) == 0 ? this::turn : () -> timed(mine);
                case 7 -> () -> deferred(mine);
                case 8 -> () -> work(mine);
                case 9 -> () -> recorded(mine);
                case 10 -> () -> serve(mine);
                default -> () -> timed(mine);
            };
        }

        private void begin(Modelled mine) {
            StepInfo.Phase phase = List.of(StepInfo.Phase.values()).get(random.nextInt(3));
            profiler.beginStep(new StepInfo(phase, 1, 0, 0, 1, 0));
            mine.own = profiler.isEnabled() ? Of.of(phase) : Of.UNRECORDED;
            mine.isUnderWay = profiler.isEnabled();
            mine.hasOwnSteps = true;
            mine.inLayer = false;
        }

        /** Serves a request, or leaves it. */
        private void serve(Modelled mine) {
            RequestRecorder.Scope open = mine.served;
            if (open != null) {
                open.close();
                mine.served = null;
            } else if (random.nextInt(4) == 0) {
                RequestRecorder requests = profiler.requests();
                long request = requests.arrived(1);
                mine.served = requests.serve(request);
                // While the profiler is off, there is no request to serve.
                mine.hasOwnSteps |= request != 0 && !mine.isUnderWay;
            }
        }

        private void end(Modelled mine) {
            profiler.endPass();
            mine.own = Of.NO_STEP;
            mine.isUnderWay = false;
            mine.inLayer = false;
        }

        private void layer(Modelled mine) {
            if (mine.inLayer) {
                profiler.endLayer();
            } else {
                profiler.startLayer();
                mine.layer = profiler.layerToken();
                tokens.add(new Token(mine.layer, mine.own));
            }
            // Starting and ending a layer both end the work for another layer.
            mine.inLayer = !mine.inLayer;
            mine.given = Of.NO_STEP;
        }

        private void workFor(Modelled mine) {
            boolean none = tokens.isEmpty() || random.nextInt(3) == 0;
            Token token = none ? new Token(0, Of.NO_STEP) : tokens.get(random.nextInt(tokens.size()));
            profiler.workFor(token.value);
            boolean isOwn = mine.inLayer && token.value == mine.layer;
            mine.given = isOwn ? Of.NO_STEP : token.step;
        }

        private void turn() {
            if (profiler.isEnabled()) {
                profiler.disable();
                models.forEach(each -> each.isUnderWay = false);
            } else {
                profiler.enable();
            }
        }

        /** Ends a part of the run, by a reset or by the difference of two snapshots. */
        private void part() {
            if (earlier != null) {
                ProfileSnapshot later = profiler.snapshot();
                parts.add(SnapshotDifference.between(earlier, later));
                profiler.snapshotAndReset();
                earlier = null;
            } else if (random.nextBoolean()) {
                parts.add(profiler.snapshotAndReset());
            } else {
                earlier = profiler.snapshot();
                parts.add(earlier);
            }
        }

        private void timed(Modelled mine) {
            int brick = brick();
            long ns = random.nextInt(1_000);
            if (random.nextBoolean()) {
                long timer = profiler.startBrick(brick);
                clock.advance(ns);
                profiler.stopBrick(timer, 2);
            } else {
                long timer = mine.timers.startBrick(brick);
                clock.advance(ns);
                mine.timers.stopBrick(timer, 2);
            }
            expect(mine, brick, ns, 2);
        }

        private void recorded(Modelled mine) {
            int brick = brick();
            long ns = random.nextInt(1_000_000);
            profiler.record(brick, ns, 3);
            expect(mine, brick, ns, 3);
        }

        /** Queues a measurement, and resolves it by the end of the pass or by {@code finalize}. */
        private void deferred(Modelled mine) {
            int brick = brick();
            profiler.recordDeferred(brick, profiler.elapsedNs(), 1);
            long ns = random.nextInt(1_000);
            clock.advance(ns);
            StepInfo.Phase phase = phase(mine);
            if (random.nextBoolean()) {
                end(models.get(indexOf(mine)));
            } else {
                profiler.finalize(profiler.elapsedNs());
            }
            if (profiler.isEnabled()) {
                samples(phase, brick).add(ns, 1);
            }
        }

        private int indexOf(Modelled mine) {
            return models.indexOf(mine);
        }

        private void work(Modelled mine) {
            int brick = brick();
            profiler.recordWork(brick, 7, 5);
            if (profiler.isEnabled()) {
                samples(phase(mine), brick).flops += 7;
            }
        }

        /** Returns the key of a brick, which is new to the profiler in one of eight cases. */
        private int brick() {
            if (random.nextInt(8) == 0) {
                bricks.add("dynamic brick " + bricks.size());
            }
            return profiler.brickKey(bricks.get(random.nextInt(bricks.size())));
        }

        private void expect(Modelled mine, int brick, long ns, long elements) {
            if (profiler.isEnabled()) {
                samples(phase(mine), brick).add(ns, elements);
            }
        }

        private Samples samples(StepInfo.@Nullable Phase phase, int brick) {
            return samples(phase, profiler.names.name(brick));
        }

        private Samples samples(StepInfo.@Nullable Phase phase, String brick) {
            return expected.computeIfAbsent(phase + " " + brick, name -> new Samples());
        }

        /** Returns the phase by the rule of the specification, without any table. */
        private StepInfo.@Nullable Phase phase(Modelled mine) {
            if (mine.given != Of.NO_STEP) {
                return mine.given.phase();
            }
            if (mine.own != Of.NO_STEP) {
                return mine.own.phase();
            }
            if (mine.hasOwnSteps) {
                return null;
            }
            Set<StepInfo.Phase> underWay = models.stream()
                    .filter(each -> each.isUnderWay)
                    .map(each -> each.own.phase())
                    .filter(Objects::nonNull)
                    .collect(Collectors.toSet());
            return underWay.size() == 1 ? underWay.iterator().next() : null;
        }

        private void check() {
            ProfileSnapshot whole =
                    parts.stream().reduce(ProfileSnapshot::merge).orElseThrow();
            for (String brick : bricks) {
                Map<StepInfo.Phase, BrickStats> ofPhases = new EnumMap<>(StepInfo.Phase.class);
                for (StepInfo.Phase phase : StepInfo.Phase.values()) {
                    BrickStats stats = named(whole.bricks(phase), brick);
                    ofPhases.put(phase, stats);
                    assertThat(sums(stats)).as("%s in %s", brick, phase).isEqualTo(sums(samples(phase, brick)));
                }
                BrickStats all = named(whole.bricks(), brick);
                Samples without = samples(null, brick);
                assertThat(all.count()).isEqualTo(without.count + sum(ofPhases.values(), BrickStats::count));
                assertThat(all.totalNs()).isEqualTo(without.totalNs + sum(ofPhases.values(), BrickStats::totalNs));
                assertThat(all.totalElements())
                        .isEqualTo(without.elements + sum(ofPhases.values(), BrickStats::totalElements));
                assertThat(all.work().flops())
                        .isEqualTo(without.flops
                                + sum(ofPhases.values(), stats -> stats.work().flops()));
            }
        }

        private List<Object> sums(BrickStats stats) {
            List<Object> figures = figures(stats);
            return List.of(
                    figures.get(0), figures.get(1), figures.get(4), figures.get(5), figures.get(6), stats.maxNs());
        }

        private List<Object> sums(Samples samples) {
            List<Object> figures = samples.figures();
            return List.of(
                    figures.get(0), figures.get(1), figures.get(4), figures.get(5), figures.get(6), samples.maxNs);
        }
    }

    private static long sum(Collection<BrickStats> parts, ToLongFunction<BrickStats> value) {
        return parts.stream().mapToLong(value).sum();
    }

    private static BrickStats named(List<BrickStats> bricks, String name) {
        return bricks.stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElse(BrickStats.empty(name, BrickCategory.OTHER, Bottleneck.UNKNOWN));
    }
}
