package org.brickprofiler.trace;

import java.util.Objects;

/**
 * A name of spans and instants, and the category it belongs to. Immutable.
 *
 * @param name any text
 * @param category the display name of a {@link org.brickprofiler.BrickCategory}, {@link #STEP}, {@link #LAYER},
 *     {@link #PHASE}, or another word
 */
public record SpanName(String name, String category) {

    /** The category of the spans that are steps of a run. */
    public static final String STEP = "step";

    /** The category of the spans that are layers of a forward pass. */
    public static final String LAYER = "layer";

    /** The category of the moments at which a phase of a run began. */
    public static final String PHASE = "phase";

    /** The name of the phase whose samples are not counted. */
    public static final String WARMUP = "warm-up";

    /** Rejects null. */
    public SpanName {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(category, "category");
    }
}
