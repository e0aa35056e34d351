package org.brickprofiler.trace.read;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.trace.read.TraceProfile.Range;
import org.eclipse.collections.impl.list.mutable.primitive.IntArrayList;
import org.eclipse.collections.impl.list.mutable.primitive.LongArrayList;

/**
 * Sums events by the range in which they were launched. The range is known when an event is read; whether and with
 * which time the event counts is known later. Each event takes 12 bytes. One thread.
 */
final class RangeSums {

    private final Map<String, Integer> numbers = new HashMap<>();
    private final List<String> names = new ArrayList<>();
    private final LongArrayList offsets = new LongArrayList();
    private final IntArrayList ranges = new IntArrayList();
    private final LongArrayList counts = new LongArrayList();
    private final LongArrayList sumsNs = new LongArrayList();

    /** Notes the range of an event; offsets must increase. */
    void note(long offset, String range) {
        int number = numbers.computeIfAbsent(range, added -> {
            names.add(added);
            counts.add(0);
            sumsNs.add(0);
            return names.size() - 1;
        });
        offsets.add(offset);
        ranges.add(number);
    }

    /** Counts an event if its range was noted. */
    void count(long offset, long elapsedNs) {
        int at = offsets.binarySearch(offset);
        if (at >= 0) {
            int range = ranges.get(at);
            counts.set(range, counts.get(range) + 1);
            sumsNs.set(range, sumsNs.get(range) + elapsedNs);
        }
    }

    /** Returns the ranges with launches of events that count, most time first. */
    List<Range> list() {
        List<Range> all = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            if (counts.get(i) > 0) {
                all.add(new Range(names.get(i), counts.get(i), sumsNs.get(i)));
            }
        }
        all.sort(Comparator.comparingLong(Range::elapsedNs).reversed().thenComparing(Range::name));
        return all;
    }
}
