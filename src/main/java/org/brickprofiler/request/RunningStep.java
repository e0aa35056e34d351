package org.brickprofiler.request;

import java.util.Arrays;

/** A step that is under way, and the requests that it works on. Reused by later steps. Guarded by the recorder. */
final class RunningStep {

    /** Instead of a number of tokens: the request gets those of the rule of {@link RequestRecorder#inStep}. */
    static final long BY_RULE = -1;

    /** Also those of the rule, and the accepted tokens of the step's draft: see {@link RequestRecorder#serve}. */
    static final long BY_RULE_AND_DRAFT = -2;

    private static final int FIRST_ENTRIES = 8;

    /** Its place among the steps that are under way. */
    final int index;

    /** The number of the step; 0 while none is under way here. */
    private long number;

    /** The number of the step's thread, above 0, and the number of the thread's previous step; 0 for none. */
    private int lane;

    private long previous;

    /** Whether it processes prompts. */
    private boolean prompts;

    /** Its beginning as announced, and as a moment that {@link StepTimes#inOrder} returned. */
    private long announcedNs;

    private long startNs;
    private long promptsNs;
    private long decodingNs;

    private int entries;
    private long[] handles = new long[FIRST_ENTRIES];
    private boolean[] ownPrompts = new boolean[FIRST_ENTRIES];
    private long[] promptTokens = new long[FIRST_ENTRIES];
    private long[] gives = new long[FIRST_ENTRIES];

    RunningStep(int index) {
        this.index = index;
    }

    /** Begins a step, at {@code givenNs} as announced, and at {@code atNs} in the order of the events. */
    void begin(long numberOfStep, boolean withPrompts, long givenNs, long atNs, StepTimes times) {
        number = numberOfStep;
        announcedNs = givenNs;
        prompts = withPrompts;
        startNs = atNs;
        promptsNs = times.promptsNs(atNs);
        decodingNs = times.decodingNs(atNs);
        entries = 0;
        lane = 0;
        previous = 0;
    }

    /** Sets the thread of the step, and the previous step of this thread. */
    void follow(int laneOfThread, long numberOfPrevious) {
        lane = laneOfThread;
        previous = numberOfPrevious;
    }

    void end() {
        number = 0;
    }

    /** Adds a request, and returns the number of its entry. */
    int add(long handle, long tokens) {
        if (entries == handles.length) {
            handles = Arrays.copyOf(handles, 2 * entries);
            ownPrompts = Arrays.copyOf(ownPrompts, 2 * entries);
            promptTokens = Arrays.copyOf(promptTokens, 2 * entries);
            gives = Arrays.copyOf(gives, 2 * entries);
        }
        handles[entries] = handle;
        ownPrompts[entries] = tokens > 0;
        promptTokens[entries] = tokens;
        gives[entries] = BY_RULE;
        return entries++;
    }

    /** Returns the number of the entry of a request, or {@link LiveRequests#NONE}. Reads each entry. */
    int entryOf(long handle) {
        for (int entry = 0; entry < entries; entry++) {
            if (handles[entry] == handle) {
                return entry;
            }
        }
        return LiveRequests.NONE;
    }

    /** Returns the cause of a request's time within this step. */
    Cause causeOf(int entry) {
        if (ownPrompts[entry]) {
            return Cause.OWN_PROMPT;
        }
        return prompts ? Cause.DECODE_BESIDE_PROMPTS : Cause.DECODE;
    }

    /** Limits the prompt tokens of an entry to those that were left. The step still counts as processing the prompt. */
    void limitPromptTokens(int entry, long left) {
        promptTokens[entry] = Math.min(promptTokens[entry], left);
    }

    void give(int entry, long tokens) {
        gives[entry] = tokens;
    }

    long gives(int entry) {
        return gives[entry];
    }

    long number() {
        return number;
    }

    int lane() {
        return lane;
    }

    long previous() {
        return previous;
    }

    boolean hasPrompts() {
        return prompts;
    }

    long announcedNs() {
        return announcedNs;
    }

    long startNs() {
        return startNs;
    }

    long promptsNs() {
        return promptsNs;
    }

    long decodingNs() {
        return decodingNs;
    }

    int entries() {
        return entries;
    }

    long handle(int entry) {
        return handles[entry];
    }

    boolean isOwnPrompt(int entry) {
        return ownPrompts[entry];
    }

    long promptTokens(int entry) {
        return promptTokens[entry];
    }
}
