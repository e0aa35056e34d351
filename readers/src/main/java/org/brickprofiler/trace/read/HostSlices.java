package org.brickprofiler.trace.read;

import java.io.IOException;
import org.brickprofiler.trace.read.EventCollector.Slice;
import org.brickprofiler.trace.read.Omission.Reason;
import org.brickprofiler.trace.read.TraceEvent.Kind;
import org.brickprofiler.trace.read.TraceProfile.Counting;
import org.eclipse.collections.impl.set.mutable.primitive.IntHashSet;
import org.jspecify.annotations.Nullable;

/**
 * The slices of a trace in which no slice was marked as a device's so far. In the end the finest slices of the devices
 * that are recognised by the names of their rows count; without them, the operations of compiled programs; without
 * them, all slices. The detail of a slice is its correlation, or {@link TraceEvent#NONE}. One thread.
 */
final class HostSlices implements ForeignSlices {

    private final ForeignTrace trace;
    private final ProfileBuilder builder;
    private final Kernels kernels;
    private final EventStore hosts = new EventStore(EventStore.Order.BY_TIME);

    /** The operations of compiled programs. */
    private final EventStore operations = new EventStore(EventStore.Order.BY_TIME);

    /** The slices of rows that were already known by name to be a device's, and their kernels. */
    private final EventStore named = new EventStore(EventStore.Order.BY_TIME);

    private final Kernels namedKernels;

    private boolean operationSeen;
    private boolean isReplaced;
    private long ignoredByRule;

    HostSlices(ForeignTrace trace) {
        this.trace = trace;
        this.builder = trace.builder;
        this.kernels = trace.newKernels();
        this.namedKernels = trace.newKernels();
    }

    // ---- collecting ----

    @Override
    @Nullable
    public Slice begin(TraceEvent event) throws TraceFormatException {
        trace.noteNames(event);
        operationSeen |= event.kind() == Kind.OPERATION;
        if (builder.names.isOnDevice(builder.row(event))) {
            return new NamedSlice(event);
        }
        HostSlice slice = new HostSlice(event);
        if (slice.elements > Bounds.MOST_COUNT) {
            trace.omissions.fault(Reason.COUNT_OUT_OF_RANGE, event.offset);
            return null;
        }
        return slice;
    }

    /** A slice that has begun. */
    private abstract class Begun extends Slice {
        final Kernels all;
        final int row;
        int kernel;
        long correlation;

        /** The inputs of the decision which kernel it is; null if its end cannot change the decision. */
        private final Kernels.@Nullable CacheKey key;

        Begun(TraceEvent event, Kernels all, boolean isCopy) throws TraceFormatException {
            super(event);
            boolean mayChange = event.phase == 'B' && builder.areArgumentsTested();
            this.all = all;
            this.kernel = all.number(event, isCopy);
            this.row = kernel >= 0 || mayChange ? trace.mainRow(event) : 0;
            this.correlation = event.correlation;
            this.key = mayChange ? all.key(event, isCopy) : null;
        }

        @Override
        void endedBy(TraceEvent end) {
            if (key != null && !isReplaced && !end.ruleArgs.isEmpty()) {
                Kernels.CacheKey whole = DeviceSlices.withFurther(key, end);
                kernel = all.number(whole);
                decidedBy(whole);
            }
            correlation = correlation < 0 ? end.correlation : correlation;
        }

        /** Decides again which arguments matter. */
        void decidedBy(Kernels.CacheKey whole) {
            // The arguments of a device's slice do not matter.
        }

        @Override
        final void keep(long endNs) throws IOException {
            if (isReplaced) {
                trace.omissions.add(Reason.HOST);
            } else if (kernel == Kernels.IGNORED) {
                ignoredByRule++;
            } else {
                store(endNs);
            }
        }

        abstract void store(long endNs) throws IOException;
    }

    /** A slice of a row that is not known to be a device's. */
    private final class HostSlice extends Begun {
        private final boolean isOperation;
        private final long bytes;
        private final long work;

        /**
         * The elements that an argument states; {@link TraceEvent#NONE} if the rule of the kernel names no argument.
         */
        private long elements;

        HostSlice(TraceEvent event) throws TraceFormatException {
            super(event, kernels, false);
            this.isOperation = event.kind() == Kind.OPERATION;
            this.bytes = event.knownBytes();
            this.work = kernel >= 0 ? trace.works.of(event) : OperatorWork.UNKNOWN;
            String argument = argumentOfElements();
            this.elements = argument.isEmpty() ? TraceEvent.NONE : event.ruleNumber(argument);
        }

        private String argumentOfElements() {
            return kernel >= 0 ? kernels.get(kernel).target().elements() : "";
        }

        @Override
        void decidedBy(Kernels.CacheKey whole) {
            String argument = argumentOfElements();
            elements = argument.isEmpty()
                    ? TraceEvent.NONE
                    : Math.max(0, TraceEvent.wholeNumberOf(whole.key().args().getOrDefault(argument, "")));
        }

        @Override
        void store(long endNs) throws IOException {
            boolean hasElements = elements >= 0;
            EventStore store = isOperation ? operations : hosts;
            store.add(
                    row,
                    startNs,
                    endNs,
                    offset,
                    kernel,
                    hasElements ? elements : bytes,
                    hasElements ? Execution.withElements(work) : work,
                    isOperation ? TraceEvent.NONE : correlation);
        }
    }

    /** A slice of a row that is known to be a device's. */
    private final class NamedSlice extends Begun {
        private long bytes;

        NamedSlice(TraceEvent event) throws TraceFormatException {
            super(event, namedKernels, Kind.isCopy(event.name));
            this.bytes = event.knownBytes();
        }

        @Override
        void store(long endNs) throws IOException {
            named.add(row, startNs, endNs, offset, kernel, bytes, 0, correlation);
        }
    }

    // ---- choosing ----

    @Override
    public ForeignSlices ofDevice() throws IOException {
        isReplaced = true;
        trace.omissions.add(Reason.HOST, hosts.size() + operations.size() + named.size() + ignoredByRule);
        close();
        return new DeviceSlices(trace);
    }

    @Override
    public ForeignSlices finest() throws IOException {
        if (!builder.names.anyDevice()) {
            return this;
        }
        IntHashSet used = new IntHashSet();
        for (EventStore store : new EventStore[] {hosts, operations, named}) {
            EventStore.Cursor events = store.inOrder();
            for (EventStore.Event event = events.next(); event != null; event = events.next()) {
                used.add(event.row());
            }
        }
        IntHashSet finest = builder.names.finest(used);
        if (finest.isEmpty()) {
            return this;
        }
        EventStore kept = new EventStore(EventStore.Order.BY_TIME);
        try (this) {
            keepFinest(named, true, finest, kept);
            keepFinest(hosts, false, finest, kept);
            keepFinest(operations, false, finest, kept);
        }
        return new DeviceSlices(trace, kept, namedKernels, true, ignoredByRule);
    }

    /** Keeps the slices of the finest rows. A name may follow the slices of its row. */
    private void keepFinest(EventStore from, boolean isNamed, IntHashSet finest, EventStore kept) throws IOException {
        EventStore.Cursor events = from.inOrder();
        for (EventStore.Event event = events.next(); event != null; event = events.next()) {
            if (!finest.contains(event.row())) {
                boolean isOnDevice = builder.names.isOnDevice(builder.rows.get(event.row()));
                trace.omissions.add(isOnDevice ? Reason.ANNOTATION : Reason.HOST);
                continue;
            }
            Execution slice = new Execution(event);
            kept.add(
                    slice.row(),
                    slice.startNs(),
                    slice.endNs(),
                    slice.offset(),
                    isNamed ? slice.kernel() : namedKernels.take(kernels.get(slice.kernel())),
                    slice.bytes(),
                    0,
                    slice.detail());
        }
    }

    @Override
    public ForeignTrace.Chosen chosen(boolean hasRuns) throws IOException {
        if (operationSeen) {
            trace.omissions.add(Reason.HOST, hosts.size() + named.size());
            return new ForeignTrace.Chosen(Counting.OPERATIONS, operations, kernels, true);
        }
        if (trace.head.isXla && builder.isDamaged()) {
            throw builder.error(0, "no XLA operations or device work before the damage");
        }
        return new ForeignTrace.Chosen(hasRuns ? Counting.NODES : Counting.ALL_SLICES, hosts, kernels, true);
    }

    @Override
    public long ignoredByRule() {
        return ignoredByRule;
    }

    @Override
    public void close() throws IOException {
        hosts.close();
        operations.close();
        named.close();
    }
}
