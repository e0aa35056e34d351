package org.brickprofiler.trace.read;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.jspecify.annotations.Nullable;

/**
 * One rule. Immutable.
 *
 * @param target the brick that matching kernels count as
 * @param conditions the conditions on the event itself, which must all hold
 * @param around the conditions on the names around its launch, which must all hold, too
 * @param line its line
 */
record TraceRule(Target target, List<Condition> conditions, List<Condition> around, int line) {

    /** The most characters that one match may read; far more than a pattern without excessive backtracking needs. */
    private static final int MOST_LOOKS = 2_000_000;

    /**
     * The brick that a kernel counts as. Immutable.
     *
     * @param name display name of a known brick, or the name of a dynamic one
     * @param category its category
     * @param counts false if the kernel is ignored
     * @param elements the argument that contains its elements, empty without one
     */
    record Target(String name, BrickCategory category, boolean counts, String elements) {

        static final Target IGNORE = new Target("ignore", BrickCategory.OTHER, false, "");

        Target(String name, BrickCategory category) {
            this(name, category, true, "");
        }

        Target withElements(String argument) {
            return new Target(name, category, counts, argument);
        }

        static Target of(BrickId brick) {
            return new Target(brick.displayName(), brick.category());
        }

        /** Returns a hash of the name alone, which the name keeps: each event asks for the sum of its brick. */
        @Override
        public int hashCode() {
            return name.hashCode();
        }

        /** Returns the known brick that a kernel is named after, as in traces of this library. */
        static Optional<Target> named(String name) {
            return BrickId.parse(name).map(Target::of);
        }
    }

    /**
     * The parts of an event that rules test. Immutable.
     *
     * @param name the event's name
     * @param category the event's category, empty without one
     * @param args the arguments that some rule names, as text
     * @param launch the conditions that a name around its launch meets, as {@link TraceRules#launchesNamed} packs them
     */
    record Key(String name, String category, Map<String, String> args, long launch) {}

    /** Thrown if a pattern backtracked too much. */
    static final class TooCostly extends RuntimeException {
        private static final long serialVersionUID = 1L;

        TooCostly(String message) {
            super(message, null, false, false);
        }
    }

    /**
     * A pattern that must be found in a part of an event.
     *
     * @param field {@code name}, {@code cat}, {@code launch}, or {@code args.} and a key
     * @param pattern the pattern
     * @param required the substrings that a name must contain for the pattern to match
     */
    record Condition(String field, Pattern pattern, RequiredText required) {

        static final String NAME = "name";
        static final String CATEGORY = "cat";
        static final String LAUNCH = "launch";
        static final String ARGS = "args.";

        /** The fields that are no arguments. */
        static final Set<String> OTHERS = Set.of(NAME, CATEGORY, LAUNCH);

        Condition(String field, Pattern pattern) {
            this(field, pattern, isOfName(field) ? RequiredText.of(pattern) : RequiredText.NOTHING);
        }

        private static boolean isOfName(String field) {
            return field.equals(NAME) || field.equals(LAUNCH);
        }

        /** Returns whether two conditions require the same of the same field. */
        boolean isLike(Condition other) {
            return field.equals(other.field)
                    && pattern.pattern().equals(other.pattern.pattern())
                    && pattern.flags() == other.pattern.flags();
        }

        boolean holds(Key key, RequiredText.Grams name) {
            String text = required.mayBeIn(name) ? text(key) : null;
            return text != null && isFoundIn(text);
        }

        /** Returns whether a name that contains some three-character substrings matches. */
        boolean holds(String text, RequiredText.Grams grams) {
            return required.mayBeIn(grams) && isFoundIn(text);
        }

        /**
         * Returns whether the pattern is found in a text.
         *
         * @throws TooCostly when that takes too long, or uses too much of the stack
         */
        private boolean isFoundIn(String text) {
            try {
                return pattern.matcher(new WatchedText(text)).find();
            } catch (StackOverflowError tooDeep) {
                throw new TooCostly("backtracks too much");
            }
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
     * Returns whether an event meets the conditions on itself.
     *
     * @param key the event
     * @param name the three-character substrings of its name
     * @throws TooCostly when a pattern takes too long, or uses too much of the stack
     */
    boolean matches(Key key, RequiredText.Grams name) {
        for (int i = 0; i < conditions.size(); i++) {
            if (!conditions.get(i).holds(key, name)) {
                return false;
            }
        }
        return true;
    }

    /** A text that counts the characters read, because nothing else bounds the backtracking of a pattern. */
    private static final class WatchedText implements CharSequence {
        private final String text;
        private int looks;

        WatchedText(String text) {
            this.text = text;
        }

        @Override
        public char charAt(int index) {
            if (++looks > MOST_LOOKS) {
                throw new TooCostly("backtracks too much");
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

    /** Parses the rules of a text, line by line. One thread. */
    static final class Parser {

        private static final String ARROW = "<-";
        private static final String IGNORE = "ignore";
        private static final String ELEMENTS = "elements=args.";
        private static final char COMMENT = '#';
        private static final char QUOTE = '"';
        private static final char SLASH = '/';

        private final String source;
        private final List<TraceRule> rules = new ArrayList<>();

        private String line = "";
        private int lineNumber;
        private int at;

        private Parser(String source) {
            this.source = source;
        }

        /**
         * Reads rules.
         *
         * @param source the name of the text in messages
         * @param text the rules
         * @return the rules, in order
         * @throws IllegalArgumentException when one is malformed; the message names line and column
         */
        static List<TraceRule> parse(String source, String text) {
            Parser parser = new Parser(source);
            text.lines().forEach(parser::line);
            return List.copyOf(parser.rules);
        }

        private void line(String next) {
            line = next;
            lineNumber++;
            at = 0;
            skipBlanks();
            if (atEnd()) {
                return;
            }
            Target target = target();
            if (!line.startsWith(ARROW, at)) {
                throw error("there is no " + ARROW + " after the brick");
            }
            at += ARROW.length();
            List<Condition> conditions = new ArrayList<>();
            List<Condition> around = new ArrayList<>();
            skipBlanks();
            while (!atEnd()) {
                if (line.startsWith(ELEMENTS, at)) {
                    target = target.withElements(elements());
                } else {
                    Condition condition = condition();
                    (condition.field().equals(Condition.LAUNCH) ? around : conditions).add(condition);
                }
                skipBlanks();
            }
            if (conditions.isEmpty() && around.isEmpty()) {
                throw error("there is no condition such as name=/regex/");
            }
            rules.add(new TraceRule(target, List.copyOf(conditions), List.copyOf(around), lineNumber));
        }

        private Target target() {
            int begin = at;
            boolean quoted = line.charAt(at) == QUOTE;
            String name = quoted ? delimited(QUOTE) : word();
            if (name.isEmpty() || (name.startsWith(ARROW) && !quoted)) {
                throw errorAt(begin, "the brick has no name");
            }
            skipBlanks();
            Optional<BrickCategory> category = category();
            if (name.equals(IGNORE) && !quoted && category.isEmpty()) {
                return Target.IGNORE;
            }
            Optional<BrickId> known = BrickId.parse(name);
            if (known.isPresent()
                    && category.isPresent()
                    && category.get() != known.get().category()) {
                throw errorAt(
                        begin,
                        name + " is a known brick of category "
                                + known.get().category().displayName() + ", not "
                                + category.get().displayName());
            }
            return known.map(Target::of).orElseGet(() -> new Target(name, category.orElse(BrickCategory.OTHER)));
        }

        private Optional<BrickCategory> category() {
            if (atEnd() || line.charAt(at) != '(') {
                return Optional.empty();
            }
            int begin = at + 1;
            int end = line.indexOf(')', begin);
            if (end < 0) {
                throw error("the category has no )");
            }
            String name = line.substring(begin, end).strip();
            at = end + 1;
            skipBlanks();
            for (BrickCategory category : BrickCategory.values()) {
                if (category.displayName().equalsIgnoreCase(name)) {
                    return Optional.of(category);
                }
            }
            throw errorAt(begin, "there is no category \"" + name + "\"");
        }

        private String elements() {
            at += ELEMENTS.length();
            int begin = at;
            String argument = !atEnd() && line.charAt(at) == QUOTE ? delimited(QUOTE) : word();
            if (argument.isEmpty()) {
                throw errorAt(begin, "there is no argument after " + ELEMENTS);
            }
            return argument;
        }

        private Condition condition() {
            int begin = at;
            String field = field();
            if (atEnd() || line.charAt(at) != '=') {
                throw error("there is no = after " + field);
            }
            at++;
            if (atEnd() || line.charAt(at) != SLASH) {
                throw error("there is no /regex/ after " + field + "=");
            }
            boolean isArg = field.startsWith(Condition.ARGS) && field.length() > Condition.ARGS.length();
            if (!isArg && !Condition.OTHERS.contains(field)) {
                throw errorAt(
                        begin, "\"" + field + "\" is none of name, cat, launch, args.KEY, args.\"KEY WITH BLANKS\"");
            }
            return new Condition(field, pattern());
        }

        private String field() {
            if (line.startsWith(Condition.ARGS + QUOTE, at)) {
                at += Condition.ARGS.length();
                return Condition.ARGS + delimited(QUOTE);
            }
            int begin = at;
            while (!atEnd() && line.charAt(at) != '=' && !Character.isWhitespace(line.charAt(at))) {
                at++;
            }
            return line.substring(begin, at);
        }

        private Pattern pattern() {
            int begin = at + 1;
            String regex = delimited(SLASH);
            int flags = 0;
            if (!atEnd() && line.charAt(at) == 'i') {
                flags = Pattern.CASE_INSENSITIVE;
                at++;
            }
            if (at < line.length() && !Character.isWhitespace(line.charAt(at))) {
                throw error("\"" + line.charAt(at) + "\" follows the regex");
            }
            try {
                return Pattern.compile(regex, flags);
            } catch (PatternSyntaxException malformed) {
                int within = Math.max(0, Math.min(regex.length(), malformed.getIndex()));
                throw errorAt(begin + within, malformed.getDescription().toLowerCase(Locale.ROOT));
            }
        }

        /** Returns the text up to the next delimiter without a backslash before it; other backslashes stay. */
        private String delimited(char delimiter) {
            int begin = at;
            StringBuilder text = new StringBuilder();
            at++;
            while (at < line.length() && line.charAt(at) != delimiter) {
                if (line.charAt(at) == '\\' && at + 1 < line.length()) {
                    if (line.charAt(at + 1) != delimiter) {
                        text.append('\\');
                    }
                    at++;
                }
                text.append(line.charAt(at));
                at++;
            }
            if (at >= line.length()) {
                throw errorAt(begin, "there is no second " + delimiter);
            }
            at++;
            return text.toString();
        }

        private String word() {
            int begin = at;
            while (!atEnd() && !Character.isWhitespace(line.charAt(at)) && line.charAt(at) != '(') {
                at++;
            }
            return line.substring(begin, at);
        }

        private void skipBlanks() {
            while (at < line.length() && Character.isWhitespace(line.charAt(at))) {
                at++;
            }
        }

        private boolean atEnd() {
            return at >= line.length() || line.charAt(at) == COMMENT;
        }

        private IllegalArgumentException error(String fault) {
            return errorAt(at, fault);
        }

        private IllegalArgumentException errorAt(int index, String fault) {
            return new IllegalArgumentException(
                    source + ", line " + lineNumber + ", column " + (index + 1) + ": " + fault);
        }
    }
}
