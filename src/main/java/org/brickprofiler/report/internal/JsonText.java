package org.brickprofiler.report.internal;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.PrettyPrinter;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.core.util.MinimalPrettyPrinter;
import com.fasterxml.jackson.core.util.Separators;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** JSON that is the same text on every machine and JDK. Stateless; any thread. */
public final class JsonText {

    /** The fast writer prints a double in the same way on every JDK; the JDK's own method changed in version 19. */
    private static final JsonFactory FACTORY = JsonFactory.builder()
            .enable(StreamWriteFeature.USE_FAST_DOUBLE_WRITER)
            .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
            .build();

    /**
     * The last character that is not escaped. Later ones are escaped so that an unpaired surrogate in a name survives
     * UTF-8.
     */
    private static final int LAST_BEFORE_SURROGATES = Character.MIN_SURROGATE - 1;

    private JsonText() {}

    /**
     * Returns a generator that writes the same text on every machine.
     *
     * @param out the target, as UTF-8; left open
     * @param printer the separators between values
     * @return the generator; the caller closes it
     * @throws IOException when writing fails
     */
    public static JsonGenerator generator(OutputStream out, PrettyPrinter printer) throws IOException {
        JsonGenerator json = FACTORY.createGenerator(out);
        json.setPrettyPrinter(printer);
        json.setHighestNonEscapedChar(LAST_BEFORE_SURROGATES);
        return json;
    }

    /** Writes one value. */
    public interface Value {
        /**
         * Writes the value.
         *
         * @param json the target
         * @throws IOException when writing fails
         */
        void to(JsonGenerator json) throws IOException;
    }

    /**
     * Returns the text of one value, without blanks and line breaks.
     *
     * @param value writes the value
     * @return its text
     */
    public static String of(Value value) {
        return of(value, new MinimalPrettyPrinter());
    }

    /**
     * Returns the text of one value.
     *
     * @param value writes the value
     * @param printer the separators between values
     * @return its text
     */
    public static String of(Value value, PrettyPrinter printer) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator json = generator(bytes, printer)) {
            value.to(json);
        } catch (IOException impossible) {
            throw new UncheckedIOException("memory does not fail", impossible);
        }
        return bytes.toString(UTF_8);
    }

    /**
     * Returns the text of a value of the kinds that {@link #value} writes, without blanks and line breaks.
     *
     * @param value the value
     * @return its text
     */
    public static String ofPlain(Object value) {
        return of(json -> value(json, value));
    }

    /**
     * Returns a printer that indents two blanks for each level, on every machine.
     *
     * @return a printer for one text
     */
    public static DefaultPrettyPrinter indented() {
        Separators colonThenBlank =
                Separators.createDefaultInstance().withObjectFieldValueSpacing(Separators.Spacing.AFTER);
        DefaultPrettyPrinter printer = new DefaultPrettyPrinter(colonThenBlank);
        printer.indentObjectsWith(new DefaultIndenter("  ", "\n"));
        return printer;
    }

    /**
     * Writes a number. NaN and infinities are omitted: JSON cannot represent them, and other parsers would refuse the
     * file.
     *
     * @param json the target
     * @param key the key of the number
     * @param value the number
     * @throws IOException when writing fails
     */
    public static void number(JsonGenerator json, String key, double value) throws IOException {
        if (Double.isFinite(value)) {
            json.writeNumberField(key, value);
        }
    }

    /**
     * Writes the entries of a map into the current object.
     *
     * @param json the target
     * @param values the values, as {@link #value} takes them
     * @throws IOException when writing fails
     */
    public static void fields(JsonGenerator json, Map<?, ?> values) throws IOException {
        for (Map.Entry<?, ?> entry : values.entrySet()) {
            json.writeFieldName(String.valueOf(entry.getKey()));
            value(json, entry.getValue());
        }
    }

    /**
     * Writes a value.
     *
     * @param json the target
     * @param value a map, a list, a text, a number or a truth value
     * @throws IOException when writing fails
     * @throws IllegalArgumentException when it is of another type
     */
    public static void value(JsonGenerator json, @Nullable Object value) throws IOException {
        if (value instanceof Map<?, ?> map) {
            json.writeStartObject();
            fields(json, map);
            json.writeEndObject();
        } else if (value instanceof List<?> list) {
            json.writeStartArray();
            for (Object element : list) {
                value(json, element);
            }
            json.writeEndArray();
        } else if (value instanceof String || value instanceof Number || value instanceof Boolean) {
            json.writePOJO(value);
        } else {
            throw new IllegalArgumentException("unsupported value " + value);
        }
    }
}
