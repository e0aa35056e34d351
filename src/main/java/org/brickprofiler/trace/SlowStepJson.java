package org.brickprofiler.trace;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.brickprofiler.StepInfo;
import org.brickprofiler.trace.SlowSteps.Explained;
import org.brickprofiler.trace.SlowSteps.Kind;
import org.brickprofiler.trace.SlowSteps.Part;
import org.brickprofiler.trace.SlowSteps.PhaseSteps;
import org.brickprofiler.trace.SlowSteps.Typical;
import org.brickprofiler.trace.SlowSteps.Verdict;
import org.jspecify.annotations.Nullable;

/** The JSON form of slow steps. Stateless; any thread. */
final class SlowStepJson {

    private static final int DEEPEST = 8;

    private SlowStepJson() {}

    static Map<String, Object> values(SlowSteps steps) {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("spans_kept", steps.spansKept());
        values.put("spans_left_out", steps.spansLeftOut());
        values.put("phases", steps.phases().stream().map(SlowStepJson::values).toList());
        values.put("steps", steps.slowest().stream().map(SlowStepJson::values).toList());
        return values;
    }

    private static Map<String, Object> values(PhaseSteps phase) {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("phase", phase.phase().name());
        values.put("count", phase.steps());
        values.put("kept", phase.kept());
        values.put("median_step", phase.median());
        return values;
    }

    private static Map<String, Object> values(Explained step) {
        Map<String, Object> values = new LinkedHashMap<>();
        StepInfo info = step.info();
        values.put("step", step.index());
        values.put("phase", info.phase().name());
        values.put("start_ns", step.startNs());
        values.put("duration_ns", step.durationNs());
        values.put("batch", info.batch());
        values.put("prefill_tokens", info.prefillTokens());
        values.put("kv_length", info.kvLength());
        values.put("output_tokens", info.outputTokens());
        values.put("drafted_tokens", info.draftedTokens());
        values.put("verdict", step.verdict().name());
        Typical typical = step.typical();
        values.put("typical_ns", typical.elapsedNs());
        values.put("compared", typical.compared());
        values.put("as_long", typical.asLong());
        values.put("longest_ns", typical.longestNs());
        values.put("sampled", typical.sampled());
        values.put("sampled_kv_length", typical.sampledKvLength());
        values.put("sampled_prefill_tokens", typical.sampledPrefillTokens());
        values.put("sampled_batch", typical.sampledBatch());
        values.put("unknown", step.unknown().stream().map(Kind::name).toList());
        values.put("parts", step.parts().stream().map(SlowStepJson::values).toList());
        values.put("text", step.sentence());
        return values;
    }

    private static Map<String, Object> values(Part part) {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("kind", part.kind().name());
        values.put("name", part.name());
        values.put("excess_ns", part.excessNs());
        return values;
    }

    // ---- writing: a timeline is written without a library for JSON ----

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
        } else if (value instanceof Number number) {
            json.append(number.longValue());
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

    // ---- reading ----

    static SlowSteps read(String text) {
        try (JsonParser json = new JsonFactory().createParser(text)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                throw new IllegalArgumentException("slow steps are an object, not " + json.currentToken());
            }
            Values all = new Values(object(json, 0));
            return new SlowSteps(
                    all.objects("phases").stream().map(SlowStepJson::phase).toList(),
                    all.objects("steps").stream().map(SlowStepJson::step).toList(),
                    all.number("spans_kept"),
                    all.number("spans_left_out"));
        } catch (IOException malformed) {
            throw new IllegalArgumentException("slow steps are no JSON: " + malformed.getMessage(), malformed);
        }
    }

    private static PhaseSteps phase(Values of) {
        return new PhaseSteps(
                of.constant("phase", StepInfo.Phase.class),
                of.number("count"),
                of.integer("kept"),
                of.number("median_step"));
    }

    private static Explained step(Values of) {
        Set<Kind> unknown = EnumSet.noneOf(Kind.class);
        of.list("unknown").forEach(kind -> unknown.add(constant("unknown", kind, Kind.class)));
        StepInfo info = new StepInfo(
                of.constant("phase", StepInfo.Phase.class),
                of.integer("batch"),
                of.number("prefill_tokens"),
                of.number("kv_length"),
                of.number("output_tokens"),
                of.number("drafted_tokens"));
        Typical typical = new Typical(
                of.number("typical_ns"),
                of.integer("compared"),
                of.integer("as_long"),
                of.number("longest_ns"),
                of.integer("sampled"),
                of.number("sampled_kv_length"),
                of.number("sampled_prefill_tokens"),
                of.number("sampled_batch"));
        return new Explained(
                of.number("step"),
                of.number("start_ns"),
                of.number("duration_ns"),
                info,
                of.constant("verdict", Verdict.class),
                typical,
                of.objects("parts").stream()
                        .map(part -> new Part(
                                part.constant("kind", Kind.class), part.text("name"), part.number("excess_ns")))
                        .toList(),
                unknown);
    }

    /** The values of an object by key. */
    private record Values(Map<?, ?> map) {

        long number(String key) {
            if (map.get(key) instanceof Long number) {
                return number;
            }
            throw new IllegalArgumentException(key + " of slow steps is no whole number: " + map.get(key));
        }

        int integer(String key) {
            long number = number(key);
            if (number < Integer.MIN_VALUE || number > Integer.MAX_VALUE) {
                throw new IllegalArgumentException(key + " of slow steps is out of range: " + number);
            }
            return (int) number;
        }

        String text(String key) {
            if (map.get(key) instanceof String text) {
                return text;
            }
            throw new IllegalArgumentException(key + " of slow steps is no text: " + map.get(key));
        }

        <E extends Enum<E>> E constant(String key, Class<E> type) {
            return SlowStepJson.constant(key, map.get(key), type);
        }

        List<?> list(String key) {
            if (map.get(key) instanceof List<?> list) {
                return list;
            }
            throw new IllegalArgumentException(key + " of slow steps is no list: " + map.get(key));
        }

        List<Values> objects(String key) {
            List<Values> objects = new ArrayList<>();
            for (Object each : list(key)) {
                if (!(each instanceof Map<?, ?> object)) {
                    throw new IllegalArgumentException(key + " of slow steps has " + each + ", which is no object");
                }
                objects.add(new Values(object));
            }
            return objects;
        }
    }

    private static <E extends Enum<E>> E constant(String key, @Nullable Object name, Class<E> type) {
        for (E constant : type.getEnumConstants()) {
            if (constant.name().equals(name)) {
                return constant;
            }
        }
        throw new IllegalArgumentException(key + " of slow steps is unknown: " + name);
    }

    private static Map<String, Object> object(JsonParser json, int depth) throws IOException {
        Map<String, Object> values = new LinkedHashMap<>();
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String key = json.currentName();
            json.nextToken();
            values.put(key, value(json, depth + 1));
        }
        return values;
    }

    private static Object value(JsonParser json, int depth) throws IOException {
        if (depth > DEEPEST) {
            throw new IllegalArgumentException("slow steps are nested too deep");
        }
        return switch (json.currentToken()) {
            case START_OBJECT -> object(json, depth);
            case START_ARRAY -> {
                List<Object> list = new ArrayList<>();
                while (json.nextToken() != JsonToken.END_ARRAY) {
                    list.add(value(json, depth + 1));
                }
                yield list;
            }
            case VALUE_NUMBER_INT -> json.getLongValue();
            case VALUE_STRING -> json.getText();
            default ->
                throw new IllegalArgumentException("slow steps have no value "
                        + json.currentToken().toString().toLowerCase(Locale.ROOT));
        };
    }
}
