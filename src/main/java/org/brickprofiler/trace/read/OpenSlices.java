package org.brickprofiler.trace.read;

import java.util.ArrayList;
import java.util.List;
import org.eclipse.collections.impl.map.mutable.primitive.IntObjectHashMap;
import org.jspecify.annotations.Nullable;

/** Begun slices that wait for their end, row by row, in the order of the file. One thread. */
final class OpenSlices {

    private static final int ROWS_AT_THEIR_LIMIT = 64;

    private final int mostOfARow;
    private final int most;
    private final Tally tally;
    private final IntObjectHashMap<List<Open>> rows = new IntObjectHashMap<>();
    private int open;

    /**
     * A slice that began. Immutable.
     *
     * @param kind what it is
     * @param name hash of its name
     * @param kernel number of its kernel, if it may count; of a timeline, that of the event
     * @param startNs when it began
     * @param amount bytes that it moved, or its elements
     * @param offset where its begin stands
     */
    record Open(SliceKind kind, long name, int kernel, long startNs, long amount, long offset) {}

    OpenSlices(int mostOfARow, Tally tally) {
        this.mostOfARow = mostOfARow;
        this.most = (int) Math.min(Integer.MAX_VALUE, (long) mostOfARow * ROWS_AT_THEIR_LIMIT);
        this.tally = tally;
    }

    /**
     * A slice begins.
     *
     * @param row its row
     * @param slice what begins
     * @param deep whether a row may have as many as all rows together: measurements that end together nest so
     * @return false where there are too many
     */
    boolean begin(int row, Open slice, boolean deep) {
        List<Open> stack = rows.getIfAbsentPut(row, ArrayList::new);
        if ((stack.size() >= mostOfARow && !deep) || open == most) {
            return false;
        }
        stack.add(slice);
        open++;
        return true;
    }

    /** The slice of a row that began last, or null where none is open. */
    @Nullable Open innermost(int row) {
        List<Open> stack = rows.get(row);
        return stack == null || stack.isEmpty() ? null : stack.get(stack.size() - 1);
    }

    /**
     * A slice ends: the last one that began on the row, or the last one with the same name, if the end has a name.
     *
     * @return its begin, or null where there is none
     */
    @Nullable Open end(int row, String name) {
        List<Open> stack = rows.get(row);
        int at = stack == null ? -1 : stack.size() - 1;
        if (stack != null && !name.isEmpty()) {
            long hash = Names.hash(name);
            while (at >= 0 && stack.get(at).name() != hash) {
                at--;
            }
        }
        if (stack == null || at < 0) {
            return null;
        }
        while (stack.size() > at + 1) {
            withoutEnd(stack.remove(stack.size() - 1));
        }
        open--;
        return stack.remove(at);
    }

    private void withoutEnd(Open slice) {
        open--;
        if (slice.kind() != SliceKind.DROPPED) {
            tally.repair(Repair.Kind.BEGIN_WITHOUT_END, slice.offset());
        }
    }

    /** The trace is over. */
    void close() {
        rows.forEachValue(stack -> stack.forEach(this::withoutEnd));
        rows.clear();
    }
}
