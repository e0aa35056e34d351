package org.brickprofiler.request;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import org.brickprofiler.internal.base.Sums;
import org.jspecify.annotations.Nullable;

/**
 * A request that has finished. Immutable.
 *
 * <p>The second split of its waiting time, {@link #waitNs}, is known up to two seconds after the finish: until then,
 * and for listeners, all of it is {@link Wait#UNKNOWN}.
 *
 * <p>An engine may call {@link RequestRecorder#finished} inside the step that gives the last token. The duration then
 * ends at this call, and the token counts at the end of the step, so the time to first token of a request with one
 * token may exceed its duration.
 *
 * @param arrivedNs its arrival, ns on the scale of {@code BrickProfiler.elapsedNs()}
 * @param durationNs the time from its arrival to its finish, ns
 * @param timeToFirstTokenNs the time from its arrival to the end of the step that gave its first token, ns; 0 if it got
 *     no token
 * @param promptTokens tokens of its prompt
 * @param cachedTokens tokens of its prompt that needed no work
 * @param outputTokens tokens that it got
 * @param outcome the reason for which it ended
 * @param causeNs its time by cause, ns, with every cause; the times sum to the duration
 * @param longestGapNs the longest time between the ends of two steps that gave it tokens, one after the other, ns; 0
 *     for fewer than two such steps
 * @param firstToLastTokenNs the time from its first token to its last one, ns; 0 for fewer than two steps that gave it
 *     tokens, and in files of older versions
 * @param identity what finds it in the logs of its application
 * @param waitNs its time in the queued and stalled causes by wait, ns, with every wait; the times sum to that of these
 *     causes
 * @param lock the lock that blocked it longest, with its holder where it is stated; empty if none is known
 */
public record RequestRecord(
        long arrivedNs,
        long durationNs,
        long timeToFirstTokenNs,
        long promptTokens,
        long cachedTokens,
        long outputTokens,
        Outcome outcome,
        Map<Cause, Long> causeNs,
        long longestGapNs,
        long firstToLastTokenNs,
        RequestIdentity identity,
        Map<Wait, Long> waitNs,
        Optional<String> lock) {

    // The cells of a record in an array of numbers; the times by cause are the last ones.
    static final int ARRIVED = 0;
    static final int DURATION = 1;
    static final int FIRST_TOKEN = 2;
    static final int PROMPT_TOKENS = 3;
    static final int CACHED_TOKENS = 4;
    static final int OUTPUT_TOKENS = 5;
    static final int LONGEST_GAP = 6;
    static final int OUTCOME = 7;
    static final int FIRST_TO_LAST = 8;
    /** The handle of the request in the log of work, and the number of its works there. */
    static final int HANDLE = 9;

    static final int WORKS = 10;
    /** The clock at its arrival. */
    static final int ARRIVED_CLOCK = 11;

    /** Its arrival by the system's clock, ms since 1970. */
    static final int ARRIVED_MS = 12;

    /** The number of its model in {@link RequestModels}. */
    static final int MODEL = 13;

    /** The times by wait, without the unknown one. */
    static final int WAITS = 14;

    private static final Wait[] EVERY_WAIT = Wait.values();
    static final int KNOWN_WAITS = Wait.UNKNOWN.index();

    static final int CAUSES = WAITS + KNOWN_WAITS;

    private static final Cause[] EVERY_CAUSE = Cause.values();
    private static final Outcome[] OUTCOMES = Outcome.values();

    static final int CELLS = CAUSES + EVERY_CAUSE.length;

    /**
     * Copies the times, and adds the causes and waits that are missing with 0. If the waits sum to less than the
     * waiting time, as in files of older versions, the rest is added to the unknown one.
     *
     * @throws IllegalArgumentException when a number other than the arrival is negative, the times of the causes do not
     *     sum to the duration, or the waits exceed the waiting time
     */
    public RequestRecord {
        requireNotNegative("durationNs", durationNs);
        requireNotNegative("timeToFirstTokenNs", timeToFirstTokenNs);
        requireNotNegative("promptTokens", promptTokens);
        requireNotNegative("cachedTokens", cachedTokens);
        requireNotNegative("outputTokens", outputTokens);
        requireNotNegative("longestGapNs", longestGapNs);
        requireNotNegative("firstToLastTokenNs", firstToLastTokenNs);
        Objects.requireNonNull(outcome, "outcome");
        Objects.requireNonNull(identity, "identity");
        Objects.requireNonNull(waitNs, "waitNs");
        Objects.requireNonNull(lock, "lock");
        causeNs = everyCause(causeNs);
        long sumNs = causeNs.values().stream().mapToLong(Long::longValue).reduce(0, Sums::limited);
        if (sumNs != durationNs) {
            throw new IllegalArgumentException(
                    "the times of the causes sum to " + sumNs + " ns, and the duration is " + durationNs + " ns");
        }
        waitNs = withRest(every(Wait.class, waitNs), waitingNs(causeNs));
    }

    /**
     * Makes a request without an identity, whose waits are unknown.
     *
     * @param arrivedNs its arrival, ns on the scale of {@code BrickProfiler.elapsedNs()}
     * @param durationNs the time from its arrival to its finish, ns
     * @param timeToFirstTokenNs the time from its arrival to the end of the step that gave its first token, ns
     * @param promptTokens tokens of its prompt
     * @param cachedTokens tokens of its prompt that needed no work
     * @param outputTokens tokens that it got
     * @param outcome the reason for which it ended
     * @param causeNs its time by cause, ns
     * @param longestGapNs the longest time between two tokens, ns
     * @param firstToLastTokenNs the time from its first token to its last one, ns
     * @throws IllegalArgumentException when a number other than the arrival is negative, or the times do not sum to the
     *     duration
     */
    public RequestRecord(
            long arrivedNs,
            long durationNs,
            long timeToFirstTokenNs,
            long promptTokens,
            long cachedTokens,
            long outputTokens,
            Outcome outcome,
            Map<Cause, Long> causeNs,
            long longestGapNs,
            long firstToLastTokenNs) {
        this(
                arrivedNs,
                durationNs,
                timeToFirstTokenNs,
                promptTokens,
                cachedTokens,
                outputTokens,
                outcome,
                causeNs,
                longestGapNs,
                firstToLastTokenNs,
                RequestIdentity.NONE,
                Map.of(),
                Optional.empty());
    }

    /**
     * Returns the time of one cause.
     *
     * @param cause the cause
     * @return ns
     */
    public long causeNs(Cause cause) {
        return causeNs.getOrDefault(Objects.requireNonNull(cause, "cause"), 0L);
    }

    /**
     * Returns how long it waited for its first step: the sum of the three causes of queueing, without
     * {@linkplain Cause#OWN_WORK own work}.
     *
     * @return ns
     */
    public long queueNs() {
        return causeNs(Cause.QUEUED_BEHIND_PROMPTS)
                + causeNs(Cause.QUEUED_BEHIND_DECODING)
                + causeNs(Cause.QUEUED_IDLE);
    }

    /**
     * Returns the time per output token: (last token - first token) / (tokens - 1).
     *
     * @return ns, or empty for fewer than two tokens
     */
    public OptionalDouble timePerOutputTokenNs() {
        return outputTokens < 2
                ? OptionalDouble.empty()
                : OptionalDouble.of((double) firstToLastTokenNs / (outputTokens - 1));
    }

    /**
     * Returns how long it waited for its first step, or between its steps: the sum of the queued and stalled causes.
     *
     * @return ns
     */
    public long waitingNs() {
        return waitingNs(causeNs);
    }

    /** Returns the sum of the causes that waits split. */
    static long waitingNs(Map<Cause, Long> causeNs) {
        return causeNs.entrySet().stream()
                .filter(entry -> entry.getKey().isWaiting())
                .mapToLong(Map.Entry::getValue)
                .reduce(0, Sums::limited);
    }

    private static Map<Wait, Long> withRest(Map<Wait, Long> waits, long waitingNs) {
        long sumNs = waits.values().stream().mapToLong(Long::longValue).reduce(0, Sums::limited);
        if (sumNs > waitingNs) {
            throw new IllegalArgumentException(
                    "the waits sum to " + sumNs + " ns, and the request waited for " + waitingNs + " ns");
        }
        waits.merge(Wait.UNKNOWN, waitingNs - sumNs, Sums::limited);
        return Collections.unmodifiableMap(waits);
    }

    /** Returns whether another record is of the same request, whatever is known about its waits. */
    boolean isSame(RequestRecord other) {
        return arrivedNs == other.arrivedNs
                && durationNs == other.durationNs
                && timeToFirstTokenNs == other.timeToFirstTokenNs
                && outputTokens == other.outputTokens
                && causeNs.equals(other.causeNs)
                && identity.equals(other.identity);
    }

    /** Returns numbers for all constants of a type, in order, with 0 for those that are missing. */
    static <K extends Enum<K>> Map<K, Long> every(Class<K> type, Map<K, Long> given) {
        Map<K, Long> all = new EnumMap<>(type);
        for (K constant : type.getEnumConstants()) {
            long number = given.getOrDefault(constant, 0L);
            requireNotNegative(constant.name(), number);
            all.put(constant, number);
        }
        return all;
    }

    /** Returns the times by cause, in order, with 0 for the causes that are missing; unmodifiable. */
    static Map<Cause, Long> everyCause(Map<Cause, Long> given) {
        return Collections.unmodifiableMap(every(Cause.class, Objects.requireNonNull(given, "causeNs")));
    }

    /** Returns the times by cause that an array contains, by {@link Cause#index()}. */
    static Map<Cause, Long> byCause(long[] ns, int from) {
        Map<Cause, Long> all = new EnumMap<>(Cause.class);
        for (Cause cause : EVERY_CAUSE) {
            all.put(cause, ns[from + cause.index()]);
        }
        return all;
    }

    /** Returns the waits that an array contains, without the unknown one. */
    private static Map<Wait, Long> knownWaits(long[] cells, int from) {
        Map<Wait, Long> known = new EnumMap<>(Wait.class);
        for (int i = 0; i < KNOWN_WAITS; i++) {
            known.put(EVERY_WAIT[i], cells[from + i]);
        }
        return known;
    }

    /** Writes waits, without the unknown one, to the cells of a record. */
    static void setWaits(long[] cells, int at, Map<Wait, Long> waitNs) {
        for (int i = 0; i < KNOWN_WAITS; i++) {
            cells[at + WAITS + i] = waitNs.getOrDefault(EVERY_WAIT[i], 0L);
        }
    }

    /** Returns the record that an array contains from an index on. */
    static RequestRecord of(long[] cells, int at, RequestIdentity identity, @Nullable String lock) {
        return new RequestRecord(
                cells[at + ARRIVED],
                cells[at + DURATION],
                cells[at + FIRST_TOKEN],
                cells[at + PROMPT_TOKENS],
                cells[at + CACHED_TOKENS],
                cells[at + OUTPUT_TOKENS],
                OUTCOMES[(int) cells[at + OUTCOME]],
                byCause(cells, at + CAUSES),
                cells[at + LONGEST_GAP],
                cells[at + FIRST_TO_LAST],
                identity,
                knownWaits(cells, at + WAITS),
                Optional.ofNullable(lock));
    }
}
