package org.brickprofiler.request;

import static org.brickprofiler.internal.base.Sums.limited;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.PriorityQueue;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The requests that have arrived and not finished, each in a slot: its tokens, and its time by cause up to the moment
 * that is accounted for. Guarded by the recorder. Allocates only while more requests are live than ever before.
 *
 * <p>A slot remembers the sums of {@link StepTimes} at the moment up to which its time is accounted for. When the next
 * step of the request ends, the differences of these sums are its waiting time by cause. So a request costs the same
 * for each of its steps, however many steps of others lie in between.
 *
 * <p>Waiting time and own work after the latest token, or after the latest step of a request without tokens, are stored
 * separately: the next token or step turns them into stalls and own work, or the finish turns both into delivery.
 */
final class LiveRequests {

    static final int NONE = -1;

    private static final int SLOT_BITS = 16;

    /**
     * The most requests that are live at once. If one more arrives, the one that has been silent longest is evicted.
     */
    static final int MOST = 1 << SLOT_BITS;

    private static final int SEQUENCE_BITS = 32;

    // The first cache line of a slot contains the values that inStep reads.
    private static final int HANDLE = 0;
    private static final int FLAGS = 1;
    private static final int OPEN = 2;
    private static final int SECOND_OPEN = 3;
    private static final int PROMPT = 4;
    private static final int CACHED = 5;
    private static final int DONE = 6;
    private static final int LINKS = 7;
    private static final int ARRIVED = 8;
    private static final int OUTPUT = 9;
    private static final int FIRST_TOKEN = 10;
    private static final int LAST_TOKEN = 11;
    private static final int LONGEST_GAP = 12;
    private static final int ACCOUNTED = 13;
    private static final int ACCOUNTED_PROMPTS = 14;
    private static final int ACCOUNTED_DECODING = 15;
    /**
     * Waiting since the latest token, or since the latest step of a request without tokens, which is not a stall yet:
     * three values, in the order of the causes.
     */
    private static final int SINCE_STEP = 16;

    /** Own work in the same time. */
    private static final int OWN_SINCE_STEP = 19;

    private static final int FINISH = 20;
    private static final int FINISH_PROMPTS = 21;
    private static final int FINISH_DECODING = 22;
    private static final int CAUSES = 23;
    /** The latest work on the request that the log does not have yet: see {@link #logWork}. */
    private static final int WORK_FIRST = 34;

    private static final int WORK_LAST = 35;
    private static final int WORK_START = 36;
    private static final int WORK_END = 37;
    private static final int WORKS = 38;
    /**
     * The number of further steps that are under way: the first two account for the time of the request, and the others
     * only for its tokens, until one of the two ends.
     */
    private static final int MORE_OPEN = 39;

    private static final int STRIDE = 40;

    /** A step has worked on the request, or is working on it. */
    private static final long IN_STEP = 1;
    /** A step of the request has ended. */
    private static final long STEPPED = 2;
    /** The request has finished within a step that is under way. */
    private static final long FINISHING = 4;
    /** The prompt has as many tokens as are cached or were processed. */
    private static final long OPEN_PROMPT = 8;

    /** The bits of the outcome and of the model's number. */
    private static final int OUTCOME_SHIFT = 8;

    private static final int MODEL_SHIFT = 16;
    private static final int BYTE = 0xFF;

    /**
     * The bits below the number of the last step of a work: whether the work is on the request's own prompt, and
     * whether it ends with the step.
     */
    private static final long WORK_PROMPT = 1;

    private static final long WORK_WHOLE = 2;
    private static final int WORK_SHIFT = 2;

    private static final long NO_END = Long.MIN_VALUE;

    private static final int CHUNK_BITS = 8;
    private static final int CHUNK_SLOTS = 1 << CHUNK_BITS;

    private static final int WAITING_CAUSES = 3;
    private static final int QUEUED = Cause.QUEUED_BEHIND_PROMPTS.index();
    private static final int STALLED = Cause.STALLED_BEHIND_PROMPTS.index();
    private static final int DELIVERY = Cause.DELIVERY.index();
    private static final int OWN_WORK = Cause.OWN_WORK.index();

    private final StepTimes times;
    private final RequestLog log;

    /** The steps by their index; those with the number 0 are not under way. */
    private final List<RunningStep> steps;

    private final Finished finished;
    private final long[] record = new long[RequestRecord.CELLS];
    private final long[] @Nullable [] chunks = new long[MOST / CHUNK_SLOTS][];

    private final RequestModels models;
    private final SlotValues<String> ids = new SlotValues<>();
    private final SlotValues<RequestTrace> traces = new SlotValues<>();

    /** The upper bits of every handle, which differ from those of other recorders. */
    private final long salt;

    /** The sums to which requests are added; replaced by a reset. */
    private RequestSums sums;

    private long sequence;
    private int made;
    private int free = NONE;
    private int live;
    private int waiting;

    /** The first and the last slot in the order of their latest signs of life. */
    private int oldest = NONE;

    private int newest = NONE;

    /** Receives the requests that finish. */
    interface Finished {
        /**
         * Receives a request.
         *
         * @param record the cells of a {@link RequestRecord}, in an array that is reused
         * @param id the id of the request; null if it has none
         * @param trace the trace of the request; null if none is known
         */
        void accept(long[] record, @Nullable String id, @Nullable RequestTrace trace);
    }

    /** Values of some slots, in chunks that exist from their first value on. */
    private static final class SlotValues<T> {
        private final @Nullable Object[] @Nullable [] chunks = new @Nullable Object[MOST / CHUNK_SLOTS][];

        void set(int slot, @Nullable T value) {
            @Nullable Object[] chunk = chunks[slot >>> CHUNK_BITS];
            if (chunk == null) {
                if (value == null) {
                    return;
                }
                chunk = new @Nullable Object[CHUNK_SLOTS];
                chunks[slot >>> CHUNK_BITS] = chunk;
            }
            chunk[slot & (CHUNK_SLOTS - 1)] = value;
        }

        @SuppressWarnings("unchecked") // set accepts no other type
        @Nullable
        T get(int slot) {
            @Nullable Object[] chunk = chunks[slot >>> CHUNK_BITS];
            return chunk == null ? null : (T) chunk[slot & (CHUNK_SLOTS - 1)];
        }
    }

    /**
     * Creates a table without requests.
     *
     * @param log receives the work on requests
     * @param steps returns the step that is under way at an index
     * @param finished receives the requests that finish
     * @param models the names of the numbers of models
     * @param sums the sums to which requests are added
     * @param salt a number above 0, of 15 bits
     */
    LiveRequests(
            StepTimes times,
            RequestLog log,
            List<RunningStep> steps,
            Finished finished,
            RequestModels models,
            RequestSums sums,
            int salt) {
        this.times = times;
        this.log = log;
        this.steps = steps;
        this.finished = finished;
        this.models = models;
        this.sums = sums;
        this.salt = (long) salt << (SLOT_BITS + SEQUENCE_BITS);
    }

    void setSums(RequestSums others) {
        sums = others;
    }

    int live() {
        return live;
    }

    /** Returns how many live requests no step has worked on. */
    int waiting() {
        return waiting;
    }

    /** Returns the slots of the unfinished requests that arrived first, the oldest first. Reads every live request. */
    List<Integer> oldest(int most) {
        PriorityQueue<Integer> kept =
                new PriorityQueue<>(Comparator.comparingLong(this::arrivedNs).reversed());
        for (int slot = oldest; slot != NONE; slot = next(slot)) {
            if ((cells(slot)[base(slot) + FLAGS] & FINISHING) == 0) {
                kept.add(slot);
                if (kept.size() > most) {
                    kept.remove();
                }
            }
        }
        return kept.stream().sorted(Comparator.comparingLong(this::arrivedNs)).toList();
    }

    private RequestIdentity identity(int slot, LongUnaryOperator unixMs) {
        return RequestIdentity.of(
                ids.get(slot),
                unixMs.applyAsLong(arrivedNs(slot)),
                traces.get(slot),
                models.name(bits(cells(slot), base(slot), MODEL_SHIFT)));
    }

    private static long bits(long[] cells, int base, int shift) {
        return (cells[base + FLAGS] >>> shift) & BYTE;
    }

    private long arrivedNs(int slot) {
        return cells(slot)[base(slot) + ARRIVED];
    }

    /**
     * Returns a request as its readers see it.
     *
     * @param unixMs converts a reading of the clock to ms since 1970
     */
    LiveRequest request(int slot, long nowNs, LongUnaryOperator unixMs) {
        long[] cells = cells(slot);
        int base = base(slot);
        return new LiveRequest(
                Math.max(0, nowNs - cells[base + ARRIVED]),
                wasInStep(slot),
                cells[base + PROMPT],
                cells[base + OUTPUT],
                identity(slot, unixMs));
    }

    /** Returns the time since the latest token of a request, ns; empty before the first token. */
    OptionalLong sinceTokenNs(int slot, long nowNs) {
        long[] cells = cells(slot);
        int base = base(slot);
        return cells[base + OUTPUT] > 0
                ? OptionalLong.of(Math.max(0, nowNs - cells[base + LAST_TOKEN]))
                : OptionalLong.empty();
    }

    long handle(int slot) {
        return cells(slot)[base(slot) + HANDLE];
    }

    /** Sets the id of a request. */
    void setId(int slot, String id) {
        ids.set(slot, id);
    }

    /** Sets the number of the model of a request. */
    void setModel(int slot, int number) {
        long[] cells = cells(slot);
        int flags = base(slot) + FLAGS;
        cells[flags] = (cells[flags] & ~((long) BYTE << MODEL_SHIFT)) | ((long) number << MODEL_SHIFT);
    }

    /** Sets the trace of a request. */
    void setTrace(int slot, RequestTrace trace) {
        traces.set(slot, trace);
    }

    // ---- arrival ----

    /** Adds a request, and returns its handle. If no slot is left, evicts the request that has been silent longest. */
    long arrive(long atNs, long promptTokens, String from) {
        if (live == MOST) {
            evict(silentLongest());
        }
        int slot = takeSlot();
        long[] cells = cells(slot);
        int base = base(slot);
        Arrays.fill(cells, base, base + STRIDE, 0);
        sequence = (sequence + 1) & ((1L << SEQUENCE_BITS) - 1);
        long handle = salt | sequence << SLOT_BITS | slot;
        cells[base + HANDLE] = handle;
        cells[base + PROMPT] = promptTokens;
        cells[base + ARRIVED] = atNs;
        cells[base + ACCOUNTED] = atNs;
        cells[base + ACCOUNTED_PROMPTS] = times.promptsNs(atNs);
        cells[base + ACCOUNTED_DECODING] = times.decodingNs(atNs);
        append(slot);
        live++;
        waiting++;
        sums.arrived(from);
        return handle;
    }

    /** Returns the request that has been in no step for the longest time. A request in a step is not silent. */
    private int silentLongest() {
        for (int i = 0; i < live && isInSteps(oldest); i++) {
            touch(oldest);
        }
        return oldest;
    }

    private int takeSlot() {
        if (free != NONE) {
            int slot = free;
            free = previous(slot);
            return slot;
        }
        if (chunks[made >>> CHUNK_BITS] == null) {
            chunks[made >>> CHUNK_BITS] = new long[CHUNK_SLOTS * STRIDE];
        }
        return made++;
    }

    /** Forgets a request, and counts it as abandoned. */
    void evict(int slot) {
        sums.abandoned();
        remove(slot);
    }

    /** Forgets all requests that have not finished, and counts them as abandoned. */
    void abandonAll() {
        for (int slot = oldest; slot != NONE; ) {
            int after = next(slot);
            if ((cells(slot)[base(slot) + FLAGS] & FINISHING) == 0) {
                evict(slot);
            }
            slot = after;
        }
    }

    // ---- handles ----

    /** Returns whether a number has the form of a handle of this table. */
    boolean isOurs(long handle) {
        return (handle & -1L << (SLOT_BITS + SEQUENCE_BITS)) == salt;
    }

    /** Returns the slot of a request that is live and not finishing, or {@link #NONE}. */
    int find(long handle) {
        int slot = slotOf(handle);
        return slot == NONE || (cells(slot)[base(slot) + FLAGS] & FINISHING) != 0 ? NONE : slot;
    }

    /** Returns the slot that a handle still has, or {@link #NONE}. */
    private int slotOf(long handle) {
        int slot = (int) handle & (MOST - 1);
        return slot < made && cells(slot)[base(slot) + HANDLE] == handle && handle != 0 ? slot : NONE;
    }

    private long[] cells(int slot) {
        return Objects.requireNonNull(chunks[slot >>> CHUNK_BITS]);
    }

    private static int base(int slot) {
        return (slot & (CHUNK_SLOTS - 1)) * STRIDE;
    }

    // ---- steps ----

    /** Sets that the prompt of a request has as many tokens as are cached or processed. */
    void openPrompt(int slot) {
        cells(slot)[base(slot) + FLAGS] |= OPEN_PROMPT;
    }

    private static boolean hasOpenPrompt(long[] cells, int base) {
        return (cells[base + FLAGS] & OPEN_PROMPT) != 0;
    }

    /**
     * Sets how many tokens of a prompt need no work. If the prompt has fewer tokens, sets all of them and returns
     * false.
     */
    boolean setCached(int slot, long tokens) {
        long[] cells = cells(slot);
        int base = base(slot);
        if (hasOpenPrompt(cells, base)) {
            cells[base + PROMPT] = limited(tokens, cells[base + DONE]);
        }
        cells[base + CACHED] = Math.min(tokens, cells[base + PROMPT]);
        return tokens <= cells[base + PROMPT];
    }

    /**
     * Sets the number of tokens of a prompt. If more tokens are cached or processed already, sets their number and
     * returns false.
     */
    boolean setPrompt(int slot, long tokens) {
        long[] cells = cells(slot);
        int base = base(slot);
        long known = limited(cells[base + CACHED], cells[base + DONE]);
        cells[base + PROMPT] = Math.max(tokens, known);
        cells[base + FLAGS] &= ~OPEN_PROMPT;
        return tokens >= known;
    }

    /**
     * Returns how many tokens of a request's prompt are left to be processed; {@link Long#MAX_VALUE} if its length is
     * open.
     */
    long promptLeft(int slot) {
        long[] cells = cells(slot);
        int base = base(slot);
        return hasOpenPrompt(cells, base) ? Long.MAX_VALUE : knownLeft(cells, base);
    }

    private static long knownLeft(long[] cells, int base) {
        return Math.max(0, cells[base + PROMPT] - cells[base + CACHED] - cells[base + DONE]);
    }

    /** Returns whether a step of the request is under way or has ended. */
    boolean wasInStep(int slot) {
        return (cells(slot)[base(slot) + FLAGS] & IN_STEP) != 0;
    }

    /** Returns the entry that a request has in a step, or {@link #NONE}. */
    int entry(int slot, RunningStep step) {
        long[] cells = cells(slot);
        int base = base(slot);
        int entry = trackedEntry(cells, base, step);
        return entry != NONE || cells[base + MORE_OPEN] == 0 ? entry : step.entryOf(cells[base + HANDLE]);
    }

    private static int trackedEntry(long[] cells, int base, RunningStep step) {
        int entry = entryOf(cells[base + OPEN], step);
        return entry != NONE ? entry : entryOf(cells[base + SECOND_OPEN], step);
    }

    private static int entryOf(long open, RunningStep step) {
        return open != 0 && (int) open == step.index ? (int) (open >>> 32) - 1 : NONE;
    }

    boolean isInSteps(int slot) {
        return cells(slot)[base(slot) + OPEN] != 0;
    }

    /** Returns whether a step of the request has ended after the beginning of a step. */
    boolean hasStepAfter(int slot, RunningStep step) {
        long[] cells = cells(slot);
        int base = base(slot);
        return (cells[base + FLAGS] & STEPPED) != 0 && cells[base + ACCOUNTED] > step.startNs();
    }

    /** Records that a step works on a request. */
    void enter(int slot, RunningStep step, long handle, long promptTokens) {
        long[] cells = cells(slot);
        int base = base(slot);
        int open = cells[base + OPEN] == 0 ? OPEN : SECOND_OPEN;
        int entry = step.add(handle, promptTokens);
        if (cells[base + open] == 0) {
            cells[base + open] = reference(step, entry);
        } else {
            cells[base + MORE_OPEN]++;
        }
        if ((cells[base + FLAGS] & IN_STEP) == 0) {
            cells[base + FLAGS] |= IN_STEP;
            waiting--;
        }
    }

    private static long reference(RunningStep step, int entry) {
        return (entry + 1L) << 32 | step.index;
    }

    /**
     * Ends a step, and gives its requests their tokens.
     *
     * @param acceptedTokens accepted tokens of the step's draft
     */
    void ended(RunningStep step, long endNs, long acceptedTokens) {
        long promptsNs = times.promptsNs(endNs);
        long decodingNs = times.decodingNs(endNs);
        for (int entry = 0; entry < step.entries(); entry++) {
            int slot = slotOf(step.handle(entry));
            if (slot != NONE) {
                long[] cells = cells(slot);
                int base = base(slot);
                boolean finishing = (cells[base + FLAGS] & FINISHING) != 0;
                if ((cells[base + FLAGS] & STEPPED) == 0) {
                    sums.queued(Math.max(0, earliestStartNs(cells, base) - cells[base + ARRIVED]));
                }
                account(cells, base, finishing ? Math.min(endNs, cells[base + FINISH]) : endNs, step, endNs);
                cells[base + ACCOUNTED_PROMPTS] = promptsNs;
                cells[base + ACCOUNTED_DECODING] = decodingNs;
                cells[base + FLAGS] |= STEPPED;
                if (cells[base + OUTPUT] == 0) {
                    settle(cells, base);
                }
                leave(cells, base, step);
                step.limitPromptTokens(entry, promptLeft(slot));
                process(cells, base, step.promptTokens(entry));
                long tokens = tokens(knownLeft(cells, base) == 0, step.gives(entry), acceptedTokens);
                if (tokens > 0) {
                    give(cells, base, tokens, endNs);
                }
                if (finishing && cells[base + OPEN] == 0) {
                    finishNow(slot);
                } else {
                    touch(slot);
                }
            }
        }
    }

    private static void process(long[] cells, int base, long promptTokens) {
        cells[base + DONE] = limited(cells[base + DONE], promptTokens);
        if (hasOpenPrompt(cells, base)) {
            cells[base + PROMPT] = Math.max(cells[base + PROMPT], limited(cells[base + CACHED], cells[base + DONE]));
        }
    }

    private static long tokens(boolean isPromptComplete, long gives, long acceptedTokens) {
        if (gives >= 0) {
            return gives;
        }
        long byRule = isPromptComplete ? 1 : 0;
        return gives == RunningStep.BY_RULE_AND_DRAFT ? limited(byRule, acceptedTokens) : byRule;
    }

    /** Abandons a step: it is no step of its requests. */
    void abandoned(RunningStep step) {
        for (int entry = 0; entry < step.entries(); entry++) {
            int slot = slotOf(step.handle(entry));
            if (slot != NONE) {
                long[] cells = cells(slot);
                int base = base(slot);
                leave(cells, base, step);
                if (cells[base + OPEN] == 0) {
                    leftAll(slot);
                }
            }
        }
    }

    /**
     * Handles a request whose only open step was abandoned. If no other step has worked on the request, it waits again.
     */
    private void leftAll(int slot) {
        long[] cells = cells(slot);
        int base = base(slot);
        if ((cells[base + FLAGS] & STEPPED) == 0) {
            cells[base + FLAGS] &= ~IN_STEP;
            waiting++;
        }
        if ((cells[base + FLAGS] & FINISHING) != 0) {
            finishNow(slot);
        }
    }

    private void leave(long[] cells, int base, RunningStep step) {
        if (cells[base + MORE_OPEN] == 0) {
            leaveTracked(cells, base, step);
            return;
        }
        cells[base + MORE_OPEN]--;
        if (trackedEntry(cells, base, step) != NONE) {
            leaveTracked(cells, base, step);
            cells[base + SECOND_OPEN] = earliestUntracked(cells, base, step);
        }
    }

    private static void leaveTracked(long[] cells, int base, RunningStep step) {
        if (entryOf(cells[base + OPEN], step) != NONE) {
            cells[base + OPEN] = cells[base + SECOND_OPEN];
        }
        cells[base + SECOND_OPEN] = 0;
    }

    /** Returns a reference to the earliest step of a request beside the tracked one and the one that it leaves. */
    private long earliestUntracked(long[] cells, int base, RunningStep left) {
        long found = 0;
        long number = Long.MAX_VALUE;
        for (int i = 0; i < steps.size(); i++) {
            RunningStep step = steps.get(i);
            if (step.number() != 0
                    && step.number() < number
                    && step.index != left.index
                    && entryOf(cells[base + OPEN], step) == NONE) {
                int entry = step.entryOf(cells[base + HANDLE]);
                if (entry != NONE) {
                    found = reference(step, entry);
                    number = step.number();
                }
            }
        }
        return found;
    }

    /**
     * Accounts for the time up to a moment at which steps of the request are under way.
     *
     * @param ending the step that ends; it may be none of the tracked ones if there are two of these
     * @param endNs the end of this step, which is the moment {@code toNs} unless the request finished earlier
     */
    private void account(long[] cells, int base, long toNs, RunningStep ending, long endNs) {
        long open = cells[base + OPEN];
        RunningStep step = steps.get((int) open);
        long second = cells[base + SECOND_OPEN];
        if (second != 0) {
            RunningStep other = steps.get((int) second);
            boolean otherIsLater = other.number() > step.number();
            RunningStep earlier = otherIsLater ? step : other;
            RunningStep later = otherIsLater ? other : step;
            waitUntil(cells, base, Math.min(toNs, earlier.startNs()), earlier);
            // Both may have begun before the time up to which an earlier step was accounted for.
            long earlierNs = Math.max(cells[base + ACCOUNTED], Math.min(toNs, later.startNs()));
            work(cells, base, earlierNs, otherIsLater ? open : second, earlier, earlier == ending ? endNs : NO_END);
            work(cells, base, toNs, otherIsLater ? second : open, later, later == ending ? endNs : NO_END);
        } else {
            waitUntil(cells, base, Math.min(toNs, step.startNs()), step);
            work(cells, base, toNs, open, step, endNs);
        }
    }

    private long earliestStartNs(long[] cells, int base) {
        long firstNs = steps.get((int) cells[base + OPEN]).startNs();
        long second = cells[base + SECOND_OPEN];
        return second == 0 ? firstNs : Math.min(firstNs, steps.get((int) second).startNs());
    }

    private static Cause causeOf(long open, RunningStep step) {
        return step.causeOf((int) (open >>> 32) - 1);
    }

    /**
     * Accounts for the work of a step up to a moment.
     *
     * @param endNs the end of the step; {@link #NO_END} if it goes on
     */
    private void work(long[] cells, int base, long toNs, long open, RunningStep step, long endNs) {
        long fromNs = cells[base + ACCOUNTED];
        // The end of a step is logged even without time in it, because the request waited for this step.
        if (toNs > fromNs || endNs != NO_END) {
            Cause cause = causeOf(open, step);
            logWork(cells, base, toNs, cause == Cause.OWN_PROMPT, step, endNs);
            cells[base + CAUSES + cause.index()] += toNs - fromNs;
            cells[base + ACCOUNTED] = toNs;
        }
    }

    /**
     * Extends the latest work, or begins a new one. A work covers consecutive whole steps of a thread, so a request
     * that decodes undisturbed has one work for all of its tokens.
     */
    private void logWork(long[] cells, int base, long toNs, boolean prompt, RunningStep step, long endNs) {
        long fromNs = cells[base + ACCOUNTED];
        long kind = prompt ? WORK_PROMPT : 0;
        boolean continues = step.previous() != 0
                && cells[base + WORK_LAST] == (step.previous() << WORK_SHIFT | WORK_WHOLE | kind)
                && fromNs == step.startNs();
        if (!continues) {
            endWork(cells, base);
            cells[base + WORK_FIRST] = step.number();
            cells[base + WORK_START] = fromNs;
        }
        cells[base + WORK_LAST] = step.number() << WORK_SHIFT | (toNs == endNs ? WORK_WHOLE : 0) | kind;
        cells[base + WORK_END] = toNs;
    }

    private void endWork(long[] cells, int base) {
        if (cells[base + WORK_FIRST] != 0) {
            cells[base + WORKS]++;
            log.worked(
                    cells[base + HANDLE],
                    cells[base + WORK_FIRST],
                    cells[base + WORK_LAST] >>> WORK_SHIFT,
                    (cells[base + WORK_LAST] & WORK_PROMPT) != 0,
                    cells[base + WORK_START],
                    cells[base + WORK_END]);
            cells[base + WORK_FIRST] = 0;
        }
    }

    private static void waitUntil(long[] cells, int base, long toNs, RunningStep next) {
        if (toNs > cells[base + ACCOUNTED]) {
            addWaiting(cells, base, waitingAt(cells, base), toNs, next.promptsNs(), next.decodingNs());
        }
    }

    /**
     * Accounts for own work of the thread that serves a request, between two boundaries of this thread. The work counts
     * from the earlier boundary on, as an engine tokenizes before it waits for a step. It counts only in time that no
     * step of the request has: not before a moment that is accounted for, and not after the beginning of a step that
     * works on the request.
     *
     * @param fromNs the earlier boundary
     * @param promptsNs the sum of {@link StepTimes#promptsNs} at this boundary
     * @param decodingNs the sum of {@link StepTimes#decodingNs} at this boundary
     * @param toNs the later boundary
     * @param workNs the own work
     */
    void ownWork(int slot, long fromNs, long promptsNs, long decodingNs, long toNs, long workNs) {
        long[] cells = cells(slot);
        int base = base(slot);
        long limitNs = cells[base + OPEN] == 0 ? toNs : Math.min(toNs, earliestStartNs(cells, base));
        long startNs = Math.max(fromNs, cells[base + ACCOUNTED]);
        // The sums at the end of the work must be known.
        startNs = Math.max(startNs, times.oldestNs());
        long endNs = Math.min(limitNs, startNs + Math.min(workNs, toNs - fromNs));
        if (endNs <= startNs) {
            return;
        }
        boolean isStepped = (cells[base + FLAGS] & STEPPED) != 0;
        if (startNs > cells[base + ACCOUNTED]) {
            boolean isBoundary = startNs == fromNs;
            addWaiting(
                    cells,
                    base,
                    base + (isStepped ? SINCE_STEP : CAUSES + QUEUED),
                    startNs,
                    isBoundary ? promptsNs : times.promptsNs(startNs),
                    isBoundary ? decodingNs : times.decodingNs(startNs));
        }
        cells[base + (isStepped ? OWN_SINCE_STEP : CAUSES + OWN_WORK)] += endNs - startNs;
        cells[base + ACCOUNTED] = endNs;
        cells[base + ACCOUNTED_PROMPTS] = times.promptsNs(endNs);
        cells[base + ACCOUNTED_DECODING] = times.decodingNs(endNs);
        cells[base + WORKS]++;
        log.workedOutside(cells[base + HANDLE], startNs, endNs);
    }

    /** Returns the first of the three cells that waiting of the request counts in. */
    private static int waitingAt(long[] cells, int base) {
        if ((cells[base + FLAGS] & STEPPED) == 0) {
            return base + CAUSES + QUEUED;
        }
        return cells[base + OUTPUT] == 0 ? base + CAUSES + STALLED : base + SINCE_STEP;
    }

    private static void addWaiting(long[] cells, int base, int at, long toNs, long promptsNs, long decodingNs) {
        long behindPromptsNs = promptsNs - cells[base + ACCOUNTED_PROMPTS];
        long behindDecodingNs = decodingNs - cells[base + ACCOUNTED_DECODING];
        cells[at] += behindPromptsNs;
        cells[at + 1] += behindDecodingNs;
        cells[at + 2] += toNs - cells[base + ACCOUNTED] - behindPromptsNs - behindDecodingNs;
        cells[base + ACCOUNTED] = toNs;
    }

    /** Counts the time that was set aside as stalls and own work, since the request's work goes on after it. */
    private static void settle(long[] cells, int base) {
        for (int i = 0; i < WAITING_CAUSES; i++) {
            cells[base + CAUSES + STALLED + i] += cells[base + SINCE_STEP + i];
            cells[base + SINCE_STEP + i] = 0;
        }
        cells[base + CAUSES + OWN_WORK] += cells[base + OWN_SINCE_STEP];
        cells[base + OWN_SINCE_STEP] = 0;
    }

    private void give(long[] cells, int base, long tokens, long atNs) {
        settle(cells, base);
        if (cells[base + OUTPUT] == 0) {
            cells[base + FIRST_TOKEN] = atNs;
            sums.firstToken(Math.max(0, atNs - cells[base + ARRIVED]), cells, base + CAUSES);
        } else {
            long gapNs = atNs - cells[base + LAST_TOKEN];
            sums.interToken(gapNs);
            cells[base + LONGEST_GAP] = Math.max(cells[base + LONGEST_GAP], gapNs);
        }
        cells[base + OUTPUT] = limited(cells[base + OUTPUT], tokens);
        cells[base + LAST_TOKEN] = atNs;
    }

    // ---- finish ----

    /** Finishes a request. If a step of the request is under way, the request counts when this step ends. */
    void finish(int slot, long atNs, Outcome outcome) {
        long[] cells = cells(slot);
        int base = base(slot);
        cells[base + FLAGS] |= FINISHING | (long) outcome.index() << OUTCOME_SHIFT;
        cells[base + FINISH] = Math.max(atNs, cells[base + ARRIVED]);
        cells[base + FINISH_PROMPTS] = times.promptsNs(cells[base + FINISH]);
        cells[base + FINISH_DECODING] = times.decodingNs(cells[base + FINISH]);
        if (cells[base + OPEN] == 0) {
            finishNow(slot);
        }
    }

    private void finishNow(int slot) {
        long[] cells = cells(slot);
        int base = base(slot);
        long finishNs = cells[base + FINISH];
        if ((cells[base + FLAGS] & STEPPED) == 0) {
            int at = base + CAUSES + QUEUED;
            addWaiting(cells, base, at, finishNs, cells[base + FINISH_PROMPTS], cells[base + FINISH_DECODING]);
        } else {
            long deliveryNs = Math.max(0, finishNs - cells[base + ACCOUNTED]) + cells[base + OWN_SINCE_STEP];
            for (int i = 0; i < WAITING_CAUSES; i++) {
                deliveryNs += cells[base + SINCE_STEP + i];
            }
            cells[base + CAUSES + DELIVERY] += deliveryNs;
        }
        long output = cells[base + OUTPUT];
        if (output > 1) {
            long tokensNs = cells[base + LAST_TOKEN] - cells[base + FIRST_TOKEN];
            sums.perOutputToken(Math.round((double) tokensNs / (output - 1)));
        }
        record[RequestRecord.ARRIVED] = cells[base + ARRIVED];
        record[RequestRecord.DURATION] = finishNs - cells[base + ARRIVED];
        record[RequestRecord.FIRST_TOKEN] = output == 0 ? 0 : cells[base + FIRST_TOKEN] - cells[base + ARRIVED];
        record[RequestRecord.PROMPT_TOKENS] = cells[base + PROMPT];
        record[RequestRecord.CACHED_TOKENS] = cells[base + CACHED];
        record[RequestRecord.OUTPUT_TOKENS] = output;
        record[RequestRecord.LONGEST_GAP] = cells[base + LONGEST_GAP];
        record[RequestRecord.OUTCOME] = bits(cells, base, OUTCOME_SHIFT);
        record[RequestRecord.MODEL] = bits(cells, base, MODEL_SHIFT);
        record[RequestRecord.FIRST_TO_LAST] = output == 0 ? 0 : cells[base + LAST_TOKEN] - cells[base + FIRST_TOKEN];
        endWork(cells, base);
        record[RequestRecord.HANDLE] = cells[base + HANDLE];
        record[RequestRecord.WORKS] = cells[base + WORKS];
        Arrays.fill(record, RequestRecord.WAITS, RequestRecord.CAUSES, 0);
        System.arraycopy(
                cells, base + CAUSES, record, RequestRecord.CAUSES, RequestRecord.CELLS - RequestRecord.CAUSES);
        String id = ids.get(slot);
        RequestTrace trace = traces.get(slot);
        remove(slot);
        finished.accept(record, id, trace);
    }

    // ---- the order of signs of life ----

    private void remove(int slot) {
        unlink(slot);
        long[] cells = cells(slot);
        int base = base(slot);
        if ((cells[base + FLAGS] & IN_STEP) == 0) {
            waiting--;
        }
        cells[base + HANDLE] = 0;
        ids.set(slot, null);
        traces.set(slot, null);
        setLinks(slot, free, NONE);
        free = slot;
        live--;
    }

    private void touch(int slot) {
        if (slot != newest) {
            unlink(slot);
            append(slot);
        }
    }

    private void append(int slot) {
        setLinks(slot, newest, NONE);
        if (newest != NONE) {
            setLinks(newest, previous(newest), slot);
        }
        newest = slot;
        oldest = oldest == NONE ? slot : oldest;
    }

    private void unlink(int slot) {
        int before = previous(slot);
        int after = next(slot);
        if (before != NONE) {
            setLinks(before, previous(before), after);
        }
        if (after != NONE) {
            setLinks(after, before, next(after));
        }
        oldest = oldest == slot ? after : oldest;
        newest = newest == slot ? before : newest;
    }

    private void setLinks(int slot, int before, int after) {
        cells(slot)[base(slot) + LINKS] = (long) before << 32 | (after & 0xFFFF_FFFFL);
    }

    private int previous(int slot) {
        return (int) (cells(slot)[base(slot) + LINKS] >> 32);
    }

    private int next(int slot) {
        return (int) cells(slot)[base(slot) + LINKS];
    }
}
