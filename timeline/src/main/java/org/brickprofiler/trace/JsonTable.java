package org.brickprofiler.trace;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a record in JSON, in the order of writing. The writer, the types of the page's data and
 * {@code docs/format.md} are derived from tables. Immutable; any thread.
 *
 * @param title the name of the records
 * @param fields the fields
 * @param <T> the record
 */
record JsonTable<T>(String title, List<Field<T>> fields) {

    /** The remark on a field that follows from other fields. */
    static final String IGNORED = "ignored by readers";

    /**
     * A field of a record.
     *
     * @param key its key
     * @param meaning its meaning, with its unit
     * @param type its type in TypeScript; for records the title of their table, and {@code []} if there are several
     * @param written when it is written, or {@link #IGNORED}; empty if always
     * @param value its value in a record: a number, a text, a truth value, a map, or a list of these; null if it is not
     *     written
     * @param <T> the record
     */
    record Field<T>(String key, String meaning, String type, String written, Function<T, @Nullable Object> value) {

        static <T> Field<T> number(String key, String meaning, ToLongFunction<T> value) {
            return new Field<>(key, meaning, "number", "", value::applyAsLong);
        }

        static <T> Field<T> constant(String key, String meaning, Function<T, Enum<?>> value) {
            return new Field<>(key, meaning, "string", "", record -> JsonTable.constant(value.apply(record)));
        }
    }

    /** Returns a constant as it is written. */
    static String constant(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    /** Returns the values of a record by key. */
    Map<String, Object> values(T record) {
        Map<String, Object> values = new LinkedHashMap<>();
        for (Field<T> field : fields) {
            Object value = field.value().apply(record);
            if (value != null) {
                values.put(field.key(), value);
            }
        }
        return values;
    }

    /** Returns a field of another record that is a list of these records. */
    <P> Field<P> in(String key, String meaning, Function<P, List<T>> records) {
        return new Field<>(key, meaning, title + "[]", "", of -> records.apply(of).stream()
                .map(this::values)
                .toList());
    }

    /** Returns a field of another record that is one of these records, or absent. */
    <P> Field<P> in(String key, String meaning, String written, Function<P, Optional<T>> record) {
        return new Field<>(key, meaning, title, written, of -> record.apply(of)
                .map(this::values)
                .orElse(null));
    }

    /**
     * Returns values as JSON on one line, in ASCII. It needs no library: a timeline is written without one.
     *
     * @param values maps, lists, texts, whole and finite numbers, and truth values
     */
    static String write(Map<String, Object> values) {
        StringBuilder json = new StringBuilder();
        write(values, json);
        return json.toString();
    }

    private static void write(Object value, StringBuilder json) {
        if (value instanceof Map<?, ?> map) {
            String separator = "{";
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                json.append(separator);
                writeText(entry.getKey().toString(), json);
                json.append(':');
                write(entry.getValue(), json);
                separator = ",";
            }
            json.append(map.isEmpty() ? "{}" : "}");
        } else if (value instanceof List<?> list) {
            json.append('[');
            String separator = "";
            for (Object each : list) {
                json.append(separator);
                write(each, json);
                separator = ",";
            }
            json.append(']');
        } else if (value instanceof Number || value instanceof Boolean) {
            json.append(value);
        } else {
            writeText(value.toString(), json);
        }
    }

    private static void writeText(String text, StringBuilder json) {
        json.append('"');
        for (int i = 0; i < text.length(); i++) {
            char each = text.charAt(i);
            if (each == '"' || each == '\\') {
                json.append('\\').append(each);
            } else if (each < ' ' || each > '~') {
                json.append(String.format(Locale.ROOT, "\\u%04x", (int) each));
            } else {
                json.append(each);
            }
        }
        json.append('"');
    }
}
