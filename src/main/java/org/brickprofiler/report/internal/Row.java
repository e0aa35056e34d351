package org.brickprofiler.report.internal;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** The values of one record as they were read. One thread; reused for record after record. */
public final class Row {

    private static final double NS_PER_US = 1e3;

    /** Whole numbers by the index of their field. Those that were not read are left over from an earlier record. */
    final long[] wholes;

    final double[] reals;
    final @Nullable Object[] objects;

    private final Fields<?> fields;
    private final boolean[] known;

    /**
     * Creates a row without values.
     *
     * @param fields the fields of the record
     */
    public Row(Fields<?> fields) {
        this.fields = fields;
        wholes = new long[fields.size()];
        reals = new double[fields.size()];
        objects = new @Nullable Object[fields.size()];
        known = new boolean[fields.size()];
    }

    /**
     * Reads a record, which replaces the previous one.
     *
     * @param input the text, at the record
     * @param what names the record in messages
     * @return this
     * @throws IOException when a value is wrong
     */
    public Row read(JsonInput input, String what) throws IOException {
        Arrays.fill(known, false);
        input.object(what, key -> value(input, key));
        return this;
    }

    /**
     * Reads a record that is an array of values, in which null stands for a value that is not known. It replaces the
     * previous record.
     *
     * @param input the text, at the record
     * @param what names the record in messages
     * @param keys the fields of the values, in their order
     * @return this
     * @throws IOException when a value is wrong, or there is not one for each key
     */
    public Row readCells(JsonInput input, String what, List<String> keys) throws IOException {
        Arrays.fill(known, false);
        int[] length = {0};
        input.array(what, () -> {
            int i = length[0]++;
            String key = i < keys.size() ? keys.get(i) : "";
            if (!(input.isNull() && fields.isOptional(key))) {
                value(input, key);
            }
        });
        if (length[0] != keys.size()) {
            throw input.error("a " + what + " has " + length[0] + " values, but there are " + keys.size() + " columns");
        }
        return this;
    }

    private void value(JsonInput input, String key) throws IOException {
        int place = fields.place(key);
        Fields.@Nullable Reading reading = place < 0 ? null : fields.reading(place);
        if (reading == null) {
            input.skip();
        } else {
            reading.read(input, key, this, place);
            known[place] = true;
        }
    }

    private int place(String key) {
        int place = fields.place(key);
        if (place < 0) {
            throw new IllegalArgumentException("no field " + key);
        }
        return place;
    }

    /**
     * Returns whether a value was read.
     *
     * @param key its field
     * @return whether it was read
     */
    public boolean has(String key) {
        return known[place(key)];
    }

    /**
     * Returns a whole number.
     *
     * @param key its field
     * @return the number, 0 if it was not read
     */
    public long whole(String key) {
        int place = place(key);
        return known[place] ? wholes[place] : 0;
    }

    /**
     * Returns a whole number that some records do not have.
     *
     * @param key its field
     * @return the number, empty if it was not read
     */
    public OptionalLong optionalWhole(String key) {
        return has(key) ? OptionalLong.of(whole(key)) : OptionalLong.empty();
    }

    /**
     * Returns a number.
     *
     * @param key its field
     * @param missing the number to return if it was not read
     * @return the number
     */
    public double real(String key, double missing) {
        int place = place(key);
        return known[place] ? reals[place] : missing;
    }

    /**
     * Returns a duration, which older files contain in microseconds only.
     *
     * @param nsKey the field in ns
     * @param usKey the field in microseconds
     * @return ns, 0 if neither was read
     */
    public long durationNs(String nsKey, String usKey) {
        return has(nsKey) ? whole(nsKey) : Math.round(real(usKey, 0.0) * NS_PER_US);
    }

    /**
     * Returns a value that is no number.
     *
     * @param type the type of the value
     * @param key its field
     * @param <V> the type of the value
     * @return the value, null if it was not read. A {@code Row} and {@link Buckets} are overwritten by the next record
     */
    public <V> @Nullable V get(Class<V> type, String key) {
        int place = place(key);
        return known[place] ? type.cast(Objects.requireNonNull(objects[place])) : null;
    }

    /**
     * Returns a value that is no number.
     *
     * @param key its field
     * @param missing the value to return if it was not read
     * @param <V> the type of the value
     * @return the value
     */
    @SuppressWarnings("unchecked")
    public <V> V get(String key, V missing) {
        V value = (V) get(missing.getClass(), key);
        return value == null ? missing : value;
    }

    /** Passes a text to a consumer if the text was read. */
    void ifText(String key, Consumer<String> take) {
        String text = get(String.class, key);
        if (text != null) {
            take.accept(text);
        }
    }

    /** Passes a whole number to a consumer if the number was read. */
    void ifWhole(String key, LongConsumer take) {
        if (has(key)) {
            take.accept(whole(key));
        }
    }
}
