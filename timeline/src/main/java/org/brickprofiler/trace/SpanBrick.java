package org.brickprofiler.trace;

import java.util.Objects;
import org.brickprofiler.BrickCategory;

/**
 * The brick as which a profile counts the time of spans of another program. Kernels of one name may count as several
 * bricks. Immutable.
 *
 * @param name the name of the brick
 * @param category its category
 * @param evidence how the brick is known
 */
public record SpanBrick(String name, BrickCategory category, Evidence evidence) {

    /** How the brick of a span is known. */
    public enum Evidence {
        /** A rule, the span's own name, its range or the module that launched it names the brick. */
        NAMED("named"),
        /** The place of the span among the spans beside it suggests the brick. */
        PLACE("place"),
        /** Nothing names the brick: the span counts under its own name, or as a matrix product of any kind. */
        NONE("none");

        private final String word;

        Evidence(String word) {
            this.word = word;
        }

        /** Returns the word that stands for this evidence in the data of a page. */
        String word() {
            return word;
        }
    }

    /** Rejects null. */
    public SpanBrick {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(category, "category");
        Objects.requireNonNull(evidence, "evidence");
    }
}
