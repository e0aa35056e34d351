package org.brickprofiler.trace.read;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.eclipse.collections.impl.map.mutable.primitive.IntLongHashMap;

/**
 * The events of a timeline that is read, by their number in the order of the file: 36 bytes each, in blocks that are
 * never copied once they are full. What few events have is kept apart. One thread fills it; then it does not change.
 */
final class EventColumns {

    /** The layer of a span that belongs to none. */
    static final int NO_LAYER = -1;

    /** In place of the layer of a moment. */
    private static final int INSTANT = -2;

    /** In place of the layer of a value. */
    private static final int VALUE = -3;

    /** When a span ended that did not, or not as it should. */
    private static final long NEVER = Long.MIN_VALUE;

    /** Small enough that the collector keeps no array of a block apart, and with it the rest of a region. */
    private static final int BLOCK_BITS = 13;
    private static final int BLOCK = 1 << BLOCK_BITS;
    private static final int FIRST_BLOCK = 1 << 6;

    private final List<Block> blocks = new ArrayList<>();
    private final IntLongHashMap deviceNs = new IntLongHashMap();
    private final IntLongHashMap flowsOut = new IntLongHashMap();
    private final IntLongHashMap flowsIn = new IntLongHashMap();
    /** Which spans are samples that a device timed. */
    private final BitSet deviceSamples = new BitSet();

    private int size;

    /** Some thousand events one after the other. */
    private static final class Block {
        private final long[] starts;
        private final long[] ends;
        private final long[] elements;
        private final int[] names;
        private final int[] rows;
        private final int[] layers;

        Block(int events) {
            starts = new long[events];
            ends = new long[events];
            elements = new long[events];
            names = new int[events];
            rows = new int[events];
            layers = new int[events];
        }

        void copyFrom(Block block) {
            int events = block.starts.length;
            System.arraycopy(block.starts, 0, starts, 0, events);
            System.arraycopy(block.ends, 0, ends, 0, events);
            System.arraycopy(block.elements, 0, elements, 0, events);
            System.arraycopy(block.names, 0, names, 0, events);
            System.arraycopy(block.rows, 0, rows, 0, events);
            System.arraycopy(block.layers, 0, layers, 0, events);
        }
    }

    int size() {
        return size;
    }

    // ---- filling ----

    /** Adds a span that goes on, and counts only once its end is set; returns its number. */
    int addOpenSpan(int row, long startNs, int name, long elements, int layer) {
        return add(row, startNs, NEVER, name, elements, layer);
    }

    /** Adds a span; returns its number. */
    int addSpan(int row, long startNs, long endNs, int name, long elements, int layer) {
        return add(row, startNs, endNs, name, elements, layer);
    }

    /** Adds a moment. */
    void addInstant(int row, long atNs, int name) {
        add(row, atNs, atNs, name, -1, INSTANT);
    }

    /** Adds the value of a counter. */
    void addValue(int row, long atNs, double value) {
        add(row, atNs, Double.doubleToRawLongBits(value), 0, -1, VALUE);
    }

    private int add(int row, long startNs, long endNs, int name, long elements, int layer) {
        Block block = blockForNext();
        int place = size & (BLOCK - 1);
        block.starts[place] = startNs;
        block.ends[place] = endNs;
        block.elements[place] = elements;
        block.names[place] = name;
        block.rows[place] = row;
        block.layers[place] = layer;
        return size++;
    }

    /** The first block grows to its size, so that a small trace takes little. */
    private Block blockForNext() {
        int place = size & (BLOCK - 1);
        if (place == 0) {
            blocks.add(new Block(blocks.isEmpty() ? FIRST_BLOCK : BLOCK));
        }
        Block last = blocks.get(blocks.size() - 1);
        if (place == last.starts.length) {
            Block larger = new Block(2 * place);
            larger.copyFrom(last);
            blocks.set(blocks.size() - 1, larger);
            return larger;
        }
        return last;
    }

    void setEnd(int event, long endNs) {
        blockOf(event).ends[event & (BLOCK - 1)] = endNs;
    }

    void setDeviceNs(int event, long ns) {
        deviceNs.put(event, ns);
    }

    void setDeviceSample(int event) {
        deviceSamples.set(event);
    }

    /** A flow leads from one span to another. */
    void tie(int from, int to, long flow) {
        flowsOut.put(from, flow);
        flowsIn.put(to, flow);
    }

    boolean hasFlowOut(int event) {
        return flowsOut.containsKey(event);
    }

    boolean hasFlowIn(int event) {
        return flowsIn.containsKey(event);
    }

    // ---- reading ----

    private Block blockOf(int event) {
        return blocks.get(event >>> BLOCK_BITS);
    }

    int row(int event) {
        return blockOf(event).rows[event & (BLOCK - 1)];
    }

    long startNs(int event) {
        return blockOf(event).starts[event & (BLOCK - 1)];
    }

    /** When a span ended; of a moment, when it was. */
    long endNs(int event) {
        return blockOf(event).ends[event & (BLOCK - 1)];
    }

    double value(int event) {
        return Double.longBitsToDouble(endNs(event));
    }

    int name(int event) {
        return blockOf(event).names[event & (BLOCK - 1)];
    }

    long elements(int event) {
        return blockOf(event).elements[event & (BLOCK - 1)];
    }

    int layer(int event) {
        return blockOf(event).layers[event & (BLOCK - 1)];
    }

    boolean isInstant(int event) {
        return layer(event) == INSTANT;
    }

    /** Whether it is a span that ended. */
    boolean isSpan(int event) {
        return layer(event) >= NO_LAYER && endNs(event) != NEVER;
    }

    boolean isValue(int event) {
        return layer(event) == VALUE;
    }

    long deviceNs(int event) {
        return deviceNs.getIfAbsent(event, -1);
    }

    boolean isDeviceSample(int event) {
        return deviceSamples.get(event);
    }

    long flowOut(int event) {
        return flowsOut.get(event);
    }

    long flowIn(int event) {
        return flowsIn.get(event);
    }
}
