package org.brickprofiler.trace.write;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.SpanName;
import org.brickprofiler.trace.Track;

/** Writes the events of one track after another as JSON. One thread at a time. */
final class ChromeEvents extends TrackWriter {

    private static final byte[] OPERATION = JsonBuffer.quoted("cpu_op");
    private static final byte[] LAUNCH = JsonBuffer.quoted("cuda_runtime");
    private static final byte[] LAUNCH_FLOW = JsonBuffer.quoted("ac2g");
    private static final byte[] UNNAMED_FLOW = JsonBuffer.quoted("flow");

    private final JsonBuffer out;
    private final ChromeHeader header;
    private final ChromeRows rows;
    private final Names names;
    /** The time from which {@code ts} counts. */
    private final long earliestNs;
    /** True if this library recorded the timeline and every device is a CUDA device. */
    private final boolean launchesAreCuda;

    private final Set<String> counters = new HashSet<>();

    private long steps;
    /** The track's own row, and those of further lanes. */
    private final List<ChromeRows.Row> laneRows = new ArrayList<>();

    private byte[] counterName = new byte[0];

    ChromeEvents(
            JsonBuffer out,
            ChromeHeader header,
            ChromeRows rows,
            CheckedTracks tracks,
            List<SpanName> names,
            long earliestNs,
            TraceFiles.Origin origin,
            boolean launchesAreCuda) {
        super(tracks);
        this.out = out;
        this.header = header;
        this.rows = rows;
        this.names = new Names(names, origin, launchesAreCuda);
        this.earliestNs = earliestNs;
        this.launchesAreCuda = launchesAreCuda;
    }

    @Override
    void beginTrack() {
        steps = 0;
        laneRows.clear();
        laneRows.add(rows.of(track));
    }

    @Override
    public void span(Span span) {
        long startNs = span.startNs();
        long endNs = Math.max(startNs, span.endNs());
        advanceTo(startNs, false);
        ChromeRows.Row row = laneFor(endNs);
        writeSlice(span, row, startNs, endNs);
        if (span.flowOut() != 0) {
            if (launchesAreCuda && row.device() == CheckedTracks.HOST) {
                writeLaunch(span, row, startNs, endNs);
            }
            writeFlow("\"s\"", span.flowOut(), span.flowOutName(), row, startNs);
        }
        if (span.flowIn() != 0) {
            writeFlow("\"f\", \"bp\": \"e\"", span.flowIn(), span.flowInName(), row, startNs);
        }
    }

    private ChromeRows.Row laneFor(long endNs) {
        int lane = lanes.open(endNs);
        if (lane == laneRows.size()) {
            ChromeRows.Row row = rows.addLane(track);
            laneRows.add(row);
            header.writeRow(row, tracks.laneName(track, lane), laneRows.get(0).tid());
        }
        return laneRows.get(lane);
    }

    private void writeSlice(Span span, ChromeRows.Row row, long startNs, long endNs) {
        int name = names.checked(span.name());
        boolean onDevice = row.device() != CheckedTracks.HOST;
        openEvent("\"X\"", names.kinetoCategory(name, onDevice));
        writeName(name, onDevice);
        writePlace(row, startNs);
        out.ascii(", \"dur\": ").micros(endNs - startNs);
        out.ascii(", \"args\": {\"category\": ").raw(names.category(name));
        Span.StatedPhase phase = span.phase();
        if (names.isOwn() && phase != Span.StatedPhase.NONE) {
            out.ascii(", \"phase\": \"").ascii(phase.word()).ascii("\"");
        }
        if ((onDevice && names.isKnownAs(name)) || (names.isNamedStep(name) && !names.isNamedAs(name, phase))) {
            out.ascii(", \"brick\": ").raw(names.name(name));
        }
        if (names.isOwn() || !names.isCopy(name)) {
            writeArgument(", \"elements\": ", span.elements());
        }
        if (onDevice && names.isCopy(name)) {
            writeBytes(span.elements(), endNs - startNs);
        }
        if (names.isOwn() && span.isDeviceSample()) {
            out.ascii(", \"sample\": 1");
        }
        writeArgument(", \"layer\": ", span.layer());
        writeArgument(", \"device_ns\": ", span.deviceNs());
        if (onDevice && !names.isAnnotation(name)) {
            out.ascii(", \"device\": ").number(row.device());
            out.ascii(", \"stream\": ").number(row.stream());
        }
        if (!names.isOwn()) {
            // The launch is the program's own slice, not derived from the surrounding slice.
            writeArgument(", \"correlation\": ", span.correlation());
        } else if (onDevice) {
            writeCorrelation(span.flowIn());
        } else if (span.flowOut() != 0) {
            out.ascii(", \"External id\": ").number(span.flowOut());
        }
        out.ascii("}}");
    }

    private void writeName(int name, boolean onDevice) {
        if (!names.isStep(name) || names.isNumberedStep(name)) {
            out.raw(onDevice ? names.onDevice(name) : names.name(name));
        } else {
            out.ascii("\"ProfilerStep#").number(steps++).ascii("\"");
        }
    }

    private void writeArgument(String key, long value) {
        if (value >= 0) {
            out.ascii(key).number(value);
        }
    }

    /** Writes the bytes of a copy and their bandwidth, in 10^9 bytes/s. */
    private void writeBytes(long bytes, long elapsedNs) {
        writeArgument(", \"bytes\": ", bytes);
        if (bytes >= 0 && elapsedNs > 0) {
            out.ascii(", \"memory bandwidth (GB/s)\": ").ascii(Double.toString((double) bytes / elapsedNs));
        }
    }

    private void writeCorrelation(long flow) {
        if (flow != 0) {
            out.ascii(", \"External id\": ").number(flow);
            out.ascii(", \"correlation\": ").number(flow);
        }
    }

    /**
     * Writes the operator that readers look for around a launch, and the launch. The position of the launch within the
     * span is unknown, so both last as long as the span and are marked as derived.
     */
    private void writeLaunch(Span span, ChromeRows.Row row, long startNs, long endNs) {
        writeDerived(OPERATION, names.operator(span.name()), row, startNs, endNs);
        out.ascii("}}");
        writeDerived(LAUNCH, names.call(span.name()), row, startNs, endNs);
        writeCorrelation(span.flowOut());
        out.ascii("}}");
    }

    private void writeDerived(byte[] category, byte[] name, ChromeRows.Row row, long startNs, long endNs) {
        openEvent("\"X\"", category);
        out.raw(name);
        writePlace(row, startNs);
        out.ascii(", \"dur\": ").micros(endNs - startNs);
        out.ascii(", \"args\": {\"derived\": true");
    }

    private void writeFlow(String phase, long flow, int name, ChromeRows.Row row, long atNs) {
        byte[] unnamed = names.isOwn() ? LAUNCH_FLOW : UNNAMED_FLOW;
        openEvent(phase, name == Span.UNNAMED ? unnamed : names.category(names.checked(name)));
        out.raw(name == Span.UNNAMED ? unnamed : names.name(name));
        out.ascii(", \"id\": ").number(flow);
        writePlace(row, atNs);
        out.ascii("}");
    }

    @Override
    public void instant(long atNs, int name) {
        advanceTo(atNs, false);
        ChromeRows.Row row = laneRows.get(0);
        openEvent("\"i\", \"s\": \"t\"", names.kinetoCategory(names.checked(name), row.device() != CheckedTracks.HOST));
        out.raw(names.name(name));
        writePlace(row, atNs);
        out.ascii(", \"args\": {\"category\": ").raw(names.category(name)).ascii("}}");
    }

    /** Omits NaN and infinities, which JSON cannot represent. */
    @Override
    public void counter(long atNs, double value) {
        advanceTo(atNs, true);
        if (Double.isFinite(value)) {
            header.nextEvent();
            out.ascii("{\"ph\": \"C\", \"name\": ").raw(counterName);
            writePlace(laneRows.get(0), atNs);
            out.ascii(", \"args\": {\"value\": ").ascii(Double.toString(value)).ascii("}}");
        }
    }

    /** Does nothing: a slice is written with its duration. */
    @Override
    public void close(int lane, long endNs) {}

    @Override
    void beginEvents(long ns, boolean isCounter) {
        Track begins = tracks.get(track);
        if (isCounter) {
            counterName = JsonBuffer.quoted(counterName(begins));
        } else if (!ChromeRows.hasOwnNumber(begins)) {
            header.writeRow(rows.of(track), begins.name(), rows.of(track).tid());
        }
    }

    /** Viewers distinguish the counters of a process by their names only. */
    private String counterName(Track counter) {
        String name = counter.unit().isEmpty() ? counter.name() : counter.name() + " [" + counter.unit() + "]";
        return counters.add(rows.of(track).pid() + " " + name) ? name : name + " (track " + track + ")";
    }

    private void openEvent(String phase, byte[] category) {
        header.nextEvent();
        out.ascii("{\"ph\": ").ascii(phase).ascii(", \"cat\": ").raw(category).ascii(", \"name\": ");
    }

    private void writePlace(ChromeRows.Row row, long atNs) {
        out.ascii(", \"pid\": ").number(row.pid());
        out.ascii(", \"tid\": ").number(row.tid());
        out.ascii(", \"ts\": ").micros(atNs - earliestNs);
    }

    /** The names of a timeline as JSON, and the names by which Kineto's readers know them. Immutable. */
    private static final class Names {

        private static final Pattern STEP = Pattern.compile("ProfilerStep#\\d+");

        private static final byte[] KERNEL = JsonBuffer.quoted("kernel");
        private static final byte[] MEMCPY = JsonBuffer.quoted("gpu_memcpy");
        private static final byte[] DEVICE_STEP = JsonBuffer.quoted("gpu_user_annotation");
        private static final byte[] HOST_STEP = JsonBuffer.quoted("user_annotation");

        private static final byte[] LAUNCH_CALL = JsonBuffer.quoted("cudaLaunchKernel");
        private static final byte[] COPY_CALL = JsonBuffer.quoted("cudaMemcpyAsync");

        /** The categories of a profiler's own spans on threads, which readers look for among the host's operations. */
        private static final Set<String> OPERATIONS = Stream.concat(
                        Stream.of(SpanName.LAYER),
                        Arrays.stream(BrickCategory.values()).map(BrickCategory::displayName))
                .collect(Collectors.toUnmodifiableSet());

        /** Categories that readers reserve for device work, runtime calls, flows or the whole recording. */
        private static final Pattern TAKEN = Pattern.compile(
                "kernel|memcpy|memset|trace|ac2g|(gpu|cuda)_.*", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

        private final List<SpanName> all;
        private final byte[][] names;
        private final byte[][] categories;
        /** The category of each name on a thread. */
        private final byte[][] onHost;
        /** The name that readers expect on a device. */
        private final byte[][] onDevice;
        /** The operator of a launch, for names that may have one. */
        private final byte[][] operators;

        private final boolean[] copies;
        private final boolean[] steps;
        private final boolean[] numberedSteps;
        private final TraceFiles.Origin origin;

        Names(List<SpanName> all, TraceFiles.Origin origin, boolean launchesAreCuda) {
            this.all = all;
            this.origin = origin;
            int count = all.size();
            names = new byte[count][];
            categories = new byte[count][];
            onHost = new byte[count][];
            onDevice = new byte[count][];
            operators = new byte[launchesAreCuda ? count : 0][];
            copies = new boolean[count];
            steps = new boolean[count];
            numberedSteps = new boolean[count];
            for (int name = 0; name < count; name++) {
                SpanName spanName = all.get(name);
                String category = spanName.category();
                names[name] = JsonBuffer.quoted(spanName.name());
                categories[name] = JsonBuffer.quoted(category);
                copies[name] = isOwn() ? isTransfer(category) : CheckedTracks.isCopy(category);
                steps[name] = isOwn() && category.equals(SpanName.STEP);
                onHost[name] = steps[name] ? HOST_STEP : isOperation(category) ? OPERATION : categories[name];
                numberedSteps[name] = STEP.matcher(spanName.name()).matches();
                onDevice[name] = names[name];
                if (launchesAreCuda) {
                    onDevice[name] = JsonBuffer.quoted(cudaName(spanName));
                    operators[name] = JsonBuffer.quoted("aten::" + spanName.name());
                }
            }
        }

        private static boolean isTransfer(String category) {
            return category.equals(BrickCategory.TRANSFER.displayName());
        }

        /**
         * Returns the name that readers expect: they recognise collectives and copies by the prefixes of CUDA's and
         * NCCL's names.
         */
        private static String cudaName(SpanName name) {
            String text = name.name();
            if (name.category().equals(BrickCategory.COMMUNICATION.displayName())) {
                return text.startsWith("nccl") ? text : "nccl:" + text;
            }
            if (!isTransfer(name.category()) || text.startsWith("Memcpy") || text.startsWith("Memset")) {
                return text;
            }
            return BrickId.parse(text)
                    .map(brick -> switch (brick) {
                        case HOST_TO_DEVICE -> "Memcpy HtoD";
                        case DEVICE_TO_HOST -> "Memcpy DtoH";
                        default -> null;
                    })
                    .orElse("Memcpy " + text);
        }

        private static boolean isOperation(String category) {
            return OPERATIONS.contains(category) || TAKEN.matcher(category).matches();
        }

        /** Returns whether this library recorded the timeline. */
        boolean isOwn() {
            return origin == TraceFiles.Origin.OWN;
        }

        int checked(int name) {
            return CheckedTracks.requireName(name, names.length);
        }

        byte[] name(int name) {
            return names[name];
        }

        byte[] category(int name) {
            return categories[name];
        }

        byte[] onDevice(int name) {
            return onDevice[name];
        }

        /** Returns whether readers expect another name on a device. */
        boolean isKnownAs(int name) {
            return !Arrays.equals(names[name], onDevice[name]);
        }

        byte[] operator(int name) {
            return operators[name];
        }

        byte[] call(int name) {
            return copies[name] ? COPY_CALL : LAUNCH_CALL;
        }

        /**
         * Returns whether it is another program's annotation around work of a device. With a stream, readers would take
         * it for work.
         */
        boolean isAnnotation(int name) {
            return !isOwn() && Arrays.equals(categories[name], DEVICE_STEP);
        }

        /** Returns whether its elements are the bytes of a copy. */
        boolean isCopy(int name) {
            return copies[name];
        }

        boolean isStep(int name) {
            return steps[name];
        }

        /** Returns whether it is a step with a name of its own, under which the event is not written. */
        boolean isNamedStep(int name) {
            return steps[name] && !numberedSteps[name] && !Arrays.equals(names[name], categories[name]);
        }

        /** Returns whether its name is the word for a phase. */
        boolean isNamedAs(int name, Span.StatedPhase phase) {
            return phase != Span.StatedPhase.NONE && all.get(name).name().equals(phase.word());
        }

        /** Returns whether a step already has the name that readers look for. */
        boolean isNumberedStep(int name) {
            return numberedSteps[name];
        }

        /**
         * Returns the category by which Kineto's readers sort events, as JSON. Another program's category stays as it
         * is.
         */
        byte[] kinetoCategory(int name, boolean onDevice) {
            if (!isOwn()) {
                return categories[name];
            }
            if (onDevice) {
                return steps[name] ? DEVICE_STEP : copies[name] ? MEMCPY : KERNEL;
            }
            return onHost[name];
        }
    }
}
