package org.brickprofiler.trace;

import java.util.List;
import java.util.stream.IntStream;
import org.brickprofiler.io.MergeSort;
import org.brickprofiler.record.SpanCopy;
import org.brickprofiler.record.SpanKind;
import org.eclipse.collections.api.list.primitive.MutableLongList;
import org.eclipse.collections.impl.factory.primitive.LongLists;

/** The values of one counter, whichever threads set it. Immutable once made. */
final class CounterEvents implements TrackEvents {

    private final MutableLongList times = LongLists.mutable.empty();
    private final MutableLongList values = LongLists.mutable.empty();
    private final int[] order;

    CounterEvents(List<SpanCopy> copies, int key) {
        for (SpanCopy copy : copies) {
            for (int entry = 0; entry < copy.size(); entry++) {
                if (copy.kind(entry) == SpanKind.COUNTER && copy.key(entry) == key) {
                    times.add(copy.startNs(entry));
                    values.add(copy.value(entry));
                }
            }
        }
        order = IntStream.range(0, times.size()).toArray();
        MergeSort.sort(order, (a, b) -> {
            int byTime = Long.compare(times.get(a), times.get(b));
            return byTime != 0 ? byTime : Integer.compare(a, b);
        });
    }

    @Override
    public void replay(TimelineVisitor visitor) {
        for (int i : order) {
            visitor.counter(times.get(i), Double.longBitsToDouble(values.get(i)));
        }
    }

    @Override
    public long earliestNs() {
        return order.length == 0 ? Long.MAX_VALUE : times.get(order[0]);
    }
}
