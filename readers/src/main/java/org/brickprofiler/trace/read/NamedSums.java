package org.brickprofiler.trace.read;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.collections.impl.list.mutable.primitive.IntArrayList;
import org.eclipse.collections.impl.list.mutable.primitive.LongArrayList;

/**
 * Sums events by a name that an event has beside its own, such as the range in which it was launched. The name is known
 * when an event is read; whether and with which time the event counts is known later. Each event takes 12 bytes. One
 * thread.
 */
final class NamedSums {

    private final Map<String, Integer> numbers = new HashMap<>();
    private final List<String> names = new ArrayList<>();
    private final LongArrayList offsets = new LongArrayList();
    private final IntArrayList numbersOfEvents = new IntArrayList();
    private final LongArrayList counts = new LongArrayList();
    private final LongArrayList sumsNs = new LongArrayList();

    /**
     * The events of one name that count.
     *
     * @param elapsedNs the sum of their times
     */
    record Sum(String name, long events, long elapsedNs) {}

    /** Records the name of an event; offsets must increase. */
    void note(long offset, String name) {
        int number = numbers.computeIfAbsent(name, added -> {
            names.add(added);
            counts.add(0);
            sumsNs.add(0);
            return names.size() - 1;
        });
        offsets.add(offset);
        numbersOfEvents.add(number);
    }

    /** Counts an event if its name was recorded. */
    void count(long offset, long elapsedNs) {
        int at = offsets.binarySearch(offset);
        if (at >= 0) {
            int number = numbersOfEvents.get(at);
            counts.set(number, counts.get(number) + 1);
            sumsNs.set(number, sumsNs.get(number) + elapsedNs);
        }
    }

    /** Returns the sums of the names with events that count, most time first. */
    List<Sum> list() {
        List<Sum> all = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            if (counts.get(i) > 0) {
                all.add(new Sum(names.get(i), counts.get(i), sumsNs.get(i)));
            }
        }
        all.sort(Comparator.comparingLong(Sum::elapsedNs).reversed().thenComparing(Sum::name));
        return all;
    }
}
