package org.brickprofiler.trace;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The values of a JSON object by key. Each method refuses a missing value, and one of another type, with an
 * {@link IllegalArgumentException} that names the key and the value. Immutable; any thread.
 *
 * @param of the subject of the object in messages, such as {@code "slow steps"}
 * @param map the values
 */
record JsonValues(String of, Map<?, ?> map) {

    private static final int DEEPEST = 8;

    /**
     * Reads one entry of a report.
     *
     * @param text the report
     * @param entry the key of the entry
     * @param of its subject in messages
     * @return the values of the entry; empty if the report has none
     * @throws IOException when the text is no JSON
     */
    static Optional<JsonValues> ofReport(InputStream text, String entry, String of) throws IOException {
        try (JsonParser json = new JsonFactory().createParser(text)) {
            json.nextToken();
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String key = json.currentName();
                JsonToken value = json.nextToken();
                if (key.equals(entry)) {
                    return Optional.of(object(json, value, of));
                }
                json.skipChildren();
            }
            return Optional.empty();
        }
    }

    /**
     * Reads an object.
     *
     * @param text the object alone
     * @param of its subject in messages
     */
    static JsonValues read(String text, String of) {
        try (JsonParser json = new JsonFactory().createParser(text)) {
            return object(json, json.nextToken(), of);
        } catch (IOException malformed) {
            throw new IllegalArgumentException(of + " are not JSON: " + malformed.getMessage(), malformed);
        }
    }

    private static JsonValues object(JsonParser json, @Nullable JsonToken first, String of) throws IOException {
        if (first != JsonToken.START_OBJECT) {
            throw new IllegalArgumentException(of + " are an object, not " + first);
        }
        return new JsonValues(of, entries(json, of, 0));
    }

    private static Map<String, Object> entries(JsonParser json, String of, int depth) throws IOException {
        Map<String, Object> values = new LinkedHashMap<>();
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String key = json.currentName();
            json.nextToken();
            values.put(key, value(json, of, depth + 1));
        }
        return values;
    }

    private static Object value(JsonParser json, String of, int depth) throws IOException {
        if (depth > DEEPEST) {
            throw new IllegalArgumentException(of + " are nested too deep");
        }
        return switch (json.currentToken()) {
            case START_OBJECT -> entries(json, of, depth);
            case START_ARRAY -> {
                List<Object> list = new ArrayList<>();
                while (json.nextToken() != JsonToken.END_ARRAY) {
                    list.add(value(json, of, depth + 1));
                }
                yield list;
            }
            case VALUE_NUMBER_INT -> json.getLongValue();
            case VALUE_NUMBER_FLOAT -> json.getDoubleValue();
            case VALUE_STRING -> json.getText();
            case VALUE_TRUE, VALUE_FALSE -> json.getBooleanValue();
            default ->
                throw new IllegalArgumentException(
                        of + " have no value " + json.currentToken().toString().toLowerCase(Locale.ROOT));
        };
    }

    boolean has(String key) {
        return map.containsKey(key);
    }

    long number(String key) {
        return number(key, map.get(key));
    }

    private long number(String key, @Nullable Object value) {
        if (value instanceof Long number) {
            return number;
        }
        throw new IllegalArgumentException(key + " of " + of + " is not a whole number: " + value);
    }

    int integer(String key) {
        return integer(key, map.get(key));
    }

    private int integer(String key, @Nullable Object value) {
        long number = number(key, value);
        if (number < Integer.MIN_VALUE || number > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(key + " of " + of + " is out of range: " + number);
        }
        return (int) number;
    }

    double real(String key) {
        if (map.get(key) instanceof Number number) {
            return number.doubleValue();
        }
        throw new IllegalArgumentException(key + " of " + of + " is no number: " + map.get(key));
    }

    String text(String key) {
        return text(key, map.get(key));
    }

    private String text(String key, @Nullable Object value) {
        if (value instanceof String text) {
            return text;
        }
        throw new IllegalArgumentException(key + " of " + of + " is no text: " + value);
    }

    /** Returns a time of day; empty if there is none. */
    Optional<Instant> moment(String key) {
        if (!has(key)) {
            return Optional.empty();
        }
        try {
            return Optional.of(Instant.parse(text(key)));
        } catch (DateTimeParseException malformed) {
            throw new IllegalArgumentException(key + " of " + of + " is no time of day: " + text(key), malformed);
        }
    }

    <E extends Enum<E>> E constant(String key, Class<E> type) {
        return constant(key, map.get(key), type);
    }

    <E extends Enum<E>> List<E> constants(String key, Class<E> type) {
        return list(key).stream().map(name -> constant(key, name, type)).toList();
    }

    private <E extends Enum<E>> E constant(String key, @Nullable Object name, Class<E> type) {
        for (E constant : type.getEnumConstants()) {
            if (JsonTable.constant(constant).equals(name) || constant.name().equals(name)) {
                return constant;
            }
        }
        throw new IllegalArgumentException(key + " of " + of + " is unknown: " + name);
    }

    private List<?> list(String key) {
        return list(key, map.get(key));
    }

    private List<?> list(String key, @Nullable Object value) {
        if (value instanceof List<?> list) {
            return list;
        }
        throw new IllegalArgumentException(key + " of " + of + " is no list: " + value);
    }

    List<String> texts(String key) {
        return list(key).stream().map(text -> text(key, text)).toList();
    }

    List<Long> numbers(String key) {
        return list(key).stream().map(number -> number(key, number)).toList();
    }

    List<Integer> integers(String key) {
        return list(key).stream().map(number -> integer(key, number)).toList();
    }

    List<List<Integer>> listsOfIntegers(String key) {
        return list(key).stream()
                .map(row -> list(key, row).stream()
                        .map(number -> integer(key, number))
                        .toList())
                .toList();
    }

    /** Returns an object; empty if there is none. */
    Optional<JsonValues> object(String key) {
        return has(key) ? Optional.of(object(key, map.get(key))) : Optional.empty();
    }

    List<JsonValues> objects(String key) {
        return list(key).stream().map(each -> object(key, each)).toList();
    }

    private JsonValues object(String key, @Nullable Object value) {
        if (value instanceof Map<?, ?> object) {
            return new JsonValues(of, object);
        }
        throw new IllegalArgumentException(key + " of " + of + " has " + value + ", which is no object");
    }
}
