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
import org.brickprofiler.internal.record.WallClock;
import org.brickprofiler.testing.FakeClock;
import org.jspecify.annotations.Nullable;

/**
 * A simulated service on a virtual clock: one to three engines, each with a thread of its own, serve requests by a
 * random schedule with chunked prompts, batches, idle gaps, preemption, cancelled and cached prompts, speculation,
 * steps that are abandoned, and requests that two engines work on at once. Two further threads serve one request each,
 * begin steps of their own, and work between them. It announces all of it to a recorder, keeps a log, and finds the
 * records by looking at every nanosecond of every request. A fixture: it measures nothing. One thread.
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
        final List<LoggedWork> ownWorks = new ArrayList<>();
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

    /** Own work of a thread on its request, as the log has it. */
    record LoggedWork(long startNs, long endNs) {
        boolean covers(long ns) {
            return startNs <= ns && ns < endNs;
        }
    }

    /** A thread that serves a request. */
    private static final class Server {
        final ExecutorService thread = Executors.newSingleThreadExecutor();

        @Nullable
        LoggedRequest request;

        RequestRecorder.@Nullable Scope scope;

        @Nullable
        LoggedStep step;

        long token;

        /** The moment from which it works for itself or waits. */
        long sinceNs;
    }

    /** Hands the work that the simulation has drawn to the recorder. */
    private static final class DrawnWork implements RequestRecorder.OwnWork {
        private volatile long nextNs;

        @Override
        public void begin(long atNs) {
            nextNs = 0;
        }

        @Override
        public long endNs(long atNs) {
            return nextNs;
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
    private final List<Server> servers = List.of(new Server(), new Server());
    private final DrawnWork work = new DrawnWork();
    private final List<LoggedStep> allSteps = new ArrayList<>();
    private final List<LoggedRequest> live = new ArrayList<>();
    private int arrived;

    SimulatedEngines(long seed, int requests) {
        this.random = new Random(seed);
        this.requests = requests;
        this.recorder = new RequestRecorder(clock, (LongSupplier) () -> 1_000, work, clockNs -> WallClock.UNKNOWN);
        recorder.enable();
        for (int i = 0; i <= random.nextInt(3); i++) {
            engines.add(new Engine());
        }
    }

    /** Serves all requests, and runs something every now and then. */
    void run(Runnable now) throws Exception {
        while (arrived < requests || !live.isEmpty()) {
            clock.advance(random.nextInt(5) == 0 ? random.nextInt(40) : random.nextInt(4));
            switch (random.nextInt(11)) {
                case 0, 1 -> arrive();
                case 2 -> leave();
                case 3, 4, 5 -> turn(servers.get(random.nextInt(servers.size())));
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
        for (Server server : servers) {
            if (server.step != null) {
                end(server, server.step);
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
    private void leave() throws Exception {
        if (live.isEmpty()) {
            return;
        }
        LoggedRequest request = live.get(random.nextInt(live.size()));
        boolean done = !request.steps.isEmpty() && tokens(request) >= request.wanted;
        if (done || random.nextInt(20) == 0) {
            request.outcome = done ? Outcome.COMPLETED : random.nextBoolean() ? Outcome.CANCELLED : Outcome.FAILED;
            request.finishedNs = clock.now();
            Server own = servers.stream()
                    .filter(each -> each.request == request && each.step == null)
                    .findAny()
                    .orElse(null);
            Outcome outcome = request.outcome;
            if (own != null && random.nextBoolean()) {
                drawWork(own, request);
                on(own, () -> recorder.finished(request.handle, outcome));
            } else {
                recorder.finished(request.handle, outcome);
            }
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

    // ---- threads that serve a request ----

    private static void on(Server server, Runnable action) throws Exception {
        server.thread.submit(action).get();
    }

    private void turn(Server server) throws Exception {
        LoggedRequest request = server.request;
        LoggedStep step = server.step;
        if (request == null) {
            serve(server);
        } else if (step != null && random.nextInt(15) == 0 && isAlone(step)) {
            step.abandoned = true;
            step.endNs = clock.now();
            on(server, () -> recorder.stepAbandoned(server.token, step.endNs));
            server.step = null;
            server.sinceNs = clock.now();
        } else if (step != null) {
            end(server, step);
        } else if (request.outcome != null || random.nextInt(8) == 0) {
            if (request.outcome == null) {
                drawWork(server, request);
            }
            on(server, () -> Objects.requireNonNull(server.scope).close());
            server.request = null;
        } else if (steps(request) < 2) {
            begin(server, request);
        }
    }

    private void serve(Server server) throws Exception {
        List<LoggedRequest> unserved = live.stream()
                .filter(request -> servers.stream().noneMatch(each -> each.request == request))
                .toList();
        if (!unserved.isEmpty()) {
            LoggedRequest request = unserved.get(random.nextInt(unserved.size()));
            server.request = request;
            server.sinceNs = clock.now();
            on(server, () -> server.scope = recorder.serve(request.handle));
        }
    }

    private void begin(Server server, LoggedRequest request) throws Exception {
        drawWork(server, request);
        LoggedStep step = new LoggedStep(random.nextBoolean(), clock.now());
        long left = request.promptLeft();
        long part = step.prompts && left > 0 ? 1 + random.nextInt((int) left) : 0;
        step.promptTokens.put(request, part);
        request.steps.add(step);
        on(server, () -> server.token = recorder.stepBegan(step.prompts, part, step.startNs));
        server.step = step;
        allSteps.add(step);
    }

    private void end(Server server, LoggedStep step) throws Exception {
        long accepted = random.nextInt(3);
        step.endNs = clock.now();
        on(server, () -> recorder.stepEnded(server.token, step.endNs, accepted));
        step.promptTokens.forEach((request, part) -> {
            request.processed += part;
            step.gives.put(request, accepted + (request.promptLeft() == 0 ? 1 : 0));
        });
        server.step = null;
        server.sinceNs = clock.now();
    }

    /**
     * Draws how long a thread has worked since it began to serve or ended a step, and logs it: from then on, or from
     * the end of another thread's step of the request, up to the next step of the request that is under way.
     */
    private void drawWork(Server server, LoggedRequest request) {
        long gapNs = clock.now() - server.sinceNs;
        work.nextNs = random.nextInt(3) == 0 ? 0 : random.nextInt((int) gapNs + 3);
        long workNs = Math.min(work.nextNs, gapNs);
        long startNs = counting(request).stream().mapToLong(step -> step.endNs).reduce(server.sinceNs, Math::max);
        long endNs = request.steps.stream()
                .filter(step -> step.endNs == Long.MAX_VALUE)
                .mapToLong(step -> step.startNs)
                .reduce(Math.min(clock.now(), startNs + workNs), Math::min);
        request.ownWorks.add(new LoggedWork(startNs, endNs));
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
        RequestRecord record = new RequestRecord(
                request.arrivedNs - 1_000,
                request.finishedNs - request.arrivedNs,
                giving.isEmpty() ? 0 : firstNs - request.arrivedNs,
                request.promptTokens,
                request.cachedTokens,
                tokens(request),
                Objects.requireNonNull(request.outcome),
                causes,
                gaps.stream().mapToLong(gap -> gap).max().orElse(0),
                giving.isEmpty() ? 0 : lastNs - firstNs);
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
        if (request.ownWorks.stream().anyMatch(own -> own.covers(ns))) {
            return Cause.OWN_WORK;
        }
        if (ns < beginNs) {
            return prompts ? Cause.QUEUED_BEHIND_PROMPTS : any ? Cause.QUEUED_BEHIND_DECODING : Cause.QUEUED_IDLE;
        }
        return prompts ? Cause.STALLED_BEHIND_PROMPTS : any ? Cause.STALLED_BEHIND_DECODING : Cause.STALLED_IDLE;
    }

    @Override
    public void close() {
        engines.forEach(engine -> engine.thread.shutdown());
        servers.forEach(server -> server.thread.shutdown());
    }
}
