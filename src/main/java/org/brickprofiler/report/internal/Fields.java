package org.brickprofiler.report.internal;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The fields of one kind of record in a profile, in the order of the file: for each field its key, its meaning, its
 * value in a record, and the way it is read. Writers, readers and tables of columns follow from this list. Immutable;
 * any thread.
 *
 * @param <T> the type of record
 */
public final class Fields<T> {

    /** A moment in UTC, to the ms. */
    public static final DateTimeFormatter MOMENT =
            new DateTimeFormatterBuilder().appendInstant(3).toFormatter(Locale.ROOT);

    /** When a field is written, and whether it is read back. */
    private enum Use {
        /** Read back. */
        STORED(""),
        /** Read back; some records lack it. */
        OPTIONAL("if known"),
        /** Read back; some older files lack it. */
        PRESENT("if known"),
        /** Read back; left out of compact text if it is 0, as a missing number reads as 0. */
        SUM("if not 0"),
        /** Follows from other fields: left out of compact text, and not read. */
        DERIVED("reports only"),
        /** Follows from other fields, and some records lack it. */
        DERIVED_IF_KNOWN("reports only"),
        /** Follows from other fields, but is read from files of older versions, which lack those. */
        OLD_FORM("reports only; read from old files"),
        /** Follows from other fields, and is written always. */
        SHOWN("ignored by readers");

        private final String written;

        Use(String written) {
            this.written = written;
        }
    }

    /**
     * A field in words.
     *
     * @param key the key of the field
     * @param meaning the meaning of the value, with its unit
     * @param written when it is written, and whether it is read back; empty if always
     * @param parts the title of the fields within it; empty if it is a value
     * @param isColumn whether the field, or the fields within it, are columns of tables
     * @param type the type of the value in TypeScript; for a record, the title of its fields
     * @param isOptional whether a report may lack it
     */
    public record Description(
            String key,
            String meaning,
            String written,
            String parts,
            boolean isColumn,
            String type,
            boolean isOptional) {}

    /**
     * Returns the value of a field: a Long, Double, Boolean, String, Map, {@link Part}, {@link Parts}, the counts of
     * buckets, or null.
     *
     * @param <T> the record
     */
    public interface Value<T> {
        /**
         * Returns the value of a record.
         *
         * @param record the record
         * @return null if it has none
         */
        @Nullable
        Object of(T record);
    }

    /** Reads the value of a field into a row. */
    interface Reading {
        void read(JsonInput input, String key, Row row, int place) throws IOException;
    }

    /** Reads a value that is an object. */
    interface ObjectReading {
        Object read(JsonInput input, String key) throws IOException;
    }

    /**
     * A column of a table that has a row for each record.
     *
     * @param key the key of its field
     * @param value the value of a record: a Long, Double, Boolean or String, or null
     * @param <T> the record
     */
    public record Column<T>(String key, Value<T> value) {}

    /** The groups of facts on the page, in their order. */
    enum FactGroup {
        KIND,
        TIMES,
        PERCENTILES,
        AMOUNTS,
        DEVICE
    }

    /**
     * A value that the page shows of one record.
     *
     * @param title the title of the value
     * @param part the key of the inner record that contains it; empty if it is a field of the record itself
     * @param key the key of its field
     * @param format the name of the script's function that formats it
     * @param per the key of the field by which it is divided; empty if it is shown as it is
     * @param when the key of a field that must be above 0 for the value to be shown; empty if it is always shown
     */
    private record Fact(
            FactGroup group, String title, String part, String key, String format, String per, String when) {

        void write(JsonGenerator json) throws IOException {
            json.writeStartObject();
            json.writeStringField("title", title);
            json.writeStringField("key", key);
            json.writeStringField("format", format);
            writeUnlessEmpty(json, "part", part);
            writeUnlessEmpty(json, "per", per);
            writeUnlessEmpty(json, "when", when);
            json.writeEndObject();
        }

        private static void writeUnlessEmpty(JsonGenerator json, String name, String text) throws IOException {
            if (!text.isEmpty()) {
                json.writeStringField(name, text);
            }
        }
    }

    /**
     * A column of whole numbers of a table in a pack of windows.
     *
     * @param name the name of the column
     * @param value the value of a row
     */
    public record PackedColumn(String name, ToLongFunction<Row> value) {}

    /**
     * A field.
     *
     * @param type the type of the value in TypeScript; for a record, the title of its fields
     * @param parts the title of the fields within it; empty if it is a value
     * @param columns the columns of the fields within it, or the field itself as a column; empty if it is for JSON
     *     alone
     */
    private record Field<T>(
            String key,
            String meaning,
            Use use,
            Value<T> value,
            @Nullable Reading reading,
            String type,
            String parts,
            List<Column<T>> columns) {

        boolean isDerived() {
            return use == Use.DERIVED || use == Use.DERIVED_IF_KNOWN || use == Use.OLD_FORM;
        }
    }

    /** A record within a record. */
    private record Part<P>(Fields<P> fields, P record) {
        void write(JsonGenerator json, boolean isCompact) throws IOException {
            fields.write(json, record, isCompact);
        }
    }

    /** Records within a record. */
    private record Parts<P>(Fields<P> fields, List<P> records) {
        void write(JsonGenerator json, boolean isCompact) throws IOException {
            json.writeStartArray();
            for (P record : records) {
                fields.write(json, record, isCompact);
            }
            json.writeEndArray();
        }
    }

    /** Makes a record from a row. */
    interface RecordReading<P> {
        P read(JsonInput input, Row row) throws IOException;
    }

    private final String title;
    private final List<Field<T>> fields;
    private final List<PackedColumn> packed;
    private final List<Fact> facts;
    private final Map<String, Integer> places = new HashMap<>();

    private Fields(String title, List<Field<T>> fields, List<PackedColumn> packed, List<Fact> facts) {
        this.title = title;
        this.fields = List.copyOf(fields);
        this.packed = List.copyOf(packed);
        this.facts = facts.stream().sorted(Comparator.comparing(Fact::group)).toList();
        for (Field<T> field : fields) {
            places.put(field.key, places.size());
        }
    }

    /** Returns how many fields there are. */
    int size() {
        return fields.size();
    }

    /** Returns the index of a field, -1 if no field has that key. */
    int place(String key) {
        return places.getOrDefault(key, -1);
    }

    /** Returns whether some records lack a field. */
    boolean isOptional(String key) {
        int place = place(key);
        return place >= 0 && fields.get(place).use == Use.OPTIONAL;
    }

    /** Returns the reading of the field at a place; null if the value is skipped. */
    @Nullable
    Reading reading(int place) {
        return fields.get(place).reading;
    }

    /**
     * Returns the name of the records.
     *
     * @return one or more words
     */
    public String title() {
        return title;
    }

    /**
     * Returns the fields in words.
     *
     * @return one for each field, in their order
     */
    public List<Description> descriptions() {
        return fields.stream()
                .map(field -> new Description(
                        field.key,
                        field.meaning,
                        field.use.written,
                        field.parts,
                        !field.columns.isEmpty(),
                        field.type,
                        field.use == Use.OPTIONAL || field.use == Use.DERIVED_IF_KNOWN))
                .toList();
    }

    /**
     * Returns the columns of a table of records: the fields and, in the place of a record within a record, its fields.
     *
     * @return the columns, without the fields that are for JSON alone
     */
    public List<Column<T>> columns() {
        return fields.stream().flatMap(field -> field.columns.stream()).toList();
    }

    /**
     * Returns the columns of whole numbers that packs of windows contain of a record.
     *
     * @return the columns, in their order in the pack
     */
    public List<PackedColumn> packed() {
        return packed;
    }

    /**
     * Writes which values the page shows of one record, and how.
     *
     * @param json the target
     * @throws IOException when writing fails
     */
    public void writeFacts(JsonGenerator json) throws IOException {
        json.writeStartArray();
        for (Fact fact : facts) {
            fact.write(json);
        }
        json.writeEndArray();
    }

    /**
     * Writes a record as an object.
     *
     * @param json the target
     * @param record the record
     * @param isCompact whether to leave out derived fields, and sums that are 0
     * @throws IOException when writing fails
     */
    public void write(JsonGenerator json, T record, boolean isCompact) throws IOException {
        json.writeStartObject();
        for (Field<T> field : fields) {
            if (isCompact && field.isDerived()) {
                continue;
            }
            Object value = field.value.of(record);
            if (value != null && !(isCompact && field.use == Use.SUM && value.equals(0L))) {
                write(json, field.key, value, isCompact);
            }
        }
        json.writeEndObject();
    }

    /**
     * Writes the keys of the fields as an array, for records that are {@linkplain #writeCells rows of a table}.
     *
     * @param json the target
     * @throws IOException when writing fails
     */
    public void writeKeys(JsonGenerator json) throws IOException {
        json.writeStartArray();
        for (Field<T> field : fields) {
            json.writeString(field.key);
        }
        json.writeEndArray();
    }

    /**
     * Writes a record as an array of its values; each value is a text, a whole number, or null if it is not known.
     *
     * @param json the target
     * @param record the record
     * @throws IOException when writing fails
     */
    public void writeCells(JsonGenerator json, T record) throws IOException {
        json.writeStartArray();
        for (Field<T> field : fields) {
            json.writePOJO(field.value.of(record));
        }
        json.writeEndArray();
    }

    private static void write(JsonGenerator json, String key, Object value, boolean isCompact) throws IOException {
        if (value instanceof Long whole) {
            json.writeNumberField(key, whole);
        } else if (value instanceof Double real) {
            JsonText.number(json, key, real);
        } else if (value instanceof Boolean flag) {
            json.writeBooleanField(key, flag);
        } else if (value instanceof Part<?> part) {
            json.writeFieldName(key);
            part.write(json, isCompact);
        } else if (value instanceof Parts<?> parts) {
            json.writeFieldName(key);
            parts.write(json, isCompact);
        } else if (value instanceof long[] counts) {
            Buckets.write(json, key, counts);
        } else if (value instanceof Map<?, ?> numbers) {
            json.writeObjectFieldStart(key);
            for (Map.Entry<?, ?> each : numbers.entrySet()) {
                json.writeNumberField(String.valueOf(each.getKey()), (Long) each.getValue());
            }
            json.writeEndObject();
        } else {
            json.writeStringField(key, (String) value);
        }
    }

    /**
     * Collects the fields of a record.
     *
     * @param <T> the record
     */
    static final class Builder<T> {
        private final String title;
        private final List<Field<T>> fields = new ArrayList<>();
        private final List<PackedColumn> packed = new ArrayList<>();
        private final List<Fact> facts = new ArrayList<>();

        Builder(String title) {
            this.title = title;
        }

        private Builder<T> add(Use use, String key, String meaning, Value<T> value, @Nullable Reading reading) {
            return add(new Field<>(key, meaning, use, value, reading, "number", "", List.of(new Column<>(key, value))));
        }

        private Builder<T> add(Field<T> field) {
            fields.add(field);
            return this;
        }

        /** Leaves the preceding field out of tables. */
        Builder<T> jsonOnly() {
            Field<T> last = fields.remove(fields.size() - 1);
            return add(new Field<>(
                    last.key, last.meaning, last.use, last.value, last.reading, last.type, last.parts, List.of()));
        }

        /** Sets the type in TypeScript of the preceding field, which is no number. */
        Builder<T> typed(String type) {
            Field<T> last = fields.remove(fields.size() - 1);
            return add(new Field<>(
                    last.key, last.meaning, last.use, last.value, last.reading, type, last.parts, last.columns));
        }

        /** Sets the type of the preceding field to one of some texts. */
        Builder<T> oneOf(Stream<String> texts) {
            return typed(texts.map(text -> '"' + text + '"').collect(Collectors.joining(" | ")));
        }

        /** Makes the preceding field, a whole number, a column of packs. */
        Builder<T> packed() {
            String key = fields.get(fields.size() - 1).key;
            return packed(key, row -> row.whole(key));
        }

        /** Adds a column to packs. */
        Builder<T> packed(String column, ToLongFunction<Row> value) {
            packed.add(new PackedColumn(column, value));
            return this;
        }

        /** Shows the preceding field on the page; a sum only if it is not 0. */
        Builder<T> fact(FactGroup group, String title, String format) {
            return factPer("", group, title, format);
        }

        /** Shows the preceding field on the page, divided by another field of the record. */
        Builder<T> factPer(String divisor, FactGroup group, String title, String format) {
            Field<T> last = fields.get(fields.size() - 1);
            facts.add(new Fact(group, title, "", last.key, format, divisor, last.use == Use.SUM ? last.key : ""));
            return this;
        }

        /** Shows the preceding field on the page if another field of the record is above 0. */
        Builder<T> factIf(String condition, FactGroup group, String title, String format) {
            facts.add(new Fact(group, title, "", fields.get(fields.size() - 1).key, format, "", condition));
            return this;
        }

        Builder<T> text(String key, String meaning, Function<T, String> value) {
            return object(key, meaning, value::apply, JsonInput::text).typed("string");
        }

        /** Adds a text that some records do not have. */
        Builder<T> optionalText(String key, String meaning, Function<T, Optional<String>> value) {
            return object(
                            Use.OPTIONAL,
                            key,
                            meaning,
                            record -> value.apply(record).orElse(null),
                            JsonInput::text)
                    .typed("string");
        }

        /** Adds a time of day in ms that some records do not have, as ISO 8601 in UTC. */
        Builder<T> optionalMoment(String key, String meaning, Function<T, Optional<Instant>> value) {
            return object(
                            Use.OPTIONAL,
                            key,
                            meaning,
                            record -> value.apply(record).map(MOMENT::format).orElse(null),
                            JsonInput::moment)
                    .typed("string");
        }

        /** Adds a value with its own reading. */
        Builder<T> object(String key, String meaning, Value<T> value, ObjectReading reading) {
            return object(Use.STORED, key, meaning, value, reading);
        }

        private Builder<T> object(Use use, String key, String meaning, Value<T> value, ObjectReading reading) {
            return add(
                    use, key, meaning, value, (input, of, row, place) -> row.objects[place] = reading.read(input, of));
        }

        Builder<T> whole(String key, String meaning, ToLongFunction<T> value) {
            return whole(Use.STORED, key, meaning, value::applyAsLong);
        }

        /** Adds a number of 0 or more. */
        Builder<T> real(String key, String meaning, ToDoubleFunction<T> value) {
            return real(Use.STORED, key, meaning, value::applyAsDouble);
        }

        private Builder<T> real(Use use, String key, String meaning, Value<T> value) {
            return add(
                    use,
                    key,
                    meaning,
                    value,
                    (input, of, row, place) -> row.reals[place] = input.real(of, Double.MAX_VALUE));
        }

        /** Adds a whole number that may be negative. */
        Builder<T> signed(String key, String meaning, ToLongFunction<T> value) {
            return add(Use.STORED, key, meaning, value::applyAsLong, from(Long.MIN_VALUE, Long.MAX_VALUE));
        }

        /** Adds a whole number that some records do not have. */
        Builder<T> optionalWhole(String key, String meaning, Function<T, OptionalLong> value) {
            return whole(Use.OPTIONAL, key, meaning, record -> of(value.apply(record)));
        }

        private static @Nullable Long of(OptionalLong number) {
            return number.isPresent() ? (Long) number.getAsLong() : null;
        }

        /** Adds a number of 0 or more that some records do not have. */
        Builder<T> optionalReal(String key, String meaning, Function<T, OptionalDouble> value) {
            return real(Use.OPTIONAL, key, meaning, record -> of(value.apply(record)));
        }

        private static @Nullable Double of(OptionalDouble number) {
            return number.isPresent() ? (Double) number.getAsDouble() : null;
        }

        /** Adds a field that is {@code true} in some records, and that others do not have. */
        Builder<T> optionalFlag(String key, String meaning, Predicate<T> value) {
            return add(
                            Use.OPTIONAL,
                            key,
                            meaning,
                            record -> value.test(record) ? Boolean.TRUE : null,
                            (input, of, row, place) -> row.wholes[place] = input.flag(of) ? 1 : 0)
                    .typed("boolean");
        }

        Builder<T> sum(String key, String meaning, ToLongFunction<T> value) {
            return whole(Use.SUM, key, meaning, value::applyAsLong);
        }

        private Builder<T> whole(Use use, String key, String meaning, Value<T> value) {
            return add(use, key, meaning, value, from(0, Long.MAX_VALUE));
        }

        private static Reading from(long smallest, long largest) {
            return (input, of, row, place) -> row.wholes[place] = input.whole(of, smallest, largest);
        }

        /** Adds a whole number from {@code smallest} to {@link Integer#MAX_VALUE}. */
        Builder<T> place(String key, String meaning, int smallest, ToLongFunction<T> value) {
            return add(Use.STORED, key, meaning, value::applyAsLong, from(smallest, Integer.MAX_VALUE));
        }

        /** Adds a whole number up to {@link Integer#MAX_VALUE} that some records do not have. */
        Builder<T> optionalPlace(String key, String meaning, Function<T, OptionalInt> value) {
            return add(Use.OPTIONAL, key, meaning, record -> of(value.apply(record)), from(0, Integer.MAX_VALUE));
        }

        private static @Nullable Long of(OptionalInt number) {
            return number.isPresent() ? (Long) (long) number.getAsInt() : null;
        }

        Builder<T> derived(String key, String meaning, ToDoubleFunction<T> value) {
            return add(Use.DERIVED, key, meaning, value::applyAsDouble, null);
        }

        Builder<T> derivedWhole(String key, String meaning, Function<T, OptionalLong> value) {
            return add(Use.DERIVED_IF_KNOWN, key, meaning, record -> of(value.apply(record)), null);
        }

        /** Adds a derived number, which is left out of records in which it is infinite or not a number. */
        Builder<T> derivedIfFinite(String key, String meaning, ToDoubleFunction<T> value) {
            return add(Use.DERIVED_IF_KNOWN, key, meaning, value::applyAsDouble, null);
        }

        Builder<T> shown(String key, String meaning, Value<T> value) {
            return add(Use.SHOWN, key, meaning, value, null);
        }

        Builder<T> oldForm(String key, String meaning, ToDoubleFunction<T> value) {
            return real(Use.OLD_FORM, key, meaning, value::applyAsDouble);
        }

        <P> Builder<T> part(String key, String meaning, Fields<P> parts, Function<T, Optional<P>> part) {
            return part(Use.OPTIONAL, key, meaning, parts, part);
        }

        /** Adds a record within each record, which older files may lack. */
        <P> Builder<T> alwaysPart(String key, String meaning, Fields<P> parts, Function<T, P> part) {
            return part(Use.PRESENT, key, meaning, parts, record -> Optional.of(part.apply(record)));
        }

        private <P> Builder<T> part(
                Use use, String key, String meaning, Fields<P> parts, Function<T, Optional<P>> part) {
            for (Fact fact : parts.facts) {
                facts.add(new Fact(fact.group, fact.title, key, fact.key, fact.format, fact.per, fact.when));
            }
            List<Column<T>> columns = parts.columns().stream()
                    .map(column -> new Column<T>(
                            column.key,
                            record -> part.apply(record).map(column.value::of).orElse(null)))
                    .toList();
            return add(new Field<>(
                    key,
                    meaning,
                    use,
                    record -> part.apply(record)
                            .map(value -> new Part<>(parts, value))
                            .orElse(null),
                    (input, of, row, place) -> {
                        Object known = row.objects[place];
                        Row within = known instanceof Row reused ? reused : new Row(parts);
                        row.objects[place] = within.read(input, of);
                    },
                    parts.title,
                    parts.title,
                    columns));
        }

        /** Adds records within a record, for JSON alone. */
        <P> Builder<T> parts(
                String key, String meaning, Fields<P> parts, Function<T, List<P>> records, RecordReading<P> reading) {
            return add(new Field<>(
                    key,
                    meaning,
                    Use.STORED,
                    record -> new Parts<>(parts, records.apply(record)),
                    (input, of, row, place) -> {
                        List<P> read = new ArrayList<>();
                        Row within = new Row(parts);
                        input.array(of, () -> read.add(reading.read(input, within.read(input, parts.title))));
                        row.objects[place] = read;
                    },
                    parts.title + "[]",
                    parts.title,
                    List.of()));
        }

        Builder<T> buckets(String key, String meaning, Function<T, long[]> counts) {
            return add(Use.STORED, key, meaning, counts::apply, (input, of, row, place) -> {
                        Object known = row.objects[place];
                        Buckets buckets = known instanceof Buckets reused ? reused : new Buckets();
                        buckets.read(input, of);
                        row.objects[place] = buckets;
                    })
                    .typed("Bucket[]")
                    .jsonOnly();
        }

        Fields<T> build() {
            return new Fields<>(title, fields, packed, facts);
        }
    }
}
