package org.brickprofiler.trace.read;

import java.util.Optional;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;

/**
 * What a kernel counts as. Immutable.
 *
 * @param name display name of a known brick, or the name of a dynamic one
 * @param category its category
 * @param counts false where it counts nowhere
 */
record RuleTarget(String name, BrickCategory category, boolean counts) {

    static final RuleTarget IGNORE = new RuleTarget("ignore", BrickCategory.OTHER, false);

    RuleTarget(String name, BrickCategory category) {
        this(name, category, true);
    }

    static RuleTarget of(BrickId brick) {
        return new RuleTarget(brick.displayName(), brick.category());
    }

    /** The known brick that a kernel is by its own name, as in traces of this library. */
    static Optional<RuleTarget> named(String name) {
        return BrickId.parse(name).map(RuleTarget::of);
    }
}
