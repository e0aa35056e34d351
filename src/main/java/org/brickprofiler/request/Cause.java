package org.brickprofiler.request;

/**
 * The reason for a part of a request's time. Each nanosecond from arrival to finish has exactly one cause, so the times
 * of all causes sum to the duration of the request.
 *
 * <p>A nanosecond within a step that works on the request has the cause of that step, whatever else runs; of several
 * such steps, the one that began last counts. An abandoned step is no step of its requests. Until it is abandoned it is
 * under way, for its requests as for all others.
 */
public enum Cause {
    /** No step has worked on the request yet, and a step that processes prompts is under way. */
    QUEUED_BEHIND_PROMPTS("queued behind others' prompts"),
    /** No step has worked on the request yet, and only steps that decode are under way. */
    QUEUED_BEHIND_DECODING("queued behind others' decoding"),
    /** No step has worked on the request yet, and no step is under way: scheduler, tokenizer, host. */
    QUEUED_IDLE("queued while no step ran"),
    /** A step is under way that processes tokens of the request's prompt. */
    OWN_PROMPT("own prompt"),
    /** A step is under way that decodes the request, and processes no prompts. */
    DECODE("decoding"),
    /** A step is under way that decodes the request, and processes prompts of others: they make its token late. */
    DECODE_BESIDE_PROMPTS("decoding beside others' prompts"),
    /** Between two steps of the request, before its last token, while a step that processes prompts is under way. */
    STALLED_BEHIND_PROMPTS("stalled behind others' prompts"),
    /** Between two steps of the request, before its last token, while only steps that decode are under way. */
    STALLED_BEHIND_DECODING("stalled behind others' decoding"),
    /** Between two steps of the request, before its last token, while no step is under way. */
    STALLED_IDLE("stalled while no step ran"),
    /**
     * After the last token until the finish, outside of steps of the request. A request that never got a token is in
     * delivery from the end of its last step.
     */
    DELIVERY("delivery"),
    /**
     * Between two steps of the request, or before its first step: the own work of the thread that serves it, for
     * example a tokenizer. It is known for requests that a thread serves, see {@link RequestRecorder#serve}, and is
     * taken from the time in which the request would otherwise be queued or stalled.
     */
    OWN_WORK("own work between steps");

    private final String displayName;

    Cause(String displayName) {
        this.displayName = displayName;
    }

    /**
     * Returns the name for people.
     *
     * @return a few words in lower case
     */
    public String displayName() {
        return displayName;
    }

    /** Returns whether a request of this cause is queued or stalled, so that {@link Wait}s split its time. */
    boolean isWaiting() {
        return switch (this) {
            case QUEUED_BEHIND_PROMPTS,
                    QUEUED_BEHIND_DECODING,
                    QUEUED_IDLE,
                    STALLED_BEHIND_PROMPTS,
                    STALLED_BEHIND_DECODING,
                    STALLED_IDLE -> true;
            case OWN_PROMPT, DECODE, DECODE_BESIDE_PROMPTS, DELIVERY, OWN_WORK -> false;
        };
    }

    /** Returns the number of this cause; the only reader of the ordinal. */
    @SuppressWarnings("EnumOrdinal") // this method is where it is wrapped
    int index() {
        return ordinal();
    }
}
