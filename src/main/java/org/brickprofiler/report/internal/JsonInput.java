package org.brickprofiler.report.internal;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.io.JsonEOFException;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.internal.io.JsonFault;
import org.jspecify.annotations.Nullable;

/**
 * Reads typed values from a stream of JSON. A wrong value ends the reading, with an exception that names the value and
 * its place. A value of {@code null} counts as an absent key. The parameter {@code what} names the value in messages.
 * One thread.
 */
public final class JsonInput {

    private static final int LONGEST_QUOTE = 40;
    private static final Pattern VERSION = Pattern.compile("(\\d{1,9})(\\.\\d{1,9})*");

    /** A key that occurs twice in an object is a fault: the value would depend on the parser. */
    private static final JsonFactory STRICT = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();

    private final JsonParser parser;

    /**
     * Creates input that begins at the start of a text.
     *
     * @param parser the parser, before its first token; the caller closes it
     */
    public JsonInput(JsonParser parser) {
        this.parser = parser;
    }

    /**
     * Returns a parser that refuses a key that occurs twice in an object.
     *
     * @param json the text, as UTF-8, UTF-16 or UTF-32
     * @return the parser, before its first token; the caller closes it, and the text with it
     * @throws IOException when the text cannot be read
     */
    public static JsonParser parser(InputStream json) throws IOException {
        return STRICT.createParser(json);
    }

    /**
     * Returns the fault of a text with its place.
     *
     * @param malformed the exception that reading the text threw
     * @return line, column and reason
     */
    public static String describe(JsonProcessingException malformed) {
        JsonLocation at = malformed.getLocation();
        String where = at == null ? "" : "line " + at.getLineNr() + ", column " + at.getColumnNr() + ": ";
        if (malformed instanceof WrongValue) {
            return where + malformed.getOriginalMessage();
        }
        boolean isCut = malformed instanceof JsonEOFException;
        return where + (isCut ? JsonFault.EARLY_END : JsonFault.words(malformed.getOriginalMessage()));
    }

    /**
     * A wrong value, with a message for the owner of the file. The messages of the parser's own exceptions are for
     * programmers.
     */
    public static class WrongValue extends JsonParseException {
        private static final long serialVersionUID = 1L;

        WrongValue(JsonParser parser, String message) {
            super(parser, message, parser.currentTokenLocation());
        }
    }

    /** The version of a format that is higher than this reader knows. */
    public static final class NewerVersion extends WrongValue {
        private static final long serialVersionUID = 1L;

        private NewerVersion(JsonParser parser, String message) {
            super(parser, message);
        }
    }

    /** Reads the value of a key, or {@linkplain #skip skips} it. */
    @FunctionalInterface
    public interface KeyReader {
        /**
         * Reads one value.
         *
         * @param key its key
         * @throws IOException when it is wrong
         */
        void read(String key) throws IOException;
    }

    /** Reads an item of an array. */
    @FunctionalInterface
    public interface ItemReader {
        /**
         * Reads one item.
         *
         * @throws IOException when it is wrong
         */
        void read() throws IOException;
    }

    /**
     * Reads a text that is one object.
     *
     * @param keys reads its values
     * @throws IOException when the text is not one object, or a value is wrong
     */
    public void document(KeyReader keys) throws IOException {
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
     * @param what names it in messages
     * @param keys reads its values
     * @return false at the end of the text
     * @throws IOException when it is not an object, or a value is wrong
     */
    public boolean next(String what, KeyReader keys) throws IOException {
        if (parser.nextToken() == null) {
            return false;
        }
        object(what, keys);
        return true;
    }

    /**
     * Reads an object.
     *
     * @param what names it in messages
     * @param keys reads its values
     * @throws IOException when it is not an object, or a value is wrong
     */
    public void object(String what, KeyReader keys) throws IOException {
        objectUntil(what, null, keys);
    }

    /**
     * Reads an object up to one of its keys.
     *
     * @param what names it in messages
     * @param last the key before which reading ends; null to read all
     * @param keys reads the values before it
     * @throws IOException when it is not an object, or a value is wrong
     */
    public void objectUntil(String what, @Nullable String last, KeyReader keys) throws IOException {
        if (!parser.isExpectedStartObjectToken()) {
            throw wrong(what, "is not an object");
        }
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = parser.currentName();
            if (key.equals(last)) {
                return;
            }
            if (parser.nextToken() != JsonToken.VALUE_NULL) {
                keys.read(key);
            }
        }
    }

    /**
     * Reads an array.
     *
     * @param what names it in messages
     * @param items reads each item
     * @throws IOException when it is not an array, or an item is wrong
     */
    public void array(String what, ItemReader items) throws IOException {
        if (!parser.isExpectedStartArrayToken()) {
            throw wrong(what, "is not an array");
        }
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            items.read();
        }
    }

    /**
     * Skips a value and everything in it.
     *
     * @throws IOException when it is malformed
     */
    public void skip() throws IOException {
        parser.skipChildren();
    }

    /** Returns whether the value is null. */
    boolean isNull() {
        return parser.currentToken() == JsonToken.VALUE_NULL;
    }

    /**
     * Reads a string.
     *
     * @param what names it in messages
     * @return the string
     * @throws IOException when the value is wrong
     */
    public String text(String what) throws IOException {
        if (parser.currentToken() != JsonToken.VALUE_STRING) {
            throw wrong(what, "is not a string");
        }
        return parser.getText();
    }

    /**
     * Reads a string or a number as it is written.
     *
     * @param what names it in messages
     * @return its characters
     * @throws IOException when the value is wrong
     */
    public String scalar(String what) throws IOException {
        return isNumber() ? parser.getText() : text(what);
    }

    /**
     * Reads a string that stands for one of several constants.
     *
     * @param what its name in messages
     * @param constants the constants
     * @param name the string of each constant
     * @param <T> the type of the constants
     * @return the constant with that string, regardless of upper and lower case
     * @throws IOException when no constant has that string
     */
    public <T> T oneOf(String what, T[] constants, Function<T, String> name) throws IOException {
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
     * Reads a whole number. A number with an exponent or a point is accepted if its value is whole, because other
     * programs write large numbers in this form.
     *
     * @param what names it in messages
     * @param smallest the smallest number that is accepted
     * @param largest the largest one
     * @return the number
     * @throws IOException when it is no such number
     */
    public long whole(String what, long smallest, long largest) throws IOException {
        if (!isNumber()) {
            throw wrong(what, "is not a number");
        }
        if (parser.currentToken() == JsonToken.VALUE_NUMBER_INT
                && parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
            long value = parser.getLongValue();
            if (value >= smallest && value <= largest) {
                return value;
            }
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
     * @param what names it in messages
     * @param largest the largest number that is accepted
     * @return the number, 0 or more
     * @throws IOException when it is no such number
     */
    public double real(String what, double largest) throws IOException {
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
     * Reads a float. Values without a JSON number are strings: {@code "NaN"}, {@code "Infinity"}, {@code "-Infinity"}.
     *
     * @param what its name in messages
     * @return the float
     * @throws IOException when the value is no float
     */
    public float float32(String what) throws IOException {
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
     * @param what names it in messages
     * @param highestMajor the highest major number that can be read
     * @throws IOException when it is higher, or no version
     */
    public void version(String what, int highestMajor) throws IOException {
        Matcher version = VERSION.matcher(scalar(what));
        if (!version.matches()) {
            throw wrong(what, "is not a version such as " + highestMajor + ".0");
        }
        if (Integer.parseInt(version.group(1)) > highestMajor) {
            throw newer(
                    what,
                    "is too new: this version of Brick Profiler reads reports up to " + highestMajor
                            + ".x; read it with a newer one");
        }
    }

    /**
     * Reads true or false.
     *
     * @param what names it in messages
     * @return the truth value
     * @throws IOException when the value is wrong
     */
    public boolean flag(String what) throws IOException {
        if (!parser.currentToken().isBoolean()) {
            throw wrong(what, "is neither true nor false");
        }
        return parser.getBooleanValue();
    }

    /**
     * Reads a moment, as ISO 8601 in UTC.
     *
     * @param what names it in messages
     * @return the moment
     * @throws IOException when the value is wrong
     */
    public Instant moment(String what) throws IOException {
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
     * Returns the exception for a value that is wrong; the caller throws it.
     *
     * @param what the name of the value
     * @param why the fault
     * @return the exception, with the value and its place
     * @throws IOException when the value is malformed too
     */
    public IOException wrong(String what, String why) throws IOException {
        return error(quoted(what, why));
    }

    private NewerVersion newer(String what, String why) throws IOException {
        return new NewerVersion(parser, quoted(what, why));
    }

    private String quoted(String what, String why) throws IOException {
        String value = PlainText.shortened(PlainText.ascii(parser.getText()), LONGEST_QUOTE);
        boolean quoted = parser.currentToken() == JsonToken.VALUE_STRING;
        return what + " " + (quoted ? '"' + value + '"' : value) + " " + why;
    }

    /**
     * Returns the exception for a fault at this place; the caller throws it.
     *
     * @param message the fault
     * @return the exception, with the place
     */
    public IOException error(String message) {
        return new WrongValue(parser, message);
    }
}
