package org.brickprofiler.trace.read;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.jspecify.annotations.Nullable;

/**
 * One rule. Immutable.
 *
 * @param target what matching kernels count as
 * @param conditions all of them must hold
 * @param line where it stands
 */
record Rule(Target target, List<Condition> conditions, int line) {

    /** Far more than a pattern needs that does not try combinations. */
    private static final int MOST_LOOKS = 2_000_000;

    /**
     * What a kernel counts as. Immutable.
     *
     * @param name display name of a known brick, or the name of a dynamic one
     * @param category its category
     * @param counts false where it counts nowhere
     */
    record Target(String name, BrickCategory category, boolean counts) {

        static final Target IGNORE = new Target("ignore", BrickCategory.OTHER, false);

        Target(String name, BrickCategory category) {
            this(name, category, true);
        }

        static Target of(BrickId brick) {
            return new Target(brick.displayName(), brick.category());
        }

        /** The known brick that a kernel is by its own name, as in traces of this library. */
        static Optional<Target> named(String name) {
            return BrickId.parse(name).map(Target::of);
        }
    }

    /**
     * What rules look at. Immutable.
     *
     * @param name the event's name
     * @param category the event's category, empty without one
     * @param args those arguments that some rule names, as text
     */
    record Key(String name, String category, Map<String, String> args) {}

    /** Says that a pattern tried too many combinations. */
    static final class TooCostly extends RuntimeException {
        private static final long serialVersionUID = 1L;

        TooCostly(String message) {
            super(message, null, false, false);
        }
    }

    /**
     * A pattern that must be found in a part of an event.
     *
     * @param field {@code name}, {@code cat}, or {@code args.} and a key
     * @param pattern the pattern
     */
    record Condition(String field, Pattern pattern) {

        static final String NAME = "name";
        static final String CATEGORY = "cat";
        static final String ARGS = "args.";

        boolean holds(Key key) {
            String text = text(key);
            return text != null && pattern.matcher(new WatchedText(text)).find();
        }

        private @Nullable String text(Key key) {
            return switch (field) {
                case NAME -> key.name();
                case CATEGORY -> key.category();
                default -> key.args().get(field.substring(ARGS.length()));
            };
        }
    }

    /**
     * Whether this rule is the one for an event.
     *
     * @throws TooCostly when a pattern takes too long, or too much of the stack
     */
    boolean matches(Key key) {
        try {
            return conditions.stream().allMatch(condition -> condition.holds(key));
        } catch (StackOverflowError tooDeep) {
            throw new TooCostly("tries too many combinations");
        }
    }

    /** A text that counts how often it is looked at, since a pattern can take time without bound. */
    private static final class WatchedText implements CharSequence {
        private final String text;
        private int looks;

        WatchedText(String text) {
            this.text = text;
        }

        @Override
        public char charAt(int index) {
            if (++looks > MOST_LOOKS) {
                throw new TooCostly("tries too many combinations");
            }
            return text.charAt(index);
        }

        @Override
        public int length() {
            return text.length();
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return text.subSequence(start, end);
        }

        @Override
        public String toString() {
            return text;
        }
    }
}
