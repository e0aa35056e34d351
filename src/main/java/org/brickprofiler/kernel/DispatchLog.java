package org.brickprofiler.kernel;

import static org.brickprofiler.internal.base.Sums.limited;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.brickprofiler.Backend;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.kernel.KernelTimings.CommandBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Stores command buffers by label, and their dispatches, as a few numbers each. Both are bounded; further ones are
 * counted, and logged once.
 *
 * <p>Thread-safe. One short lock keeps totals and dispatches consistent: dispatches arrive after a command buffer has
 * completed, some hundreds at a time, not inside a hot loop. A reader only copies columns under the lock. Recording
 * allocates nothing once the label is known and the columns are long enough.
 */
final class DispatchLog {

    /** The most dispatches that are kept: 7 MiB in all. */
    static final int MAX_DISPATCHES = 1 << 18;

    /** The most labels that are distinguished, over all backends. */
    static final int MAX_LABELS = 4_096;

    private static final Log LOG = Log.of(DispatchLog.class);

    private final int maxDispatches;
    private final int maxLabels;
    private final Object lock = new Object();

    // All fields below are guarded by lock.
    private final Map<Backend, Map<String, Group>> byLabel = new EnumMap<>(Backend.class);
    private final List<Group> inOrder = new ArrayList<>();
    private final Columns dispatches = new Columns();
    private long dropped;
    private boolean dropLogged;
    private boolean labelsLogged;

    /** The command buffers of one label on one backend. */
    private static final class Group {
        private final int number;
        private final String label;
        private final Backend backend;
        private long count;
        private long totalNs;
        private long minNs;
        private long maxNs;

        Group(int number, String label, Backend backend) {
            this.number = number;
            this.label = label;
            this.backend = backend;
        }

        void add(long elapsedNs) {
            minNs = count == 0 ? elapsedNs : Math.min(minNs, elapsedNs);
            maxNs = Math.max(maxNs, elapsedNs);
            totalNs = limited(totalNs, elapsedNs);
            count++;
        }

        CommandBuffer withoutDispatches() {
            return new CommandBuffer(label, backend, count, totalNs, minNs, maxNs, List.of());
        }
    }

    DispatchLog() {
        this(MAX_DISPATCHES, MAX_LABELS);
    }

    DispatchLog(int maxDispatches, int maxLabels) {
        this.maxDispatches = maxDispatches;
        this.maxLabels = maxLabels;
        for (Backend backend : Backend.values()) {
            byLabel.put(backend, new HashMap<>());
        }
    }

    void addCommandBuffer(String label, Backend backend, long elapsedNs) {
        synchronized (lock) {
            group(label, backend).add(elapsedNs);
        }
    }

    void addDispatch(String label, Backend backend, String operation, int index, long startNs, long endNs) {
        synchronized (lock) {
            Group group = group(label, backend);
            if (dispatches.size() < maxDispatches) {
                dispatches.add(group.number, operation, index, startNs, endNs);
            } else {
                drop(label, operation);
            }
        }
    }

    private void drop(String label, String operation) {
        dropped++;
        if (!dropLogged) {
            dropLogged = true;
            LOG.warn(
                    "{} dispatches are kept until the next reset: '{}' of '{}' and every further one are only counted",
                    maxDispatches,
                    operation,
                    label);
        }
    }

    private Group group(String label, Backend backend) {
        Map<String, Group> known = Objects.requireNonNull(byLabel.get(backend));
        Group group = known.get(label);
        return group != null ? group : newGroup(label, backend, known);
    }

    private Group newGroup(String label, Backend backend, Map<String, Group> known) {
        boolean room = inOrder.size() < maxLabels;
        if (!room && !labelsLogged) {
            labelsLogged = true;
            LOG.warn(
                    "more than {} labels in use: '{}' and every further new one are counted together as '{}'",
                    maxLabels,
                    label,
                    KernelTimings.OTHER_NAMES);
        }
        return known.computeIfAbsent(room ? label : KernelTimings.OTHER_NAMES, name -> {
            Group group = new Group(inOrder.size(), name, backend);
            inOrder.add(group);
            return group;
        });
    }

    /**
     * Returns every group in order of first appearance since the last reset, with its dispatches in the order of
     * recording.
     */
    List<CommandBuffer> read() {
        List<CommandBuffer> buffers = new ArrayList<>();
        Columns copied;
        synchronized (lock) {
            inOrder.forEach(group -> buffers.add(group.withoutDispatches()));
            copied = dispatches.copy();
        }
        return copied.under(buffers);
    }

    long dropped() {
        synchronized (lock) {
            return dropped;
        }
    }

    void reset() {
        synchronized (lock) {
            byLabel.values().forEach(Map::clear);
            inOrder.clear();
            dispatches.clear();
            dropped = 0;
        }
    }

    /**
     * Dispatches in columns, so that no dispatch is an object. Not thread-safe. Adding allocates only when the columns
     * grow, by half each time, and clearing keeps their length.
     */
    private static final class Columns {

        private static final int FIRST_LENGTH = 16;

        private int size;
        private int[] buffers = new int[FIRST_LENGTH];
        private @Nullable String[] operations = new String[FIRST_LENGTH];
        private int[] indexes = new int[FIRST_LENGTH];
        private long[] startsNs = new long[FIRST_LENGTH];
        private long[] endsNs = new long[FIRST_LENGTH];

        Columns copy() {
            Columns copy = new Columns();
            copy.size = size;
            copy.takeFrom(this, size);
            return copy;
        }

        /** Takes the contents of columns, in arrays of a length. */
        private void takeFrom(Columns other, int length) {
            buffers = Arrays.copyOf(other.buffers, length);
            operations = Arrays.copyOf(other.operations, length);
            indexes = Arrays.copyOf(other.indexes, length);
            startsNs = Arrays.copyOf(other.startsNs, length);
            endsNs = Arrays.copyOf(other.endsNs, length);
        }

        int size() {
            return size;
        }

        /** Adds a dispatch to the command buffers at an index of the list that is later passed to {@link #under}. */
        void add(int buffer, String operation, int index, long startNs, long endNs) {
            if (size == buffers.length) {
                takeFrom(this, size + (size >> 1));
            }
            buffers[size] = buffer;
            operations[size] = operation;
            indexes[size] = index;
            startsNs[size] = startNs;
            endsNs[size] = endNs;
            size++;
        }

        void clear() {
            Arrays.fill(operations, 0, size, null);
            size = 0;
        }

        /** Returns the same command buffers, each with its dispatches in the order they were added. */
        List<CommandBuffer> under(List<CommandBuffer> withoutDispatches) {
            List<List<CommandBuffer.Dispatch>> dispatches = new ArrayList<>();
            withoutDispatches.forEach(buffer -> dispatches.add(new ArrayList<>()));
            for (int i = 0; i < size(); i++) {
                int buffer = buffers[i];
                String label = withoutDispatches.get(buffer).label();
                dispatches
                        .get(buffer)
                        .add(new CommandBuffer.Dispatch(
                                label, Objects.requireNonNull(operations[i]), indexes[i], startsNs[i], endsNs[i]));
            }
            List<CommandBuffer> complete = new ArrayList<>();
            for (int buffer = 0; buffer < withoutDispatches.size(); buffer++) {
                complete.add(withoutDispatches.get(buffer).with(dispatches.get(buffer)));
            }
            return List.copyOf(complete);
        }
    }
}
