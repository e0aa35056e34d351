package org.brickprofiler.report;

import java.io.IOException;
import org.eclipse.collections.impl.map.mutable.primitive.ObjectDoubleHashMap;
import org.eclipse.collections.impl.map.mutable.primitive.ObjectLongHashMap;

/** The numbers of one JSON object, with what to take for those that it lacks. One thread. */
final class NumberFields {

    private static final double NS_PER_US = 1e3;

    private final JsonInput input;
    private final ObjectLongHashMap<String> wholes = new ObjectLongHashMap<>();
    private final ObjectDoubleHashMap<String> reals = new ObjectDoubleHashMap<>();

    /**
     * No numbers yet.
     *
     * @param input where they will be read
     */
    NumberFields(JsonInput input) {
        this.input = input;
    }

    /**
     * Reads a whole number, 0 or more.
     *
     * @param key its key
     * @throws IOException when the value is something else
     */
    void readWhole(String key) throws IOException {
        wholes.put(key, input.whole(key, 0, Long.MAX_VALUE));
    }

    /**
     * Reads a number, 0 or more.
     *
     * @param key its key
     * @throws IOException when the value is something else
     */
    void readReal(String key) throws IOException {
        reals.put(key, input.real(key, Double.MAX_VALUE));
    }

    /**
     * Whether a whole number was there.
     *
     * @param key its key
     * @return false where it must be worked out from others
     */
    boolean has(String key) {
        return wholes.containsKey(key);
    }

    /**
     * A whole number.
     *
     * @param key its key
     * @return the number, 0 where it was not there
     */
    long whole(String key) {
        return wholes.get(key);
    }

    /**
     * A number.
     *
     * @param key its key
     * @param missing what to take where it was not there
     * @return the number
     */
    double real(String key, double missing) {
        return reals.getIfAbsent(key, missing);
    }

    /**
     * A duration that older files have in microseconds only.
     *
     * @param nsKey its key in ns
     * @param usKey its key in µs
     * @return ns, 0 where neither was there
     */
    long durationNs(String nsKey, String usKey) {
        return has(nsKey) ? whole(nsKey) : Math.round(real(usKey, 0.0) * NS_PER_US);
    }
}
