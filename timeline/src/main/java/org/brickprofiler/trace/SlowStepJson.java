package org.brickprofiler.trace;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.brickprofiler.StepInfo;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.report.internal.Fields;
import org.brickprofiler.trace.SlowSteps.Explained;
import org.brickprofiler.trace.SlowSteps.Kind;
import org.brickprofiler.trace.SlowSteps.Part;
import org.brickprofiler.trace.SlowSteps.PhaseSteps;
import org.brickprofiler.trace.SlowSteps.Typical;
import org.brickprofiler.trace.SlowSteps.Verdict;
import org.jspecify.annotations.Nullable;

/**
 * The JSON form of slow steps. The writer, the types of the page's data and {@code docs/format.md} are derived from its
 * tables of fields. Stateless; any thread.
 */
final class SlowStepJson {

    private static final int DEEPEST = 8;

    private SlowStepJson() {}

    // ---- the fields ----

    /**
     * A field of a record.
     *
     * @param key its key
     * @param meaning its meaning, with its unit
     * @param type its type in TypeScript; for records the title of their table, and {@code []}
     * @param written when it is written, or that readers ignore it, since it follows from other fields; empty if always
     * @param value its value in a record: a number, a text, or a list of texts or objects
     * @param <T> the record
     */
    record Field<T>(String key, String meaning, String type, String written, Function<T, @Nullable Object> value) {

        private static <T> Field<T> number(String key, String meaning, ToLongFunction<T> value) {
            return new Field<>(key, meaning, "number", "", value::applyAsLong);
        }

        private static <T> Field<T> constant(String key, String meaning, Function<T, Enum<?>> value) {
            return new Field<>(
                    key, meaning, "string", "", record -> value.apply(record).name());
        }
    }

    /**
     * The fields of a record, in the order of writing.
     *
     * @param title the name of the records
     * @param fields the fields
     * @param <T> the record
     */
    record Table<T>(String title, List<Field<T>> fields) {

        private Map<String, Object> values(T record) {
            Map<String, Object> values = new LinkedHashMap<>();
            for (Field<T> field : fields) {
                Object value = field.value().apply(record);
                if (value != null) {
                    values.put(field.key(), value);
                }
            }
            return values;
        }

        private <P> Field<P> in(String key, String meaning, Function<P, List<T>> records) {
            return new Field<>(key, meaning, title + "[]", "", of -> records.apply(of).stream()
                    .map(this::values)
                    .toList());
        }
    }

    static final Table<PhaseSteps> PHASE = new Table<>(
            "phase of slow steps",
            List.of(
                    Field.constant("phase", "phase of the steps: PREFILL, DECODE or MIXED", PhaseSteps::phase),
                    Field.number("count", "steps that ended", PhaseSteps::steps),
                    Field.number("kept", "steps whose spans the timeline has", PhaseSteps::kept),
                    Field.number(
                            "median_step",
                            "number of a kept step whose duration is close to the median; -1 without one",
                            PhaseSteps::median)));

    static final Table<Part> PART = new Table<>(
            "part of a slow step",
            List.of(
                    Field.constant("kind", "kind of the part, such as BRICK or GARBAGE_COLLECTION", Part::kind),
                    new Field<>("name", "the brick, or the kind in words", "string", "", Part::name),
                    Field.number(
                            "excess_ns",
                            "time beyond that of the typical step, ns; negative if the step took less there",
                            Part::excessNs)));

    static final Table<Explained> STEP = new Table<>(
            "slow step",
            List.of(
                    Field.number("step", "number of the step", Explained::index),
                    Field.constant(
                            "phase", "phase of the step", step -> step.info().phase()),
                    Field.number("start_ns", "beginning on the clock of the timeline, ns", Explained::startNs),
                    new Field<>(
                            "started_at",
                            "beginning by the system's clock, UTC, to within 2 ms",
                            "string",
                            "if known",
                            step -> step.startedAt().map(Fields.MOMENT::format).orElse(null)),
                    Field.number("duration_ns", "duration, ns", Explained::durationNs),
                    Field.number("batch", "sequences of the batch", step -> step.info()
                            .batch()),
                    Field.number("prefill_tokens", "tokens of prompts", step -> step.info()
                            .prefillTokens()),
                    Field.number(
                            "kv_length",
                            "positions in the key-value cache, summed over the sequences",
                            step -> step.info().kvLength()),
                    Field.number("output_tokens", "output tokens", step -> step.info()
                            .outputTokens()),
                    Field.number("drafted_tokens", "drafted tokens", step -> step.info()
                            .draftedTokens()),
                    Field.constant(
                            "verdict",
                            "EXPLAINED or BESIDE_OTHER_STEPS if the parts explain the step; else the reason why not",
                            Explained::verdict),
                    Field.number(
                            "typical_ns",
                            "duration of the typical step of its size, ns; 0 without a verdict",
                            step -> step.typical().elapsedNs()),
                    Field.number("compared", "steps that make the typical one", step -> step.typical()
                            .compared()),
                    Field.number(
                            "as_long", "those of them that took as long as the step, or longer", step -> step.typical()
                                    .asLong()),
                    Field.number("longest_ns", "duration of the longest of them, ns", step -> step.typical()
                            .longestNs()),
                    Field.number("sampled", "steps of the phase to choose from", step -> step.typical()
                            .sampled()),
                    Field.number("sampled_kv_length", "median of the KV length of those", step -> step.typical()
                            .sampledKvLength()),
                    Field.number(
                            "sampled_prefill_tokens", "median of the prompt tokens of those", step -> step.typical()
                                    .sampledPrefillTokens()),
                    Field.number("sampled_batch", "median of the batch of those", step -> step.typical()
                            .sampledBatch()),
                    new Field<>(
                            "unknown",
                            "kinds that are unknown for this step or known for fewer than 5 of the compared ones: their"
                                    + " time is in the other parts",
                            "string[]",
                            "",
                            step -> step.unknown().stream().map(Kind::name).toList()),
                    PART.in(
                            "parts",
                            "parts of the excess over the typical step, largest first; empty without a verdict",
                            Explained::parts),
                    new Field<>(
                            "text", "the step as a sentence", "string", "ignored by readers", Explained::sentence)));

    static final Table<SlowSteps> ALL = new Table<>(
            "slow steps",
            List.of(
                    Field.number("spans_kept", "events of the kept steps in the timeline", SlowSteps::spansKept),
                    Field.number(
                            "spans_left_out",
                            "events of other steps, and between steps, that were recorded and dropped",
                            SlowSteps::spansLeftOut),
                    PHASE.in("phases", "steps of each phase", SlowSteps::phases),
                    STEP.in("steps", "slowest steps of each phase, slowest first", SlowSteps::slowest)));

    /** All tables, the outermost first. */
    static final List<Table<?>> TABLES = List.of(ALL, PHASE, STEP, PART);

    static Map<String, Object> values(SlowSteps steps) {
        return ALL.values(steps);
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

    static Optional<SlowSteps> ofReport(InputStream text) throws IOException {
        try (JsonParser json = new JsonFactory().createParser(text)) {
            json.nextToken();
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String key = json.currentName();
                JsonToken value = json.nextToken();
                if (key.equals(JsonReport.SLOWEST_STEPS)) {
                    return Optional.of(steps(json, value));
                }
                json.skipChildren();
            }
            return Optional.empty();
        }
    }

    static SlowSteps read(String text) {
        try (JsonParser json = new JsonFactory().createParser(text)) {
            return steps(json, json.nextToken());
        } catch (IOException malformed) {
            throw new IllegalArgumentException("slow steps are not JSON: " + malformed.getMessage(), malformed);
        }
    }

    private static SlowSteps steps(JsonParser json, @Nullable JsonToken first) throws IOException {
        if (first != JsonToken.START_OBJECT) {
            throw new IllegalArgumentException("slow steps are an object, not " + first);
        }
        Values all = new Values(object(json, 0));
        return new SlowSteps(
                all.objects("phases").stream().map(SlowStepJson::phase).toList(),
                all.objects("steps").stream().map(SlowStepJson::step).toList(),
                all.number("spans_kept"),
                all.number("spans_left_out"));
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
                of.moment("started_at"),
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
            throw new IllegalArgumentException(key + " of slow steps is not a whole number: " + map.get(key));
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

        Optional<Instant> moment(String key) {
            if (!map.containsKey(key)) {
                return Optional.empty(); // It is not known, or an older version wrote the file.
            }
            try {
                return Optional.of(Instant.parse(text(key)));
            } catch (DateTimeParseException malformed) {
                throw new IllegalArgumentException(key + " of slow steps is no time of day: " + text(key), malformed);
            }
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
