package org.brickprofiler.jfr;

import java.util.Locale;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.RequestRecord;
import org.jspecify.annotations.Nullable;

/**
 * A request that has finished. Committed at its finish, so the event itself has no duration. Each cause has its own
 * field, because events hold neither maps nor lists.
 */
@Name(RequestEvent.NAME)
@Label("Request")
@Category("Brick Profiler")
@Description("A request that has finished, with its time by cause")
@StackTrace(false)
final class RequestEvent extends Event {

    static final String NAME = "brick.Request";

    @Label("Id")
    @Description("Id that the application gave it; none if it gave none")
    @Nullable
    String id;

    @Label("Trace")
    @Description("Id of the trace in which it was submitted; none if none is known")
    @Nullable
    String trace;

    @Label("Model")
    @Description("Model that it names; none if it names none")
    @Nullable
    String model;

    @Label("Outcome")
    @Nullable
    String outcome;

    @Label("Arrived")
    @Description("Arrival, since the epoch of the profiler")
    @Timespan(Timespan.NANOSECONDS)
    long arrived;

    @Label("Elapsed")
    @Description("Time from arrival to finish")
    @Timespan(Timespan.NANOSECONDS)
    long elapsed;

    @Label("Time To First Token")
    @Description("0 without tokens")
    @Timespan(Timespan.NANOSECONDS)
    long timeToFirstToken;

    @Label("First To Last Token")
    @Timespan(Timespan.NANOSECONDS)
    long firstToLastToken;

    @Label("Longest Gap")
    @Description("Longest time between two tokens")
    @Timespan(Timespan.NANOSECONDS)
    long longestGap;

    @Label("Prompt Tokens")
    long promptTokens;

    @Label("Cached Tokens")
    long cachedTokens;

    @Label("Output Tokens")
    long outputTokens;

    @Label("Queued Behind Prompts")
    @Timespan(Timespan.NANOSECONDS)
    long queuedBehindPrompts;

    @Label("Queued Behind Decoding")
    @Timespan(Timespan.NANOSECONDS)
    long queuedBehindDecoding;

    @Label("Queued Idle")
    @Timespan(Timespan.NANOSECONDS)
    long queuedIdle;

    @Label("Own Prompt")
    @Timespan(Timespan.NANOSECONDS)
    long ownPrompt;

    @Label("Decode")
    @Timespan(Timespan.NANOSECONDS)
    long decode;

    @Label("Decode Beside Prompts")
    @Timespan(Timespan.NANOSECONDS)
    long decodeBesidePrompts;

    @Label("Stalled Behind Prompts")
    @Timespan(Timespan.NANOSECONDS)
    long stalledBehindPrompts;

    @Label("Stalled Behind Decoding")
    @Timespan(Timespan.NANOSECONDS)
    long stalledBehindDecoding;

    @Label("Stalled Idle")
    @Timespan(Timespan.NANOSECONDS)
    long stalledIdle;

    @Label("Delivery")
    @Timespan(Timespan.NANOSECONDS)
    long delivery;

    @Label("Own Work")
    @Description("Work of the thread that serves the request, between its steps")
    @Timespan(Timespan.NANOSECONDS)
    long ownWork;

    void fill(RequestRecord request) {
        id = request.identity().id().orElse(null);
        trace = request.identity().traceId().orElse(null);
        model = request.identity().model().orElse(null);
        outcome = request.outcome().name().toLowerCase(Locale.ROOT);
        arrived = request.arrivedNs();
        elapsed = request.durationNs();
        timeToFirstToken = request.timeToFirstTokenNs();
        firstToLastToken = request.firstToLastTokenNs();
        longestGap = request.longestGapNs();
        promptTokens = request.promptTokens();
        cachedTokens = request.cachedTokens();
        outputTokens = request.outputTokens();
        queuedBehindPrompts = request.causeNs(Cause.QUEUED_BEHIND_PROMPTS);
        queuedBehindDecoding = request.causeNs(Cause.QUEUED_BEHIND_DECODING);
        queuedIdle = request.causeNs(Cause.QUEUED_IDLE);
        ownPrompt = request.causeNs(Cause.OWN_PROMPT);
        decode = request.causeNs(Cause.DECODE);
        decodeBesidePrompts = request.causeNs(Cause.DECODE_BESIDE_PROMPTS);
        stalledBehindPrompts = request.causeNs(Cause.STALLED_BEHIND_PROMPTS);
        stalledBehindDecoding = request.causeNs(Cause.STALLED_BEHIND_DECODING);
        stalledIdle = request.causeNs(Cause.STALLED_IDLE);
        delivery = request.causeNs(Cause.DELIVERY);
        ownWork = request.causeNs(Cause.OWN_WORK);
    }
}
