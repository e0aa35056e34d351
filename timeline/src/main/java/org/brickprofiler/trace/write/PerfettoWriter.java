package org.brickprofiler.trace.write;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Objects;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TraceInfo;

/**
 * Writes a timeline as a Perfetto trace ({@code .pftrace}), which <a href="https://ui.perfetto.dev">ui.perfetto.dev</a>
 * and Perfetto's trace processor read. Stateless; any thread; holds a bounded buffer and the spans that are open.
 *
 * <ul>
 *   <li>Each track is a sequence of packets of its own. Its names are written once, and its times count from packet to
 *       packet.
 *   <li>Times are the timeline's, as the clock MONOTONIC, which is related to the calendar. If a time is negative, all
 *       times are shifted to begin at 0, because the format has no sign.
 *   <li>Spans that overlap without nesting go on additional tracks, named {@code (lane 2)} and so on.
 *   <li>Elements, layer and the device's time are debug annotations {@code elements}, {@code layer} and
 *       {@code device_ns}, if they are known. A span that ends before it starts is written with no duration.
 *   <li>Three annotations are omitted in the ordinary case, which keeps a span within 32 bytes. {@code layer} also
 *       holds for nested slices: a slice on the same track has the annotation only if its layer differs from that of
 *       the surrounding slice; -1 means no layer. A span of a brick's category without {@code elements} processed one
 *       element. If the number is unknown, so that the span is no sample, it has the annotation {@code sample}, 0.
 *       {@code phase} is the {@linkplain Span.StatedPhase#number() number} of the phase of a step, or of a sample. A
 *       sample without it has the phase of the slice around it or, if no slice is around it, of the last such sample of
 *       its track; the first one has none. Other slices have the phase of the slice around them.
 *   <li>The first label of the process is {@link #PRODUCER}. A span of a device has the debug annotation
 *       {@code device}, the device's number. A host span of a brick's category with known elements is a sample of that
 *       brick; a device span is a sample only if it also has {@code sample}, 1.
 *   <li>A timeline that {@linkplain TraceFiles.Origin#OTHER another program} recorded gets no such label, and all its
 *       annotations are written, including {@code correlation}; copies have {@code bytes} instead of elements. The
 *       format does not hold the kind of a flow.
 *   <li>Dropped spans are counted beside the process's name and by an instant {@code dropped spans} at the beginning.
 *   <li>If the profile has net times of devices, a label of the process says that the times are as recorded.
 *   <li>The last packet is the service's event {@code tracing_disabled}. A file of this library without it was cut off,
 *       or its timeline was read from such a file.
 *   <li>If the timeline holds chosen steps only, a label of the process says so, and an instant {@code chosen steps
 *       only} at the beginning has the JSON of {@link org.brickprofiler.trace.SlowSteps} in its annotations
 *       {@code slow_steps}, one after the other.
 * </ul>
 */
public final class PerfettoWriter {

    /**
     * The producer recorded in a file, with the version of the meaning of packets, categories and annotations. Files of
     * version 1 ({@code brick-profiler 1}) could not mark an unknown number of elements, and omitted no annotations.
     * Files of version 2 did not mark their end, and did not state the phases of samples.
     */
    public static final String PRODUCER = "brick-profiler 3";

    private PerfettoWriter() {}

    /**
     * Writes a whole timeline that this library recorded.
     *
     * @param timeline the timeline; it stays usable, also after a failure
     * @param out the target; left open
     * @throws IOException as below
     * @throws IllegalArgumentException as below
     */
    public static void write(Timeline timeline, OutputStream out) throws IOException {
        write(timeline, out, TraceFiles.Origin.OWN);
    }

    /**
     * Writes a whole timeline.
     *
     * @param timeline the timeline; it stays usable, also after a failure
     * @param out the target; left open
     * @param origin the program that recorded the timeline
     * @throws IOException if {@code out} fails; the trace is then incomplete
     * @throws IllegalArgumentException for a timeline that breaks its own rules: a child before its parent, a stream
     *     without a device, an event before an earlier one, a name that does not exist, values on a track that is no
     *     counter
     */
    public static void write(Timeline timeline, OutputStream out, TraceFiles.Origin origin) throws IOException {
        Objects.requireNonNull(timeline, "timeline");
        Objects.requireNonNull(origin, "origin");
        Objects.requireNonNull(out, "out");
        ProtoBuffer buffer = new ProtoBuffer(out);
        buffer.writeAndFlush(() -> write(timeline, buffer, origin));
    }

    private static void write(Timeline timeline, ProtoBuffer out, TraceFiles.Origin origin) {
        TraceInfo info = timeline.info();
        CheckedTracks tracks = new CheckedTracks(timeline.tracks());
        long earliestNs = timeline.earliestNs();
        long firstNs = Math.min(earliestNs, info.monotonicNs());
        long shiftNs = firstNs < 0 ? -firstNs : 0;
        PerfettoTracks.Ids ids = new PerfettoTracks.Ids(info, tracks.size());
        PerfettoTracks descriptors = new PerfettoTracks(out, ids, info, tracks, origin);
        // The producer comes first: a file that was cut off after any packet shows that it is one of this library.
        descriptors.writeProcess();
        descriptors.writeClocks(shiftNs);
        descriptors.writeTracks();
        if (info.droppedSpans() > 0) {
            descriptors.writeDropped(earliestNs + shiftNs);
        }
        if (info.slowSteps().isPresent()) {
            descriptors.writeSlowSteps(info.slowSteps().get(), earliestNs + shiftNs);
        }
        PerfettoEvents events = new PerfettoEvents(out, ids, descriptors, tracks, timeline.names(), shiftNs, origin);
        events.writeAll(timeline);
        if (!info.isCutOff()) {
            descriptors.writeEnd();
        }
    }
}
