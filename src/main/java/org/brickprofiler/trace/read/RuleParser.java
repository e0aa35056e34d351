package org.brickprofiler.trace.read;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;

/** Reads the rules of one text, a line at a time. One thread. */
final class RuleParser {

    private static final String ARROW = "<-";
    private static final String IGNORE = "ignore";
    private static final char COMMENT = '#';
    private static final char QUOTE = '"';
    private static final char SLASH = '/';

    private final String source;
    private final List<Rule> rules = new ArrayList<>();

    private String line = "";
    private int lineNumber;
    private int at;

    private RuleParser(String source) {
        this.source = source;
    }

    /**
     * Reads rules.
     *
     * @param source what to call the text in messages
     * @param text the rules
     * @return the rules, in order
     * @throws IllegalArgumentException when one is malformed; the message names line and column
     */
    static List<Rule> parse(String source, String text) {
        RuleParser parser = new RuleParser(source);
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
        Rule.Target target = target();
        if (!line.startsWith(ARROW, at)) {
            throw error("there is no " + ARROW + " after the brick");
        }
        at += ARROW.length();
        List<Rule.Condition> conditions = new ArrayList<>();
        skipBlanks();
        while (!atEnd()) {
            conditions.add(condition());
            skipBlanks();
        }
        if (conditions.isEmpty()) {
            throw error("there is no condition such as name=/regex/");
        }
        rules.add(new Rule(target, List.copyOf(conditions), lineNumber));
    }

    private Rule.Target target() {
        int begin = at;
        boolean quoted = line.charAt(at) == QUOTE;
        String name = quoted ? delimited(QUOTE) : word();
        if (name.isEmpty() || (name.startsWith(ARROW) && !quoted)) {
            throw errorAt(begin, "the brick has no name");
        }
        skipBlanks();
        Optional<BrickCategory> category = category();
        if (name.equals(IGNORE) && !quoted && category.isEmpty()) {
            return Rule.Target.IGNORE;
        }
        Optional<BrickId> known = BrickId.parse(name);
        if (known.isPresent() && category.isPresent() && category.get() != known.get().category()) {
            throw errorAt(
                    begin,
                    name + " is a known brick of category " + known.get().category().displayName() + ", not "
                            + category.get().displayName());
        }
        return known.map(Rule.Target::of)
                .orElseGet(() -> new Rule.Target(name, category.orElse(BrickCategory.OTHER)));
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

    private Rule.Condition condition() {
        int begin = at;
        String field = field();
        if (atEnd() || line.charAt(at) != '=') {
            throw error("there is no = after " + field);
        }
        at++;
        if (atEnd() || line.charAt(at) != SLASH) {
            throw error("there is no /regex/ after " + field + "=");
        }
        boolean isArg = field.startsWith(Rule.Condition.ARGS) && field.length() > Rule.Condition.ARGS.length();
        if (!isArg && !field.equals(Rule.Condition.NAME) && !field.equals(Rule.Condition.CATEGORY)) {
            throw errorAt(begin, "\"" + field + "\" is none of name, cat, args.KEY, args.\"KEY WITH BLANKS\"");
        }
        return new Rule.Condition(field, pattern());
    }

    private String field() {
        if (line.startsWith(Rule.Condition.ARGS + QUOTE, at)) {
            at += Rule.Condition.ARGS.length();
            return Rule.Condition.ARGS + delimited(QUOTE);
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

    /** What stands up to the next delimiter without a backslash before it; other backslashes stay. */
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
