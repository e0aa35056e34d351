package org.brickprofiler.request;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.internal.record.PerThread;
import org.brickprofiler.internal.record.WallClock;
import org.brickprofiler.spi.NanoClock;
import org.jspecify.annotations.Nullable;

/**
 * Follows the requests that an engine serves, and attributes each nanosecond from arrival to finish to one
 * {@link Cause}.
 *
 * <pre>{@code
 * RequestRecorder requests = profiler.requests();
 * long request = requests.arrived(prompt.length);          // where the request enters the queue
 *
 * profiler.beginStep(step);                                 // the loop of the engine
 * for (Sequence sequence : batch) {
 *     requests.inStep(sequence.request, sequence.promptTokensOfThisStep());   // 0 if the sequence decodes
 * }
 * forward(batch);
 * profiler.endPass();
 * for (Sequence sequence : finished(batch)) {
 *     requests.finished(sequence.request, Outcome.COMPLETED);
 * }
 * }</pre>
 *
 * <p><b>A request</b> is a handle in a {@code long}, 0 while recording is off. A call changes nothing if its request is
 * void, has finished, was given up, or is of another recorder. Such a call is counted in
 * {@link RequestStats.Counts#ignoredCalls()}, and each kind is logged once.
 *
 * <p><b>Steps</b> are those of {@code BrickProfiler.beginStep} and {@code endPass}. A step gives its tokens when it
 * ends. A step that is abandoned gives none, and is no step of its requests.
 *
 * <p><b>Memory</b> is bounded: at most 65,536 requests are live at once. If one more arrives, the live request that has
 * been silent longest is given up, counted as abandoned, and logged once.
 *
 * <p><b>Threads.</b> Any thread. One lock guards everything. A call holds it for less than a microsecond, the end of a
 * step that long for each of its requests, and a reader longer. {@link #inStep} and {@link #gives} belong to the thread
 * of the step.
 *
 * <p><b>Allocation.</b> {@link #serve} allocates its scope, and a finish allocates a record while the receiver of
 * {@link #onFinished} wants one. Apart from readers, other calls allocate only when something grows: for the first step
 * of a thread, for more live requests, steps under way or requests in one step than ever before, and for each new
 * bucket of the time to first token.
 */
public final class RequestRecorder {

    private static final Log LOG = Log.of(RequestRecorder.class);

    /** The finished requests that {@link #recent()} returns. */
    private static final int RECENT = 1_024;

    private static final int SALT_BOUND = 1 << 15;

    private static final String ARRIVED = "the call of RequestRecorder.arrived";
    private static final String ARRIVED_AT = "the moment given to RequestRecorder.arrivedAt";

    /** Begins at random, so that handles of another class loader or process are not taken for those of a recorder. */
    private static final AtomicInteger NEXT_SALT =
            new AtomicInteger(ThreadLocalRandom.current().nextInt());

    private static final int INDEX_BITS = 20;
    private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;

    private final NanoClock clock;
    private final LongSupplier epochNs;
    private final OwnWork ownWork;
    private final LongUnaryOperator unixMs;
    private final PerThread<Place, @Nullable Void> places = new PerThread<>(new Places(), null, false);

    // Guarded by this.
    private final StepTimes times;
    private final RequestLog log = new RequestLog();
    private final RequestModels models = new RequestModels();
    private final LiveRequests live;
    private final List<RunningStep> steps = new ArrayList<>();
    private final List<RunningStep> freeSteps = new ArrayList<>();
    private final long[] recent = new long[RECENT * RequestRecord.CELLS];
    private final KeptIds recentIds = new KeptIds(RECENT, models);
    private final boolean[] logged = new boolean[Ignored.values().length];
    private final RecentSlots lastHour;
    private RequestSums sums = new RequestSums(models);
    private long recorded;

    /** The number of requests that had finished at the last reset. */
    private long recordedBefore;

    /** The number of requests whose waits are counted; those of later ones are not known yet. */
    private long split;

    private @Nullable WaitSource waitSource;
    private boolean waitsFailed;

    /** The thread of each lane. */
    private long[] threads = new long[8];

    private int lanes;
    private long readNs = Long.MIN_VALUE;
    private long begun;
    private boolean evictionLogged;
    private BooleanSupplier wanted = () -> false;
    private BiConsumer<RequestRecord, Optional<RequestTrace>> follower = (record, trace) -> {};

    private volatile boolean on;

    private volatile TraceSource traces = TraceSource.NONE;

    /** Whether a thread ever served a request: see {@link #serve}. */
    private volatile boolean serves;

    /** The reasons for which a call changes nothing, or less than it asks for. */
    private enum Ignored {
        VOID("the request is void: it arrived while recording was off"),
        UNKNOWN("the request has finished or was given up"),
        FOREIGN("the request is of another recorder"),
        NO_STEP("the calling thread is in no step: call beginStep first"),
        TWICE("the request is in this step already"),
        TWO_STEPS("the request is in another step at the same time"),
        NOT_IN_STEP("the request is not in the step of the calling thread: call inStep first"),
        PROMPT("the step has more tokens of the prompt than were left"),
        CACHED("more tokens are cached than the prompt has"),
        TOKENIZED("the prompt has fewer tokens than are cached or processed already"),
        LONG_ID("the id or model has more than " + RequestIdentity.MOST_CHARACTERS + " characters, and was cut"),
        MODELS("the request names another model than the first " + RequestStats.MOST_MODELS + ", and counts in "
                + RequestStats.OTHER_MODELS),
        NEVER_IN_STEP("the request ended with an answer, and no step worked on it"),
        TOO_EARLY("the request arrived before the oldest step that is remembered, and counts from there"),
        FUTURE("the request arrives in the future, and counts from now"),
        BACKWARDS("the clock ran backwards");

        private final String reason;

        Ignored(String reason) {
            this.reason = reason;
        }

        @SuppressWarnings("EnumOrdinal") // this method is where it is wrapped
        int index() {
            return ordinal();
        }
    }

    /** The step and the served request of a thread. Written by its thread. */
    private static final class Place extends PerThread.Owned {
        private @Nullable RunningStep step;
        private long number;
        private @Nullable Served innermost;
        private int lane;

        /**
         * The request whose own work is being measured, since the latest boundary of the thread; 0 if none is, as in a
         * step. The next fields are the moment of this boundary, and the sums of {@link StepTimes} then.
         */
        private long measured;

        private long sinceNs;
        private long sincePromptsNs;
        private long sinceDecodingNs;

        Place(@Nullable Thread owner) {
            super(owner);
        }

        /** Returns the request that the thread serves; 0 without one. */
        long served() {
            leaveClosed();
            return innermost == null ? 0 : innermost.request;
        }

        boolean isInStep() {
            return step != null && number != 0 && step.number() == number;
        }

        /**
         * Returns whether the thread serves a request, or is in a step that works on it. Any thread, under the lock.
         */
        boolean isFor(long request) {
            Served scope = innermost;
            while (scope != null && scope.isClosed) {
                scope = scope.outer;
            }
            RunningStep mine = step;
            return (scope != null && scope.request == request)
                    || (mine != null && isInStep() && mine.entryOf(request) != LiveRequests.NONE);
        }

        void leaveClosed() {
            while (innermost != null && innermost.isClosed) {
                innermost = innermost.outer;
            }
        }
    }

    /** A scope in which a thread serves a request. Scopes may be closed more than once, and in any order. */
    private static final class Served implements Scope {
        private final RequestRecorder recorder;
        private final Place place;
        private final long request;
        private final @Nullable Served outer;
        private volatile boolean isClosed;

        Served(RequestRecorder recorder, Place place, long request, @Nullable Served outer) {
            this.recorder = recorder;
            this.place = place;
            this.request = request;
            this.outer = outer;
        }

        @Override
        public void close() {
            if (!isClosed) {
                isClosed = true;
                recorder.left(this);
            }
        }
    }

    /**
     * Measures the work of the calling thread, which serves a request, between two of its boundaries: the beginning and
     * end of the scope, and of each step. The profiler implements it.
     */
    public interface OwnWork {

        /** Knows of no work. */
        OwnWork UNKNOWN = new OwnWork() {
            @Override
            public void begin(long atNs) {}

            @Override
            public long endNs(long atNs) {
                return 0;
            }
        };

        /**
         * Begins to measure the work of the calling thread.
         *
         * @param atNs the clock
         */
        void begin(long atNs);

        /**
         * Ends the measurement of the calling thread.
         *
         * @param atNs the clock
         * @return how long the thread has worked since it began, ns
         */
        long endNs(long atNs);
    }

    /** A named class: the first lambda of a virtual machine takes longer to make than a recorder. */
    private static final class Places implements PerThread.Keeper<Place, @Nullable Void> {
        @Override
        public Place make(@Nullable Thread owner) {
            return new Place(owner);
        }
    }

    /**
     * Makes a recorder that is off, and does not know the time of day. Applications get theirs from
     * {@code BrickProfiler.requests()}; the profiler announces its steps to that recorder.
     *
     * @param clock the clock
     * @param epochNs the clock at 0 of the scale of arrivals, ns
     */
    public RequestRecorder(NanoClock clock, LongSupplier epochNs) {
        this(clock, epochNs, OwnWork.UNKNOWN);
    }

    /**
     * Makes a recorder that is off, measures the own work of threads that serve requests, and does not know the time of
     * day.
     *
     * @param clock the clock
     * @param epochNs the clock at 0 of the scale of arrivals, ns
     * @param ownWork measures the work of threads outside of their steps
     */
    public RequestRecorder(NanoClock clock, LongSupplier epochNs, OwnWork ownWork) {
        this(clock, epochNs, ownWork, clockNs -> WallClock.UNKNOWN);
    }

    /**
     * Makes a recorder that is off, and measures the own work of threads that serve requests.
     *
     * @param clock the clock
     * @param epochNs the clock at 0 of the scale of arrivals, ns
     * @param ownWork measures the work of threads outside of their steps
     * @param unixMs converts a reading of the clock to ms since 1970, or to {@link Long#MIN_VALUE} if it is unknown;
     *     called while the recorder is locked
     */
    public RequestRecorder(NanoClock clock, LongSupplier epochNs, OwnWork ownWork, LongUnaryOperator unixMs) {
        this.unixMs = Objects.requireNonNull(unixMs, "unixMs");
        this.ownWork = Objects.requireNonNull(ownWork, "ownWork");
        this.clock = Objects.requireNonNull(clock, "clock");
        this.epochNs = Objects.requireNonNull(epochNs, "epochNs");
        this.times = new StepTimes(clock.nanoTime());
        this.lastHour = new RecentSlots(clock.nanoTime(), models);
        this.live = new LiveRequests(times, log, steps, this::finished, models, sums, nextSalt());
    }

    /** Returns a number from 1 to {@link #SALT_BOUND} - 1 that none of the latest 32,766 recorders has. */
    private static int nextSalt() {
        return 1 + Math.floorMod(NEXT_SALT.getAndIncrement(), SALT_BOUND - 1);
    }

    private void finished(long[] record, @Nullable String id, @Nullable RequestTrace trace) {
        record[RequestRecord.ARRIVED_MS] = unixMs.applyAsLong(record[RequestRecord.ARRIVED]);
        // A later epoch must not move the arrival: snapshots recognise a request by it.
        record[RequestRecord.ARRIVED_CLOCK] = record[RequestRecord.ARRIVED];
        record[RequestRecord.ARRIVED] -= epochNs.getAsLong();
        sums.finished(record, id, trace);
        lastHour.add(record, id, trace, record[RequestRecord.ARRIVED_CLOCK] + record[RequestRecord.DURATION]);
        if (recorded - split == RECENT) {
            countWaits(split);
        }
        int place = (int) (recorded++ % RECENT);
        System.arraycopy(record, 0, recent, place * RequestRecord.CELLS, RequestRecord.CELLS);
        recentIds.set(place, id, trace);
        if (waitSource == null) {
            countWaits(recorded - 1);
        }
        // The follower may finish another request, which overwrites the record.
        if (wanted.getAsBoolean()) {
            RequestIdentity identity = RequestIdentity.of(
                    id, record[RequestRecord.ARRIVED_MS], trace, models.name(record[RequestRecord.MODEL]));
            follower.accept(RequestRecord.of(record, 0, identity, null), Optional.ofNullable(trace));
        }
    }

    /** Counts the waits of a recent request, and of no earlier one from now on. */
    private void countWaits(long number) {
        sums.waited(recent, (int) (number % RECENT) * RequestRecord.CELLS);
        split = number + 1;
    }

    /**
     * Sets the receiver of each request that finishes. Called by the profiler.
     *
     * @param isWanted asked at each finish; while false, no record is made
     * @param to receives each record and its trace, while the recorder is locked
     */
    public synchronized void onFinished(
            BooleanSupplier isWanted, BiConsumer<RequestRecord, Optional<RequestTrace>> to) {
        wanted = Objects.requireNonNull(isWanted, "isWanted");
        follower = Objects.requireNonNull(to, "to");
    }

    // ---- the switch ----

    /** Switches recording on. */
    public void enable() {
        on = true;
    }

    /**
     * Switches recording off. Live requests are given up and counted as abandoned, since nobody will know what happened
     * to them meanwhile.
     */
    public synchronized void disable() {
        on = false;
        live.abandonAll();
    }

    /**
     * Returns whether recording is on.
     *
     * @return true between {@link #enable} and {@link #disable}
     */
    public boolean isEnabled() {
        return on;
    }

    // ---- requests ----

    /**
     * Records that a request arrives now. Any thread.
     *
     * @param promptTokens tokens of its prompt
     * @return the request; 0 while recording is off
     * @throws IllegalArgumentException when the number is negative
     */
    public long arrived(long promptTokens) {
        return arrived(promptTokens, ARRIVED);
    }

    /**
     * Records that a request arrives now, at a place of the engine that reports name. Any thread.
     *
     * @param promptTokens tokens of its prompt
     * @param from the place, such as <i>the call of Llama.generate</i>; see {@link RequestStats#countedFrom}
     * @return the request; 0 while recording is off
     * @throws IllegalArgumentException when the number is negative, or the place is empty or contains a semicolon
     */
    public long arrived(long promptTokens, String from) {
        requireNotNegative("promptTokens", promptTokens);
        if (from.isEmpty() || from.indexOf(';') >= 0) {
            throw new IllegalArgumentException(
                    "expected the place from which requests count, without a semicolon, found '" + from + "'");
        }
        if (!on) {
            return 0;
        }
        RequestTrace trace = traces.current();
        synchronized (this) {
            return on ? arrive(read(), promptTokens, from, trace) : 0;
        }
    }

    /**
     * Records that a request arrived at a moment that a queue in front of the engine knows. Any thread. The latest
     * 2,048 steps are remembered: an earlier arrival counts from the oldest of them. An arrival in the future counts
     * from now.
     *
     * @param elapsedNs the moment, ns on the scale of {@code BrickProfiler.elapsedNs()}
     * @param promptTokens tokens of its prompt
     * @return the request; 0 while recording is off
     * @throws IllegalArgumentException when the number of tokens is negative
     */
    public long arrivedAt(long elapsedNs, long promptTokens) {
        requireNotNegative("promptTokens", promptTokens);
        if (!on) {
            return 0;
        }
        RequestTrace trace = traces.current();
        synchronized (this) {
            if (!on) {
                return 0;
            }
            long nowNs = read();
            // Elapsed times are compared, because any number is accepted here, and a sum would overflow.
            long oldestNs = times.oldestNs() - epochNs.getAsLong();
            if (elapsedNs > nowNs - epochNs.getAsLong()) {
                ignore(Ignored.FUTURE, elapsedNs);
                return arrive(nowNs, promptTokens, ARRIVED_AT, trace);
            }
            if (elapsedNs < oldestNs) {
                ignore(Ignored.TOO_EARLY, elapsedNs);
            }
            return arrive(epochNs.getAsLong() + Math.max(oldestNs, elapsedNs), promptTokens, ARRIVED_AT, trace);
        }
    }

    private long arrive(long atNs, long promptTokens, String from, @Nullable RequestTrace trace) {
        if (live.live() == LiveRequests.MOST && !evictionLogged) {
            evictionLogged = true;
            LOG.warn(
                    "{} requests are live: the one that has been silent longest is given up for each that arrives."
                            + " Call finished for every request. Not logged again",
                    LiveRequests.MOST);
        }
        long request = live.arrive(atNs, promptTokens, from);
        if (trace != null) {
            live.setTrace(live.find(request), trace);
        }
        return request;
    }

    /**
     * Names a request by the id that the application has for it, so that it is found in the application's logs. The
     * recorder keeps the id while the request is live, and with the records that it keeps. Any thread; the latest call
     * counts. An id may contain any characters. An id of more than {@value RequestIdentity#MOST_CHARACTERS} is cut, and
     * the call is counted; an empty one removes the name. Allocates nothing for other ids, except for the first ones of
     * more live requests than ever before.
     *
     * @param request the handle that {@link #arrived} returned
     * @param id the id
     */
    public void named(long request, String id) {
        String kept = RequestIdentity.cut(Objects.requireNonNull(id, "id"));
        if (on) {
            synchronized (this) {
                int slot = find(request);
                if (slot != LiveRequests.NONE) {
                    live.setId(slot, kept);
                    if (kept.length() < id.length()) {
                        ignore(Ignored.LONG_ID, id.length());
                    }
                }
            }
        }
    }

    /**
     * Names the model that a request is for, in an engine that serves several. Requests without a name are for the
     * model of the run. {@value RequestStats#MOST_MODELS} models have sums of their own; requests for any other count
     * in {@link RequestStats#OTHER_MODELS}, and these calls are counted. Any thread; the latest call counts. A name of
     * more than {@value RequestIdentity#MOST_CHARACTERS} characters is cut, and the call is counted; an empty one
     * removes the name. Allocates nothing, except for a new model.
     *
     * @param request the handle that {@link #arrived} returned
     * @param name the name of the model
     */
    public void model(long request, String name) {
        Objects.requireNonNull(name, "name");
        if (on) {
            synchronized (this) {
                int slot = find(request);
                if (slot != LiveRequests.NONE) {
                    int number = models.number(name);
                    live.setModel(slot, number);
                    if (name.length() > RequestIdentity.MOST_CHARACTERS) {
                        ignore(Ignored.LONG_ID, name.length());
                    }
                    if (number == RequestModels.OTHER) {
                        ignore(Ignored.MODELS, request);
                    }
                }
            }
        }
    }

    /**
     * Sets the trace in which a request was submitted, if the thread that announces its arrival has another one. Any
     * thread; the latest call counts.
     *
     * @param request the handle that {@link #arrived} returned
     * @param trace the trace
     */
    public void traced(long request, RequestTrace trace) {
        Objects.requireNonNull(trace, "trace");
        if (on) {
            synchronized (this) {
                int slot = find(request);
                if (slot != LiveRequests.NONE) {
                    live.setTrace(slot, trace);
                }
            }
        }
    }

    /**
     * Sets the source of traces, which replaces an earlier one. Each call of {@link #arrived} and {@link #arrivedAt}
     * asks it for the trace of the calling thread.
     *
     * @param source returns the trace of the calling thread, null if it has none; must be quick, and its exceptions
     *     count as null
     */
    public void setTraceSource(Supplier<@Nullable RequestTrace> source) {
        traces = new TraceSource(Objects.requireNonNull(source, "source"));
    }

    /** Returns the traces of calling threads. */
    private record TraceSource(Supplier<@Nullable RequestTrace> source) {

        static final TraceSource NONE = new TraceSource(() -> null);

        @Nullable
        RequestTrace current() {
            try {
                return source.get();
            } catch (RuntimeException unknown) {
                return null;
            }
        }
    }

    /**
     * Sets how many tokens of a prompt need no work, as after a hit of the prefix cache. Any thread; the latest call
     * counts.
     *
     * @param request the handle that {@link #arrived} returned
     * @param promptTokens the number of these tokens
     * @throws IllegalArgumentException when the number is negative
     */
    public void cached(long request, long promptTokens) {
        requireNotNegative("promptTokens", promptTokens);
        if (on) {
            synchronized (this) {
                int slot = find(request);
                if (slot != LiveRequests.NONE && !live.setCached(slot, promptTokens)) {
                    ignore(Ignored.CACHED, promptTokens);
                }
            }
        }
    }

    /**
     * Sets the number of tokens of a prompt that was unknown at the arrival, as after the tokenizer. Any thread; the
     * latest call counts. Call it before the steps that process these tokens.
     *
     * @param request the handle that {@link #arrived} returned
     * @param promptTokens tokens of its prompt
     * @throws IllegalArgumentException when the number is negative
     */
    public void tokenized(long request, long promptTokens) {
        requireNotNegative("promptTokens", promptTokens);
        if (on) {
            synchronized (this) {
                int slot = find(request);
                if (slot != LiveRequests.NONE && !live.setPrompt(slot, promptTokens)) {
                    ignore(Ignored.TOKENIZED, promptTokens);
                }
            }
        }
    }

    /**
     * Declares that the prompt of a request has as many tokens as are {@linkplain #cached cached} or as its steps
     * process, for engines that state its length nowhere else. Any thread. This holds until {@link #tokenized} is
     * called.
     *
     * @param request the handle that {@link #arrived} returned
     */
    public void promptOfSteps(long request) {
        if (on) {
            synchronized (this) {
                int slot = find(request);
                if (slot != LiveRequests.NONE) {
                    live.openPrompt(slot);
                }
            }
        }
    }

    /**
     * Records that the step of the calling thread works on a request. The request gets one token at the end of the step
     * if its prompt is complete by then, and none before, unless {@link #gives} says otherwise.
     *
     * @param request the handle that {@link #arrived} returned
     * @param promptTokens the number of tokens of its prompt that the step processes; 0 if the step decodes the request
     * @throws IllegalArgumentException when the number is negative
     */
    public void inStep(long request, long promptTokens) {
        requireNotNegative("promptTokens", promptTokens);
        if (on) {
            Place mine = places.mineOrNull();
            synchronized (this) {
                RunningStep step = stepOf(mine, request);
                if (step != null) {
                    enter(step, request, promptTokens);
                }
            }
        }
    }

    private boolean enter(RunningStep step, long request, long promptTokens) {
        int slot = find(request);
        if (slot == LiveRequests.NONE) {
            return false;
        }
        if (live.entry(slot, step) != LiveRequests.NONE) {
            ignore(Ignored.TWICE, request);
            return false;
        }
        if (live.isInSteps(slot) || live.hasStepAfter(slot, step)) {
            ignore(Ignored.TWO_STEPS, request);
        }
        if (promptTokens > live.promptLeft(slot)) {
            ignore(Ignored.PROMPT, promptTokens);
        }
        live.enter(slot, step, request, promptTokens);
        return true;
    }

    /**
     * Sets how many tokens the step of the calling thread gives a request, instead of those of {@link #inStep}'s rule.
     * Call it after {@code inStep} in the same step; the latest call counts.
     *
     * @param request the handle that {@link #arrived} returned
     * @param tokens tokens that it gets at the end of the step
     * @throws IllegalArgumentException when the number is negative
     */
    public void gives(long request, long tokens) {
        requireNotNegative("tokens", tokens);
        if (on) {
            Place mine = places.mineOrNull();
            synchronized (this) {
                RunningStep step = stepOf(mine, request);
                int slot = step == null ? LiveRequests.NONE : find(request);
                if (step != null && slot != LiveRequests.NONE) {
                    int entry = live.entry(slot, step);
                    if (entry == LiveRequests.NONE) {
                        ignore(Ignored.NOT_IN_STEP, request);
                    } else {
                        step.give(entry, tokens);
                    }
                }
            }
        }
    }

    /**
     * Finishes a request. Any thread. If a step is working on the request, the duration ends now, and the tokens of the
     * step still count.
     *
     * @param request the handle that {@link #arrived} returned
     * @param outcome the reason
     */
    public void finished(long request, Outcome outcome) {
        Objects.requireNonNull(outcome, "outcome");
        if (on) {
            Place mine = serves ? places.mineOrNull() : null;
            if (mine != null && mine.measured != 0 && mine.measured == request) {
                endOwnWork(mine, clock.nanoTime());
            }
            synchronized (this) {
                int slot = find(request);
                if (slot != LiveRequests.NONE) {
                    boolean answered = outcome == Outcome.COMPLETED || outcome == Outcome.LENGTH;
                    if (answered && !live.wasInStep(slot)) {
                        ignore(Ignored.NEVER_IN_STEP, request);
                    }
                    live.finish(slot, read(), outcome);
                }
            }
        }
    }

    /**
     * Gives up a request whose end nobody will announce. It counts as abandoned; its duration and its causes do not
     * count. Latencies that were counted at the end of its steps remain, and so do its causes up to the first token.
     * Any thread.
     *
     * @param request the handle that {@link #arrived} returned
     */
    public void abandoned(long request) {
        if (on) {
            synchronized (this) {
                int slot = find(request);
                if (slot != LiveRequests.NONE) {
                    live.evict(slot);
                }
            }
        }
    }

    /**
     * Opens a scope in which the calling thread serves one request. Every step that the thread begins until the scope
     * is closed works on this request, with the prompt tokens of its {@code StepInfo}, and gives accepted tokens of a
     * draft in addition. Closing the scope does not finish the request. The work of the thread outside of these steps
     * is {@link Cause#OWN_WORK}.
     *
     * @param request the handle that {@link #arrived} returned
     * @return the scope; a nested scope of the same thread replaces the outer one until it is closed
     */
    public Scope serve(long request) {
        Place mine = places.mine();
        if (mine.measured != 0) {
            endOwnWork(mine, clock.nanoTime());
        }
        mine.leaveClosed();
        Served scope = new Served(this, mine, request, mine.innermost);
        mine.innermost = scope;
        if (!serves) {
            serves = true;
        }
        beginOwnWork(mine, clock.nanoTime());
        return scope;
    }

    /** Leaves a scope that was closed. If another thread closed it, its own thread leaves it at its next boundary. */
    private void left(Served scope) {
        Place mine = scope.place;
        if (mine.isOf(Thread.currentThread()) && mine.innermost == scope) {
            if (mine.measured != 0) {
                endOwnWork(mine, clock.nanoTime());
            }
            mine.leaveClosed();
            beginOwnWork(mine, clock.nanoTime());
        }
    }

    /** Begins to measure the own work of the calling thread, if it serves a request and is in no step. */
    private void beginOwnWork(Place mine, long nowNs) {
        long request = on ? mine.served() : 0;
        if (request == 0) {
            return;
        }
        synchronized (this) {
            if (mine.isInStep()) {
                return;
            }
            long atNs = times.inOrder(nowNs);
            mine.measured = request;
            mine.sinceNs = atNs;
            mine.sincePromptsNs = times.promptsNs(atNs);
            mine.sinceDecodingNs = times.decodingNs(atNs);
        }
        ownWork.begin(nowNs);
    }

    /** Ends the measurement of the calling thread's own work, and accounts for the work. */
    private void endOwnWork(Place mine, long nowNs) {
        long workNs = ownWork.endNs(nowNs);
        synchronized (this) {
            account(mine, workNs, times.inOrder(nowNs));
        }
    }

    private void account(Place mine, long workNs, long atNs) {
        int slot = live.find(mine.measured);
        if (slot != LiveRequests.NONE && workNs > 0) {
            live.ownWork(slot, mine.sinceNs, mine.sincePromptsNs, mine.sinceDecodingNs, atNs, workNs);
        }
        mine.measured = 0;
    }

    /** The time in which a thread serves a request: see {@link RequestRecorder#serve}. */
    @FunctionalInterface
    public interface Scope extends AutoCloseable {
        @Override
        void close();
    }

    private int find(long request) {
        int slot = live.find(request);
        if (slot == LiveRequests.NONE) {
            ignore(request == 0 ? Ignored.VOID : live.isOurs(request) ? Ignored.UNKNOWN : Ignored.FOREIGN, request);
        }
        return slot;
    }

    private @Nullable RunningStep stepOf(@Nullable Place mine, long request) {
        RunningStep step = mine == null ? null : mine.step;
        if (mine == null || step == null || step.number() != mine.number) {
            ignore(Ignored.NO_STEP, request);
            return null;
        }
        return step;
    }

    private void ignore(Ignored kind, long value) {
        if (!on) {
            // The caller waited for the lock while recording was switched off.
            return;
        }
        sums.ignored();
        if (!logged[kind.index()]) {
            logged[kind.index()] = true;
            LOG.warn("{} (value {}); such calls are counted, and not logged again", kind.reason, value);
        }
    }

    /**
     * Reads the clock. Only readings under the lock are ordered: a thread that read it before may have waited for the
     * lock.
     */
    private long read() {
        long nowNs = clock.nanoTime();
        if (nowNs < readNs) {
            ignore(Ignored.BACKWARDS, nowNs - readNs);
        }
        readNs = Math.max(readNs, nowNs);
        return times.inOrder(nowNs);
    }

    // ---- waits ----

    /**
     * Sets the source that splits the waits of the requests that finish from now on, which replaces an earlier one. The
     * requests of its {@link #splitWaits} count in {@link RequestStats#waits} then. Without a source, or if more than
     * 1,024 requests finish before its call, their waits are {@link Wait#UNKNOWN}.
     *
     * @param source the source
     */
    public synchronized void setWaitSource(WaitSource source) {
        waitSource = Objects.requireNonNull(source, "source");
    }

    /**
     * Ends the use of a source. Waits that it has not split are {@link Wait#UNKNOWN}. The call is ignored if another
     * source has replaced it.
     *
     * @param source the source
     */
    public synchronized void removeWaitSource(WaitSource source) {
        if (waitSource == Objects.requireNonNull(source, "source")) {
            waitSource = null;
            while (split < recorded) {
                countWaits(split);
            }
        }
    }

    /**
     * Splits the waits of the requests that finished by a moment, by the source that was {@linkplain #setWaitSource
     * set}. The source calls this, on a thread of its own, once it knows everything up to this moment. The recorder is
     * locked only while the log of requests is copied and the waits are stored. One thread at a time.
     *
     * @param untilNs the moment, on the recorder's clock
     */
    public void splitWaits(long untilNs) {
        WaitSource source;
        Supplier<RequestTimeline> requests;
        long[] threadsThen;
        long[] handles;
        long first;
        synchronized (this) {
            source = waitSource;
            first = split;
            long end = first;
            while (end < recorded && finishNs(end) <= untilNs) {
                end++;
            }
            if (source == null || end == first) {
                return;
            }
            requests = copy(first, end);
            threadsThen = threads.clone();
            handles = new long[(int) (end - first)];
            for (long number = first; number < end; number++) {
                handles[(int) (number - first)] = recentCell(number, RequestRecord.HANDLE);
            }
        }
        List<WaitSource.Split> splits = WaitTimes.of(requests.get(), threadsThen).stream()
                .map(times -> split(source, times))
                .toList();
        for (int i = 0; i < handles.length; i++) {
            store(source.name(), first + i, handles[i], splits.get(i));
        }
    }

    private long recentCell(long number, int cell) {
        return recent[(int) (number % RECENT) * RequestRecord.CELLS + cell];
    }

    private long finishNs(long number) {
        return recentCell(number, RequestRecord.ARRIVED_CLOCK) + recentCell(number, RequestRecord.DURATION);
    }

    private WaitSource.Split split(WaitSource source, List<WaitSource.Waiting> times) {
        try {
            WaitSource.Split waits = source.split(times);
            long knownNs = 0;
            for (Map.Entry<Wait, Long> each : waits.waitNs().entrySet()) {
                knownNs += each.getKey() == Wait.UNKNOWN ? 0 : each.getValue();
            }
            long waitedNs =
                    times.stream().mapToLong(WaitSource.Waiting::waitedNs).sum();
            if (knownNs <= waitedNs) {
                return waits;
            }
            throw new IllegalStateException("waits of " + knownNs + " ns within " + waitedNs + " ns");
        } catch (RuntimeException failed) {
            if (!waitsFailed) {
                waitsFailed = true;
                LOG.warn(
                        "{} could not split the waits of a request, which are unknown: {}; not logged again",
                        source.name(),
                        failed.toString());
            }
            return new WaitSource.Split(Map.of(), Optional.empty());
        }
    }

    /**
     * Stores the waits of a request, unless later requests have taken its place, or everything was forgotten. Each call
     * locks for itself, so that no step waits for many of them.
     */
    private synchronized void store(String source, long number, long handle, WaitSource.Split waits) {
        if (number != split || number >= recorded || recentCell(number, RequestRecord.HANDLE) != handle) {
            return;
        }
        int place = (int) (number % RECENT);
        RequestRecord.setWaits(recent, place * RequestRecord.CELLS, waits.waitNs());
        recentIds.setLock(place, waits.lock().orElse(null));
        countWaits(number);
        sums.splitBy(source);
        sums.split(handle, waits);
        lastHour.split(handle, waits);
    }

    // ---- steps, announced by the profiler ----

    /**
     * Begins a step of the calling thread. Called by the profiler, and by an engine that uses a recorder without one.
     *
     * @param prompts whether the step processes prompts, alone or beside decoding
     * @param promptTokens tokens of prompts in the step, for {@link #serve}
     * @param startNs the clock at its beginning
     * @return the step, for {@link #stepEnded} or {@link #stepAbandoned}
     */
    public long stepBegan(boolean prompts, long promptTokens, long startNs) {
        Place mine = places.mine();
        long workNs = mine.measured == 0 ? 0 : ownWork.endNs(startNs);
        synchronized (this) {
            RunningStep step = begin(prompts, startNs);
            if (mine.measured != 0) {
                account(mine, workNs, step.startNs());
            }
            if (mine.lane == 0) {
                mine.lane = ++lanes;
                threads = lanes < threads.length ? threads : Arrays.copyOf(threads, 2 * lanes);
                threads[lanes] = Thread.currentThread().getId();
            }
            step.follow(mine.lane, mine.number);
            mine.step = step;
            mine.number = step.number();
            long served = serves && on ? mine.served() : 0;
            if (served != 0 && enter(step, served, promptTokens)) {
                step.give(0, RunningStep.BY_RULE_AND_DRAFT);
            }
            return token(step);
        }
    }

    /**
     * Announces a step of another thread that is under way already. The step works on no request, since none had
     * arrived when it began; requests wait behind it until it ends.
     *
     * @param prompts whether the step processes prompts, alone or beside decoding
     * @param nowNs the clock
     * @return the step, for {@link #stepEnded} or {@link #stepAbandoned}
     */
    public synchronized long stepUnderWay(boolean prompts, long nowNs) {
        return token(begin(prompts, nowNs));
    }

    private RunningStep begin(boolean prompts, long startNs) {
        long atNs = times.inOrder(startNs);
        RunningStep step = takeStep();
        times.begin(prompts, atNs);
        step.begin(++begun, prompts, startNs, atNs, times);
        return step;
    }

    private static long token(RunningStep step) {
        return step.number() << INDEX_BITS | step.index;
    }

    private RunningStep takeStep() {
        if (!freeSteps.isEmpty()) {
            return freeSteps.remove(freeSteps.size() - 1);
        }
        RunningStep step = new RunningStep(steps.size());
        steps.add(step);
        return step;
    }

    /**
     * Ends a step, and gives its requests their tokens.
     *
     * @param step the step that {@link #stepBegan} returned; the call is ignored if this step is not under way
     * @param endNs the clock at its end
     * @param acceptedTokens accepted tokens of a draft, for {@link #serve}
     */
    public void stepEnded(long step, long endNs, long acceptedTokens) {
        endStep(step, endNs, acceptedTokens);
        beginOwnWorkAfter(step, endNs);
    }

    /** Begins to measure the own work of the calling thread after its step. */
    private void beginOwnWorkAfter(long step, long endNs) {
        Place mine = serves ? places.mineOrNull() : null;
        if (mine != null && mine.number == step >>> INDEX_BITS) {
            beginOwnWork(mine, endNs);
        }
    }

    private synchronized void endStep(long step, long endNs, long acceptedTokens) {
        RunningStep ended = underWay(step);
        if (ended != null) {
            if (endNs < ended.announcedNs()) {
                ignore(Ignored.BACKWARDS, endNs - ended.announcedNs());
            }
            long atNs = times.inOrder(endNs);
            times.end(ended.hasPrompts(), atNs);
            live.ended(ended, atNs, acceptedTokens);
            log.ended(ended, atNs, false);
            release(ended);
        }
    }

    /**
     * Abandons a step: it gives no tokens, and is no step of its requests.
     *
     * @param step the step that {@link #stepBegan} returned; the call is ignored if this step is not under way
     * @param atNs the clock
     */
    public void stepAbandoned(long step, long atNs) {
        abandonStep(step, atNs);
        beginOwnWorkAfter(step, atNs);
    }

    private synchronized void abandonStep(long step, long atNs) {
        RunningStep abandoned = underWay(step);
        if (abandoned != null) {
            long endNs = times.inOrder(atNs);
            times.end(abandoned.hasPrompts(), endNs);
            live.abandoned(abandoned);
            log.ended(abandoned, endNs, true);
            release(abandoned);
        }
    }

    private @Nullable RunningStep underWay(long step) {
        int index = (int) step & INDEX_MASK;
        RunningStep found = index < steps.size() ? steps.get(index) : null;
        return found != null && step != 0 && found.number() == step >>> INDEX_BITS ? found : null;
    }

    private void release(RunningStep step) {
        step.end();
        freeSteps.add(step);
    }

    // ---- readers ----

    /**
     * Returns what was recorded since the last reset.
     *
     * @return the requests
     */
    public synchronized RequestStats stats() {
        return sums.stats(
                live.waiting(),
                (long) live.live() - live.waiting(),
                live.live() == 0 ? List.of() : oldest(clock.nanoTime()));
    }

    /**
     * Returns the sums since the last reset, for readers that ask every few seconds: without the slowest and the live
     * requests, and without the causes of the times to first token. Any thread.
     *
     * @return the requests
     */
    public synchronized RequestStats sums() {
        return sums.sums(live.waiting(), (long) live.live() - live.waiting());
    }

    private List<LiveRequest> oldest(long nowNs) {
        return live.oldest(RequestStats.SLOWEST).stream()
                .map(slot -> live.request(slot, nowNs, unixMs))
                .toList();
    }

    /**
     * The live requests of a moment. Immutable.
     *
     * @param waiting requests that no step has worked on
     * @param running requests that a step has worked on
     * @param oldest the request that arrived first; empty if none is live
     * @param sinceTokenNs time since its latest token, ns; empty before its first token
     * @param thread the thread that serves it, or whose step works on it; empty if neither is known, as on virtual
     *     threads
     */
    public record Live(
            long waiting,
            long running,
            Optional<LiveRequest> oldest,
            OptionalLong sinceTokenNs,
            Optional<Thread> thread) {

        /** No request is live. */
        public static final Live NONE = new Live(0, 0, Optional.empty(), OptionalLong.empty(), Optional.empty());

        /**
         * Checks the values.
         *
         * @throws IllegalArgumentException when a number is negative
         */
        public Live {
            requireNotNegative("waiting", waiting);
            requireNotNegative("running", running);
            Objects.requireNonNull(oldest, "oldest");
            sinceTokenNs.ifPresent(ns -> requireNotNegative("sinceTokenNs", ns));
            Objects.requireNonNull(thread, "thread");
        }
    }

    /**
     * Returns the requests that have not finished. The call reads every live request.
     *
     * @return their numbers, and the oldest
     */
    public synchronized Live live() {
        long waiting = live.waiting();
        long running = live.live() - waiting;
        List<Integer> oldest = live.oldest(1);
        if (oldest.isEmpty()) {
            return new Live(waiting, running, Optional.empty(), OptionalLong.empty(), Optional.empty());
        }
        int slot = oldest.get(0);
        long nowNs = clock.nanoTime();
        return new Live(
                waiting,
                running,
                Optional.of(live.request(slot, nowNs, unixMs)),
                live.sinceTokenNs(slot, nowNs),
                threadOf(places.slots().all(), live.handle(slot)));
    }

    private static Optional<Thread> threadOf(List<Place> threads, long request) {
        return threads.stream()
                .filter(place -> place.isOwnerAlive() && place.isFor(request))
                .map(Place::owner)
                .filter(Objects::nonNull)
                .findFirst();
    }

    /**
     * Returns the latencies of the requests that finished in the last 1, 5 and 60 minutes, since the last
     * {@link #reset}.
     *
     * @return the three windows
     */
    public synchronized List<RecentRequests> lastMinutes() {
        return lastHour.windows(clock.nanoTime());
    }

    /**
     * Returns the requests that finished last, at most 1,024.
     *
     * @return the records, oldest first; unmodifiable
     */
    public synchronized List<RequestRecord> recent() {
        List<RequestRecord> records = new ArrayList<>();
        for (long number = Math.max(0, recorded - RECENT); number < recorded; number++) {
            int place = (int) (number % RECENT);
            records.add(recentIds.record(place, recent, place * RequestRecord.CELLS));
        }
        return List.copyOf(records);
    }

    /**
     * Copies the data from which the time line of the latest requests is made. Copying takes the lock for a short time;
     * the supplier makes the time line itself outside of the lock.
     *
     * @return a supplier of the time line of the requests that finished since the last reset, at most 1,024, oldest
     *     first
     */
    public synchronized Supplier<RequestTimeline> timeline() {
        return copy(Math.max(recordedBefore, recorded - RECENT), recorded);
    }

    private Supplier<RequestTimeline> copy(long first, long end) {
        if (first == end) {
            return () -> RequestTimeline.NONE;
        }
        long[] records = new long[(int) (end - first) * RequestRecord.CELLS];
        KeptIds ids = new KeptIds((int) (end - first), models.copy());
        for (long number = first; number < end; number++) {
            int place = (int) (number % RECENT);
            int copied = (int) (number - first);
            System.arraycopy(
                    recent, place * RequestRecord.CELLS, records, copied * RequestRecord.CELLS, RequestRecord.CELLS);
            recentIds.copy(place, ids, copied);
        }
        List<RunningStep> underWay =
                steps.stream().filter(step -> step.number() != 0).toList();
        return log.copy(records, ids, underWay, times.inOrder(clock.nanoTime()), epochNs.getAsLong());
    }

    /**
     * Returns what was recorded since the last reset, and starts new sums. Live requests and steps that are under way
     * go on, and count in the sums of the time in which they end.
     *
     * @return the requests
     */
    public synchronized RequestStats statsAndReset() {
        RequestStats stats = stats();
        startSums();
        return stats;
    }

    private void startSums() {
        sums = new RequestSums(models);
        live.setSums(sums);
        recordedBefore = recorded;
    }

    /** Forgets everything: sums, live and recent requests. Steps that are under way are abandoned. */
    public synchronized void reset() {
        for (RunningStep step : steps) {
            if (step.number() != 0) {
                abandonStep(token(step), clock.nanoTime());
            }
        }
        live.abandonAll();
        lastHour.clear(clock.nanoTime());
        recorded = 0;
        split = 0;
        recentIds.clear();
        models.clear();
        startSums();
        places.sweep();
    }
}
