package org.brickprofiler.kernel;

import java.util.ArrayList;
import java.util.List;
import org.eclipse.collections.impl.list.mutable.FastList;
import org.eclipse.collections.impl.list.mutable.primitive.IntArrayList;
import org.eclipse.collections.impl.list.mutable.primitive.LongArrayList;

/**
 * Dispatches as columns, so that one more is no object of its own. One thread at a time; adding allocates only where
 * the columns grow, by half each time, and clearing keeps their length.
 */
final class DispatchColumns {

    private final IntArrayList buffers;
    private final FastList<String> operations;
    private final IntArrayList indexes;
    private final LongArrayList startsNs;
    private final LongArrayList endsNs;

    DispatchColumns() {
        buffers = new IntArrayList();
        operations = FastList.newList();
        indexes = new IntArrayList();
        startsNs = new LongArrayList();
        endsNs = new LongArrayList();
    }

    private DispatchColumns(DispatchColumns other) {
        buffers = IntArrayList.newList(other.buffers);
        operations = FastList.newList(other.operations);
        indexes = IntArrayList.newList(other.indexes);
        startsNs = LongArrayList.newList(other.startsNs);
        endsNs = LongArrayList.newList(other.endsNs);
    }

    DispatchColumns copy() {
        return new DispatchColumns(this);
    }

    int size() {
        return buffers.size();
    }

    /** Adds a dispatch to the command buffers at an index of the list that {@link #under} will be given. */
    void add(int buffer, String operation, int index, long startNs, long endNs) {
        buffers.add(buffer);
        operations.add(operation);
        indexes.add(index);
        startsNs.add(startNs);
        endsNs.add(endNs);
    }

    void clear() {
        buffers.clear();
        operations.clear();
        indexes.clear();
        startsNs.clear();
        endsNs.clear();
    }

    /** The same command buffers, each with its dispatches in the order they were added. */
    List<CommandBufferTiming> under(List<CommandBufferTiming> withoutDispatches) {
        List<List<DispatchTiming>> dispatches = new ArrayList<>();
        withoutDispatches.forEach(buffer -> dispatches.add(new ArrayList<>()));
        for (int i = 0; i < size(); i++) {
            int buffer = buffers.get(i);
            String label = withoutDispatches.get(buffer).label();
            dispatches
                    .get(buffer)
                    .add(new DispatchTiming(
                            label, operations.get(i), indexes.get(i), startsNs.get(i), endsNs.get(i)));
        }
        List<CommandBufferTiming> complete = new ArrayList<>();
        for (int buffer = 0; buffer < withoutDispatches.size(); buffer++) {
            complete.add(withoutDispatches.get(buffer).with(dispatches.get(buffer)));
        }
        return List.copyOf(complete);
    }
}
