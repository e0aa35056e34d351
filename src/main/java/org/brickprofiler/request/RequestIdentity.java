package org.brickprofiler.request;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.Optional;
import org.brickprofiler.internal.record.WallClock;
import org.jspecify.annotations.Nullable;

/**
 * The id, the arrival, the trace and the model of a request, by which it is found in the logs of its application.
 * Immutable.
 *
 * @param id the id that the application gave it; empty if it gave none
 * @param arrivedAt its arrival by the system's clock, in ms; empty if it is not known
 * @param traceId the id of the trace in which it was submitted; empty if none is known
 * @param model the model that it names, or {@link RequestStats#OTHER_MODELS}; empty for that of the run
 */
public record RequestIdentity(
        Optional<String> id, Optional<Instant> arrivedAt, Optional<String> traceId, Optional<String> model) {

    /** The most characters of a text; a longer one is cut. */
    public static final int MOST_CHARACTERS = 128;

    /** Nothing is known. */
    public static final RequestIdentity NONE =
            new RequestIdentity(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

    /**
     * Cuts a text that is too long, and replaces halves of characters by U+FFFD, since no file can contain them. An
     * empty text is none. A time is rounded down to a millisecond.
     */
    public RequestIdentity {
        id = text(id, "id");
        arrivedAt = Objects.requireNonNull(arrivedAt, "arrivedAt").map(at -> at.truncatedTo(ChronoUnit.MILLIS));
        traceId = text(traceId, "traceId");
        model = text(model, "model");
    }

    /**
     * Makes an identity without a model.
     *
     * @param id the id
     * @param arrivedAt the arrival
     * @param traceId the id of the trace
     */
    public RequestIdentity(Optional<String> id, Optional<Instant> arrivedAt, Optional<String> traceId) {
        this(id, arrivedAt, traceId, Optional.empty());
    }

    /**
     * Returns an identity.
     *
     * @param id the id; null if there is none
     * @param arrivedMs the arrival, ms since 1970, or {@link WallClock#UNKNOWN}
     * @param traceId the id of the trace; null if there is none
     * @param model the model; null if there is none
     */
    static RequestIdentity ofTraceId(
            @Nullable String id, long arrivedMs, @Nullable String traceId, @Nullable String model) {
        return id == null && arrivedMs == WallClock.UNKNOWN && traceId == null && model == null
                ? NONE
                : new RequestIdentity(
                        Optional.ofNullable(id),
                        arrivedMs == WallClock.UNKNOWN
                                ? Optional.empty()
                                : Optional.of(Instant.ofEpochMilli(arrivedMs)),
                        Optional.ofNullable(traceId),
                        Optional.ofNullable(model));
    }

    /**
     * Returns an identity.
     *
     * @param id the id; null if there is none
     * @param arrivedMs the arrival, ms since 1970, or {@link WallClock#UNKNOWN}
     * @param trace the trace; null if none is known
     * @param model the model; null if there is none
     */
    static RequestIdentity of(
            @Nullable String id, long arrivedMs, @Nullable RequestTrace trace, @Nullable String model) {
        return ofTraceId(id, arrivedMs, trace == null ? null : trace.traceId(), model);
    }

    private static Optional<String> text(Optional<String> given, String name) {
        return Objects.requireNonNull(given, name)
                .map(RequestIdentity::cut)
                .map(RequestIdentity::whole)
                .filter(text -> !text.isEmpty());
    }

    /** Returns the beginning of a text that is too long, without half a character at its end. */
    static String cut(String text) {
        if (text.length() <= MOST_CHARACTERS) {
            return text;
        }
        boolean halves = Character.isHighSurrogate(text.charAt(MOST_CHARACTERS - 1))
                && Character.isLowSurrogate(text.charAt(MOST_CHARACTERS));
        return text.substring(0, MOST_CHARACTERS - (halves ? 1 : 0));
    }

    static String whole(String text) {
        if (text.chars().noneMatch(each -> Character.isSurrogate((char) each))) {
            return text;
        }
        StringBuilder whole = new StringBuilder(text.length());
        text.codePoints()
                .map(each -> each >= Character.MIN_SURROGATE && each <= Character.MAX_SURROGATE ? '\ufffd' : each)
                .forEach(whole::appendCodePoint);
        return whole.toString();
    }
}
