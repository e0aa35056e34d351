package org.brickprofiler.internal.io;

import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.internal.base.PlainText;

/**
 * Describes a fault of a JSON text to the owner of the file. The parser's own messages are for programmers: they name
 * its settings and classes. Stateless; any thread.
 */
public final class JsonFault {

    /** The words for a text that is cut off; the parser has several messages for it. */
    public static final String EARLY_END = "the text ends too early";

    private static final String OTHERWISE = "the text is not JSON here";
    private static final int LONGEST_QUOTE = 40;

    /** The beginnings of the parser's messages, each with its meaning. */
    private static final List<Meaning> MEANINGS = List.of(
            new Meaning("Unexpected end-of-input", found -> EARLY_END),
            new Meaning("Unexpected character \\('.*?' \\(code (\\d+).*", JsonFault::notExpected),
            new Meaning("Illegal character \\(+CTRL-CHAR, code (\\d+).*", JsonFault::notExpected),
            new Meaning("Unexpected close marker '(.)'.*", found -> "'" + found.group(1) + "' is unmatched"),
            new Meaning("Unrecognized token '(.*?)'.*", found -> "'" + quote(found) + "' is not a value"),
            new Meaning("Non-standard token '(.*?)'.*", found -> "'" + quote(found) + "' is not a value"),
            new Meaning(
                    "Unrecognized character escape .*\\(code (\\d+).*",
                    found -> "no escape in a string ends in " + character(found)),
            new Meaning("Invalid numeric value.*", found -> "a number is malformed"),
            new Meaning("Duplicate field '(.*)'.*", found -> "duplicate key '" + quote(found) + "'"),
            new Meaning("Invalid UTF-8.*", found -> "the text is not UTF-8 here"),
            limit("Document nesting depth", "arrays and objects nest deeper than %s"),
            limit("String value length", "a string has more than %s characters"),
            limit("Name length", "a key has more than %s characters"),
            limit("Number value length", "a number has more than %s digits"));

    private JsonFault() {}

    /** The meaning of messages of one form. */
    private static final class Meaning {
        private final Pattern form;
        private final Function<MatchResult, String> words;

        Meaning(String form, Function<MatchResult, String> words) {
            this.form = Pattern.compile(form, Pattern.DOTALL);
            this.words = words;
        }
    }

    private static Meaning limit(String form, String words) {
        return new Meaning(
                form + ".*?exceeds the maximum allowed \\((\\d+).*", found -> words.formatted(found.group(1)));
    }

    /**
     * Returns a readable text for a message of the parser.
     *
     * @param message the message, without the line and column
     * @return the fault, for example {@code "the text ends too early"}; printable ASCII
     */
    public static String words(String message) {
        for (Meaning meaning : MEANINGS) {
            Matcher found = meaning.form.matcher(message);
            if (found.lookingAt()) {
                return PlainText.ascii(meaning.words.apply(found));
            }
        }
        return OTHERWISE;
    }

    private static String notExpected(MatchResult found) {
        return character(found) + " is not expected here";
    }

    private static String character(MatchResult found) {
        int code = Integer.parseInt(found.group(1));
        boolean isPrintable = code > ' ' && code <= '~';
        return isPrintable ? "'" + (char) code + "'" : String.format(Locale.ROOT, "the character U+%04X", code);
    }

    private static String quote(MatchResult found) {
        return PlainText.shortened(PlainText.ascii(found.group(1)), LONGEST_QUOTE);
    }
}
