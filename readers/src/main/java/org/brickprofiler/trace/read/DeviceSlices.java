package org.brickprofiler.trace.read;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.brickprofiler.trace.read.EventCollector.Slice;
import org.brickprofiler.trace.read.Omission.Reason;
import org.brickprofiler.trace.read.TraceEvent.Kind;
import org.brickprofiler.trace.read.TraceProfile.Counting;
import org.jspecify.annotations.Nullable;

/**
 * The slices of devices, in a trace that shows which slices these are. No other slice counts. The detail of a slice is
 * its correlation, or {@link TraceEvent#NONE}. One thread.
 */
final class DeviceSlices implements ForeignSlices {

    private final ForeignTrace trace;
    private final EventStore slices;
    private final Kernels kernels;
    private final boolean nest;
    private long ignoredByRule;

    /** Creates an empty collection for slices that categories mark; such a slice contains no other work. */
    DeviceSlices(ForeignTrace trace) {
        this(trace, new EventStore(EventStore.Order.BY_TIME), trace.newKernels(), false, 0);
    }

    /**
     * Creates a collection of slices that are known.
     *
     * @param nest whether a slice contains those that run during it
     */
    DeviceSlices(ForeignTrace trace, EventStore slices, Kernels kernels, boolean nest, long ignoredByRule) {
        this.trace = trace;
        this.slices = slices;
        this.kernels = kernels;
        this.nest = nest;
        this.ignoredByRule = ignoredByRule;
    }

    @Override
    @Nullable
    public Slice begin(TraceEvent event) throws TraceFormatException {
        Kind kind = event.kind();
        if (!kind.isDevice()) {
            return hostSlice(event);
        }
        trace.noteNames(event);
        boolean isCopy = kind == Kind.COPY || (kind == Kind.DEVICE_WORK && Kind.isCopy(event.name));
        return new DeviceSlice(event, isCopy);
    }

    /** Returns the state of a slice that does not count; null if it is complete. */
    private @Nullable Slice hostSlice(TraceEvent event) {
        if (event.phase == 'X') {
            trace.omissions.add(Reason.HOST);
            return null;
        }
        return new Slice(event) {
            @Override
            void endedBy(TraceEvent end) {
                // The slice does not count.
            }

            @Override
            void keep(long endNs) {
                trace.omissions.add(Reason.HOST);
            }
        };
    }

    /** A slice of a device that has begun. */
    private final class DeviceSlice extends Slice {
        private final int row;
        private int kernel;
        private long bytes;
        private long correlation;

        /** The inputs of the decision which kernel it is; null if its end cannot change the decision. */
        private final Kernels.@Nullable CacheKey key;

        DeviceSlice(TraceEvent event, boolean isCopy) throws TraceFormatException {
            super(event);
            boolean mayChange = event.phase == 'B' && trace.builder.areArgumentsTested();
            this.kernel = kernels.number(event, isCopy);
            this.row = kernel >= 0 || mayChange ? trace.mainRow(event) : 0;
            this.bytes = event.knownBytes();
            this.correlation = event.correlation;
            this.key = mayChange ? kernels.key(event, isCopy) : null;
        }

        @Override
        void endedBy(TraceEvent end) {
            if (key != null && !end.ruleArgs.isEmpty()) {
                kernel = kernels.number(withFurther(key, end));
            }
            trace.noteBytes(end);
            bytes = end.bytes >= 0 ? end.bytes : bytes;
            correlation = end.correlation >= 0 ? end.correlation : correlation;
        }

        @Override
        void keep(long endNs) throws IOException {
            if (kernel == Kernels.IGNORED) {
                ignoredByRule++;
            } else {
                slices.add(row, startNs, endNs, offset, kernel, bytes, 0, correlation);
            }
        }
    }

    /** Returns the inputs of the decision about a slice whose end has further arguments that rules test. */
    static Kernels.CacheKey withFurther(Kernels.CacheKey key, TraceEvent end) {
        Map<String, String> args = new HashMap<>(end.ruleArgs);
        key.key().args().forEach(args::putIfAbsent);
        return key.with(args);
    }

    @Override
    public ForeignSlices ofDevice() {
        return this;
    }

    @Override
    public ForeignSlices finest() {
        return this;
    }

    @Override
    public ForeignTrace.Chosen chosen(boolean hasRuns) {
        return new ForeignTrace.Chosen(Counting.DEVICE_EVENTS, slices, kernels, nest);
    }

    @Override
    public long ignoredByRule() {
        return ignoredByRule;
    }

    @Override
    public void close() throws IOException {
        slices.close();
    }
}
