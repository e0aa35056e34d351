package org.brickprofiler.trace.jfr.internal;

import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import org.brickprofiler.StepInfo;

/**
 * The tag of a span of async-profiler that is a brick: {@code brick:decode:RmsNorm}, or {@code brick::RmsNorm} outside
 * of steps. Immutable; any thread.
 *
 * @param brick the name of the brick
 * @param phase the phase of its step; empty outside of steps
 */
public record SpanTag(String brick, Optional<StepInfo.Phase> phase) {

    /** The event of a span. */
    public static final String EVENT = "profiler.Span";

    private static final String START = "brick:";

    /** Rejects null. */
    public SpanTag {
        Objects.requireNonNull(brick, "brick");
        Objects.requireNonNull(phase, "phase");
    }

    /**
     * Reads a tag.
     *
     * @param text a tag
     * @return the brick; empty if the span is none, as those of an application
     */
    public static Optional<SpanTag> parse(String text) {
        int end = Objects.requireNonNull(text, "text").indexOf(':', START.length());
        if (!text.startsWith(START) || end < 0) {
            return Optional.empty();
        }
        String phase = text.substring(START.length(), end);
        String brick = text.substring(end + 1);
        if (phase.isEmpty()) {
            return Optional.of(new SpanTag(brick, Optional.empty()));
        }
        for (StepInfo.Phase each : StepInfo.Phase.values()) {
            if (word(each).equals(phase)) {
                return Optional.of(new SpanTag(brick, Optional.of(each)));
            }
        }
        return Optional.empty();
    }

    /**
     * Returns the tag as text.
     *
     * @return what {@link #parse} reads
     */
    public String text() {
        return START + phase.map(SpanTag::word).orElse("") + ":" + brick;
    }

    private static String word(StepInfo.Phase phase) {
        return phase.name().toLowerCase(Locale.ROOT);
    }
}
