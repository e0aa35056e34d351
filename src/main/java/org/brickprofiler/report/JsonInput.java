package org.brickprofiler.report;

import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.internal.io.PlainText;
import org.eclipse.collections.impl.map.mutable.primitive.ObjectDoubleHashMap;
import org.eclipse.collections.impl.map.mutable.primitive.ObjectLongHashMap;

/**
 * Typed values from a stream of JSON. A wrong value ends the reading, with an exception that names the value and where
 * it stands. A value of {@code null} counts as a key that is not there. Wherever a method takes a {@code what}, that
 * names the value in messages. One thread.
 */
final class JsonInput {

    private static final int LONGEST_QUOTE = 40;
    private static final Pattern VERSION = Pattern.compile("(\\d{1,9})(\\.\\d{1,9})*");

    private final JsonParser parser;

    /**
     * Input from the start of a text.
     *
     * @param parser the parser, before its first token; the caller closes it
     */
    JsonInput(JsonParser parser) {
        this.parser = parser;
    }

    /** A fault that was found here, in words for whoever has the file; the parser's own are not. */
    static final class WrongValue extends JsonParseException {
        private static final long serialVersionUID = 1L;

        private WrongValue(JsonParser parser, String message) {
            super(parser, message, parser.currentTokenLocation());
        }
    }

    /** Takes the value of a key, or {@linkplain #skip skips} it. */
    @FunctionalInterface
    interface KeyReader {
        /**
         * Takes one value.
         *
         * @param key its key
         * @throws IOException when it is wrong
         */
        void read(String key) throws IOException;
    }

    /** Takes an item of an array. */
    @FunctionalInterface
    interface ItemReader {
        /**
         * Takes one item.
         *
         * @throws IOException when it is wrong
         */
        void read() throws IOException;
    }

    /** Reads a text that is one object. */
    void document(KeyReader keys) throws IOException {
        if (parser.nextToken() == null) {
            throw error("there is no text");
        }
        object("the report", keys);
        if (parser.nextToken() != null) {
            throw error("there is more text after the end of the report");
        }
    }

    /**
     * Reads the next of several objects that follow each other.
     *
     * @return false at the end of the text
     */
    boolean next(String what, KeyReader keys) throws IOException {
        if (parser.nextToken() == null) {
            return false;
        }
        object(what, keys);
        return true;
    }

    /** Reads an object. */
    void object(String what, KeyReader keys) throws IOException {
        if (!parser.isExpectedStartObjectToken()) {
            throw wrong(what, "is not an object");
        }
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = parser.currentName();
            if (parser.nextToken() != JsonToken.VALUE_NULL) {
                keys.read(key);
            }
        }
    }

    /** Reads an array. */
    void array(String what, ItemReader items) throws IOException {
        if (!parser.isExpectedStartArrayToken()) {
            throw wrong(what, "is not an array");
        }
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            items.read();
        }
    }

    /** Passes over a value and everything in it. */
    void skip() throws IOException {
        parser.skipChildren();
    }

    /** Reads a string. */
    String text(String what) throws IOException {
        if (parser.currentToken() != JsonToken.VALUE_STRING) {
            throw wrong(what, "is not a string");
        }
        return parser.getText();
    }

    /** Reads a string or a number as it is written. */
    String scalar(String what) throws IOException {
        return isNumber() ? parser.getText() : text(what);
    }

    /**
     * Reads one of several strings.
     *
     * @param constants what the strings stand for
     * @param name the string of each
     * @param <T> what the strings stand for
     * @return the constant whose string it is, in upper or lower case
     * @throws IOException when there is none
     */
    <T> T oneOf(String what, T[] constants, Function<T, String> name) throws IOException {
        String read = text(what);
        for (T constant : constants) {
            if (name.apply(constant).equalsIgnoreCase(read)) {
                return constant;
            }
        }
        throw wrong(
                what,
                "is none of "
                        + String.join(
                                ", ", List.of(constants).stream().map(name).toList()));
    }

    /**
     * Reads a whole number. One with an exponent or a point is accepted if its value is whole: other programs write
     * large numbers so.
     *
     * @param smallest the smallest number that is right
     * @param largest the largest one
     */
    long whole(String what, long smallest, long largest) throws IOException {
        if (!isNumber()) {
            throw wrong(what, "is not a number");
        }
        BigDecimal number = parser.getDecimalValue();
        if (number.signum() < 0 && smallest == 0) {
            throw wrong(what, "is negative");
        }
        long value;
        try {
            value = number.longValueExact();
        } catch (ArithmeticException fractionOrTooLarge) {
            throw wrong(what, "is not a whole number of at most " + largest);
        }
        if (value < smallest || value > largest) {
            throw wrong(what, "is not within " + smallest + " to " + largest);
        }
        return value;
    }

    /**
     * Reads a number.
     *
     * @param largest the largest number that is right
     * @return the number, 0 or more
     */
    double real(String what, double largest) throws IOException {
        if (!isNumber()) {
            throw wrong(what, "is not a number");
        }
        double value = parser.getDoubleValue();
        if (value < 0) {
            throw wrong(what, "is negative");
        }
        if (!(value <= largest)) {
            throw wrong(what, "is above " + largest);
        }
        return value;
    }

    /**
     * Reads a float. What JSON has no numbers for is a string: {@code "NaN"}, {@code "Infinity"}, {@code "-Infinity"}.
     */
    float float32(String what) throws IOException {
        if (isNumber()) {
            float value = parser.getFloatValue();
            if (Float.isInfinite(value)) {
                throw wrong(what, "is too large for a float");
            }
            return value;
        }
        return switch (text(what)) {
            case "NaN" -> Float.NaN;
            case "Infinity" -> Float.POSITIVE_INFINITY;
            case "-Infinity" -> Float.NEGATIVE_INFINITY;
            default -> throw wrong(what, "is neither a number nor NaN, Infinity or -Infinity");
        };
    }

    /**
     * Reads the version of a format, which must not have a higher major number than this reader knows.
     *
     * @param highestMajor the highest major number that can be read
     * @throws IOException when it is higher, or no version
     */
    void version(String what, int highestMajor) throws IOException {
        Matcher version = VERSION.matcher(scalar(what));
        if (!version.matches()) {
            throw wrong(what, "is not a version such as " + highestMajor + ".0");
        }
        if (Integer.parseInt(version.group(1)) > highestMajor) {
            throw wrong(
                    what,
                    "is too new: this version of Brick Profiler reads reports up to " + highestMajor
                            + ".x; read it with a newer one");
        }
    }

    /** Reads true or false. */
    boolean flag(String what) throws IOException {
        if (!parser.currentToken().isBoolean()) {
            throw wrong(what, "is neither true nor false");
        }
        return parser.getBooleanValue();
    }

    /** Reads a moment, as ISO 8601 in UTC. */
    Instant moment(String what) throws IOException {
        try {
            return Instant.parse(text(what));
        } catch (DateTimeException malformed) {
            throw wrong(what, "is not a time such as 2026-01-31T23:59:59.999Z");
        }
    }

    private boolean isNumber() {
        return parser.currentToken().isNumeric();
    }

    /**
     * The exception for a value that is wrong; throw it.
     *
     * @param what what the value is
     * @param why what is wrong with it
     * @return the exception, with the value and its place
     * @throws IOException when the value is malformed too
     */
    IOException wrong(String what, String why) throws IOException {
        String value = PlainText.shortened(PlainText.ascii(parser.getText()), LONGEST_QUOTE);
        boolean quoted = parser.currentToken() == JsonToken.VALUE_STRING;
        return error(what + " " + (quoted ? '"' + value + '"' : value) + " " + why);
    }

    /**
     * The exception for a fault at this place; throw it.
     *
     * @param message what is wrong
     * @return the exception, with the place
     */
    IOException error(String message) {
        return new WrongValue(parser, message);
    }

    /** No numbers yet, for an object that is about to be read. */
    Numbers numbers() {
        return new Numbers();
    }

    /** The numbers of one JSON object, all 0 or more, with what to take for those that it lacks. One thread. */
    final class Numbers {

        private static final double NS_PER_US = 1e3;

        private final ObjectLongHashMap<String> wholes = new ObjectLongHashMap<>();
        private final ObjectDoubleHashMap<String> reals = new ObjectDoubleHashMap<>();

        private Numbers() {}

        void readWhole(String key) throws IOException {
            wholes.put(key, JsonInput.this.whole(key, 0, Long.MAX_VALUE));
        }

        void readReal(String key) throws IOException {
            reals.put(key, JsonInput.this.real(key, Double.MAX_VALUE));
        }

        /** Whether a whole number was read: without it, it follows from others. */
        boolean has(String key) {
            return wholes.containsKey(key);
        }

        /** A whole number, 0 where it was not read. */
        long whole(String key) {
            return wholes.get(key);
        }

        double real(String key, double missing) {
            return reals.getIfAbsent(key, missing);
        }

        /** A duration in ns, which older files have in microseconds only; 0 where neither was read. */
        long durationNs(String nsKey, String usKey) {
            return has(nsKey) ? whole(nsKey) : Math.round(real(usKey, 0.0) * NS_PER_US);
        }
    }
}
