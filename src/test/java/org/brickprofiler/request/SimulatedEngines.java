package org.brickprofiler.request;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;
import org.brickprofiler.internal.record.FakeClock;
import org.jspecify.annotations.Nullable;

/**
 * A simulated service on a virtual clock: one to three engines, each with a thread of its own, serve requests by a
 * random schedule with chunked prompts, batches, idle gaps, preemption, cancelled and cached prompts, speculation,
 * steps that are abandoned, and requests that two engines work on at once. It announces all of it to a recorder, keeps
 * a log, and finds the records by looking at every nanosecond of every request. A fixture: it measures nothing. One
 * thread.
 */
final class SimulatedEngines implements AutoCloseable {

    /** A step, as the log has it. */
    static final class LoggedStep {
        final boolean prompts;
        final long startNs;
        final Map<LoggedRequest, Long> promptTokens = new HashMap<>();
        final Map<LoggedRequest, Long> gives = new HashMap<>();
        long endNs = Long.MAX_VALUE;
        boolean abandoned;

        LoggedStep(boolean prompts, long startNs) {
            this.prompts = prompts;
            this.startNs = startNs;
        }

        long promptTokensOf(LoggedRequest request) {
            return promptTokens.getOrDefault(request, 0L);
        }

        long givesTo(LoggedRequest request) {
            return gives.getOrDefault(request, 0L);
        }

        boolean covers(long ns) {
            return startNs <= ns && ns < endNs;
        }
    }

    /** A request, as the log has it. */
    static final class LoggedRequest {
        final int number;
        final long handle;
        final long arrivedNs;
        final long promptTokens;
        final List<LoggedStep> steps = new ArrayList<>();
        long cachedTokens;
        long processed;
        long wanted;
        long finishedNs = -1;

        @Nullable
        Outcome outcome;

        LoggedRequest(int number, long handle, long arrivedNs, long promptTokens) {
            this.number = number;
            this.handle = handle;
            this.arrivedNs = arrivedNs;
            this.promptTokens = promptTokens;
        }

        long promptLeft() {
            return Math.max(0, promptTokens - cachedTokens - processed);
        }
    }

    private static final class Engine {
        final ExecutorService thread = Executors.newSingleThreadExecutor();

        @Nullable
        LoggedStep step;

        long token;
    }

    final RequestRecorder recorder;
    final List<LoggedRequest> finished = new ArrayList<>();

    private final FakeClock clock = new FakeClock(1_000);
    private final Random random;
    private final int requests;
    private final List<Engine> engines = new ArrayList<>();
    private final List<LoggedStep> allSteps = new ArrayList<>();
    private final List<LoggedRequest> live = new ArrayList<>();
    private int arrived;

    SimulatedEngines(long seed, int requests) {
        this.random = new Random(seed);
        this.requests = requests;
        this.recorder = new RequestRecorder(clock, (LongSupplier) () -> 1_000);
        recorder.enable();
        for (int i = 0; i <= random.nextInt(3); i++) {
            engines.add(new Engine());
        }
    }

    /** Serves all requests, and runs something every now and then. */
    void run(Runnable now) throws Exception {
        while (arrived < requests || !live.isEmpty()) {
            clock.advance(random.nextInt(5) == 0 ? random.nextInt(40) : random.nextInt(4));
            switch (random.nextInt(8)) {
                case 0, 1 -> arrive();
                case 2 -> leave();
                default -> turn(engines.get(random.nextInt(engines.size())));
            }
            if (random.nextInt(50) == 0) {
                now.run();
            }
        }
        for (Engine engine : engines) {
            if (engine.step != null) {
                end(engine, engine.step);
            }
        }
    }

    private void arrive() {
        if (arrived == requests || live.size() > 20) {
            return;
        }
        arrived++;
        long agoNs = random.nextInt(6) == 0 ? random.nextInt(30) : 0;
        long prompt = random.nextInt(30);
        long atNs = Math.max(1_000, clock.now() - agoNs);
        long handle = agoNs == 0 ? recorder.arrived(prompt) : recorder.arrivedAt(atNs - 1_000, prompt);
        LoggedRequest request = new LoggedRequest(arrived, handle, atNs, prompt);
        request.wanted = random.nextInt(8);
        if (random.nextInt(4) == 0 && prompt > 0) {
            request.cachedTokens = random.nextInt((int) prompt + 1);
            recorder.cached(handle, request.cachedTokens);
        }
        live.add(request);
    }

    /** A request is cancelled, or ends because it has what it wants: between its steps or within one. */
    private void leave() {
        if (live.isEmpty()) {
            return;
        }
        LoggedRequest request = live.get(random.nextInt(live.size()));
        boolean done = !request.steps.isEmpty() && tokens(request) >= request.wanted;
        if (done || random.nextInt(20) == 0) {
            request.outcome = done ? Outcome.COMPLETED : random.nextBoolean() ? Outcome.CANCELLED : Outcome.FAILED;
            request.finishedNs = clock.now();
            recorder.finished(request.handle, request.outcome);
            live.remove(request);
            finished.add(request);
        }
    }

    private void turn(Engine engine) throws Exception {
        LoggedStep step = engine.step;
        if (step == null) {
            begin(engine);
        } else if (random.nextInt(15) == 0 && isAlone(step)) {
            step.abandoned = true;
            step.endNs = clock.now();
            recorder.stepAbandoned(engine.token, clock.now());
            engine.step = null;
        } else {
            end(engine, step);
        }
    }

    /** Whether no request of a step is in another step, too, at any moment of it. */
    private static boolean isAlone(LoggedStep step) {
        return step.promptTokens.keySet().stream().allMatch(request -> request.steps.stream()
                .allMatch(other -> other == step || other.abandoned || other.endNs <= step.startNs));
    }

    private void begin(Engine engine) throws Exception {
        LoggedStep step = new LoggedStep(random.nextBoolean(), clock.now());
        List<LoggedRequest> members = new ArrayList<>();
        for (LoggedRequest request : live) {
            boolean mine = engines.get(request.number % engines.size()) == engine || random.nextInt(30) == 0;
            if (mine && random.nextInt(3) > 0 && steps(request) < 2) {
                members.add(request);
            }
        }
        for (LoggedRequest request : members) {
            long left = request.promptLeft();
            long part = step.prompts && left > 0 ? 1 + random.nextInt((int) left) : 0;
            step.promptTokens.put(request, part);
            if (random.nextInt(5) == 0) {
                step.gives.put(request, (long) random.nextInt(4));
            }
            request.steps.add(step);
        }
        engine.thread
                .submit(() -> {
                    engine.token = recorder.stepBegan(step.prompts, 0, step.startNs);
                    for (LoggedRequest request : members) {
                        recorder.inStep(request.handle, step.promptTokensOf(request));
                        Long gives = step.gives.get(request);
                        if (gives != null) {
                            recorder.gives(request.handle, gives);
                        }
                    }
                    return null;
                })
                .get();
        engine.step = step;
        allSteps.add(step);
    }

    private long steps(LoggedRequest request) {
        return request.steps.stream()
                .filter(step -> step.endNs == Long.MAX_VALUE)
                .count();
    }

    private void end(Engine engine, LoggedStep step) {
        step.endNs = clock.now();
        recorder.stepEnded(engine.token, step.endNs, 0);
        step.promptTokens.forEach((request, part) -> {
            request.processed += part;
            step.gives.computeIfAbsent(request, any -> request.promptLeft() == 0 ? 1L : 0L);
        });
        engine.step = null;
    }

    private static List<LoggedStep> counting(LoggedRequest request) {
        return request.steps.stream()
                .filter(step -> !step.abandoned && step.endNs != Long.MAX_VALUE)
                .sorted(Comparator.comparingLong(step -> step.endNs))
                .toList();
    }

    private static long tokens(LoggedRequest request) {
        return counting(request).stream()
                .mapToLong(step -> step.givesTo(request))
                .sum();
    }

    // ---- the naive program ----

    /** The record of a request, its gaps between tokens, and the cause of each nanosecond, from the log. */
    record Expected(RequestRecord record, long queuedNs, List<Long> gapsNs, long tokensNs, List<Cause> causes) {}

    /** Looks at each nanosecond of a request. */
    Expected expected(LoggedRequest request) {
        List<LoggedStep> own = counting(request);
        List<LoggedStep> giving =
                own.stream().filter(step -> step.givesTo(request) > 0).toList();
        long firstNs = giving.isEmpty() ? 0 : giving.get(0).endNs;
        long lastNs = giving.isEmpty()
                ? own.stream().mapToLong(step -> step.endNs).max().orElse(Long.MAX_VALUE)
                : giving.get(giving.size() - 1).endNs;
        long beginNs = own.stream().mapToLong(step -> step.startNs).min().orElse(Long.MAX_VALUE);
        // The log is in the order in which the steps began.
        List<LoggedStep> meanwhile = allSteps.stream()
                .filter(step -> step.endNs > request.arrivedNs && step.startNs < request.finishedNs)
                .toList();
        List<Cause> each = LongStream.range(request.arrivedNs, request.finishedNs)
                .mapToObj(ns -> cause(request, meanwhile, ns, beginNs, lastNs))
                .toList();
        Map<Cause, Long> causes = new EnumMap<>(Cause.class);
        each.forEach(cause -> causes.merge(cause, 1L, Long::sum));
        List<Long> gaps = new ArrayList<>();
        for (int i = 1; i < giving.size(); i++) {
            gaps.add(giving.get(i).endNs - giving.get(i - 1).endNs);
        }
        RequestRecord record = RequestRecord.builder()
                .arrivedNs(request.arrivedNs - 1_000)
                .durationNs(request.finishedNs - request.arrivedNs)
                .timeToFirstTokenNs(giving.isEmpty() ? 0 : firstNs - request.arrivedNs)
                .promptTokens(request.promptTokens)
                .cachedTokens(request.cachedTokens)
                .outputTokens(tokens(request))
                .outcome(Objects.requireNonNull(request.outcome))
                .causeNs(causes)
                .longestGapNs(gaps.stream().mapToLong(gap -> gap).max().orElse(0))
                .firstToLastTokenNs(giving.isEmpty() ? 0 : lastNs - firstNs)
                .build();
        return new Expected(
                record, own.isEmpty() ? -1 : Math.max(0, beginNs - request.arrivedNs), gaps, lastNs - firstNs, each);
    }

    private static Cause cause(LoggedRequest request, List<LoggedStep> meanwhile, long ns, long beginNs, long lastNs) {
        LoggedStep latest = null;
        boolean prompts = false;
        boolean any = false;
        for (LoggedStep step : meanwhile) {
            if (step.covers(ns)) {
                any = true;
                prompts |= step.prompts;
                boolean own = !step.abandoned && step.promptTokens.containsKey(request);
                latest = own ? step : latest;
            }
        }
        if (latest != null) {
            if (latest.promptTokensOf(request) > 0) {
                return Cause.OWN_PROMPT;
            }
            return latest.prompts ? Cause.DECODE_BESIDE_PROMPTS : Cause.DECODE;
        }
        if (ns >= beginNs && ns >= lastNs) {
            return Cause.DELIVERY;
        }
        if (ns < beginNs) {
            return prompts ? Cause.QUEUED_BEHIND_PROMPTS : any ? Cause.QUEUED_BEHIND_DECODING : Cause.QUEUED_IDLE;
        }
        return prompts ? Cause.STALLED_BEHIND_PROMPTS : any ? Cause.STALLED_BEHIND_DECODING : Cause.STALLED_IDLE;
    }

    @Override
    public void close() {
        engines.forEach(engine -> engine.thread.shutdown());
    }
}
