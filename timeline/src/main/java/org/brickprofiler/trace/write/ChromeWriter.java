package org.brickprofiler.trace.write;

import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Objects;
import org.brickprofiler.Backend;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TraceInfo;
import org.brickprofiler.trace.TraceInfo.Device;

/**
 * Writes a timeline as Chrome trace JSON with the conventions of PyTorch's Kineto, which Perfetto, chrome://tracing,
 * PyTorch's own tools and Holistic Trace Analysis read. Stateless; any thread; holds a bounded buffer, the names, and
 * the spans that are open.
 *
 * <ul>
 *   <li>{@code ts} and {@code dur} are microseconds with three decimals, exact; {@code ts} counts from
 *       {@code baseTimeNanoseconds}, the first event's calendar time in ns; for another program's trace, from the
 *       microsecond in which the first event begins.
 *   <li>Bricks and layers on threads are {@code cpu_op}; an application's spans keep their category, unless readers
 *       reserve it for devices ({@code kernel} and the like). Spans on devices are {@code kernel}, or
 *       {@code gpu_memcpy} if their category is Transfer. The argument {@code category} always holds their own
 *       category.
 *   <li>Spans of the category {@code step} are {@code user_annotation}, or {@code gpu_user_annotation} on a device,
 *       named {@code ProfilerStep#N}: those of a track count from 0, unless the name has that form already. The
 *       argument {@code phase} is the {@linkplain Span.StatedPhase#word() word} of the phase of a step of this library,
 *       and of a sample; a step or sample without this argument has no phase. Any other name of a step is the argument
 *       {@code brick}.
 *   <li>A row of a device has the device as {@code pid} and the stream as {@code tid}. If two tracks would share a row,
 *       the later one gets a free number; {@code args.stream} stays the stream. A process whose number is also a
 *       device's is written with 1,000,000 added.
 *   <li>A span that a flow leaves is followed by the start of the flow, {@code ac2g}. If all devices are CUDA devices,
 *       readers also expect the launch call, and an ATen operator around the call. Both are derived from the
 *       surrounding span and have its length, since the position of the launch within the span is unknown. The operator
 *       is named {@code aten::} and the span's name, the call {@code cudaLaunchKernel}, or {@code cudaMemcpyAsync} for
 *       a transfer; both carry {@code "derived": true}.
 *   <li>If all devices are CUDA devices, collectives on them are named as readers expect: {@code nccl:} and the span's
 *       name. Transfers are named {@code Memcpy HtoD} or {@code Memcpy DtoH}, or {@code Memcpy} and the span's name if
 *       the direction is unknown. The span's own name is the argument {@code brick}. The elements of a transfer are
 *       written as bytes: {@code bytes}, and {@code memory bandwidth (GB/s)}, in 10^9 bytes a second.
 *   <li>The rank is 0 of 1, and {@code "derived": true}, if none was given.
 *   <li>Spans that overlap without nesting go on further rows, named {@code (lane 2)} and so on. A span that ends
 *       before it starts is written with duration 0. Counter values that are not finite are omitted.
 *   <li>The key {@code producer}, before the events, is {@link #PRODUCER}. A span on a thread whose category is a
 *       brick's and that has {@code elements} is a sample of that brick, and so is one on a device that also has
 *       {@code sample}, 1.
 *   <li>A timeline that {@linkplain TraceFiles.Origin#OTHER another program} recorded is written without this key. Its
 *       spans keep their own categories, names and correlations, and a span that a flow leaves is the launch itself.
 *       Its flows keep their kinds, and are renumbered; flows from a format without kinds are called {@code flow}.
 *   <li>If the timeline holds chosen steps only, the key {@code slowSteps} has the JSON of
 *       {@link org.brickprofiler.trace.SlowSteps} as an array of strings, which are to be concatenated.
 *   <li>If the timeline was read from a file that was cut off or damaged, the key {@code cutOff} is true.
 *   <li>Dropped spans are counted by the key {@code droppedSpans}, and beside the processes' names.
 *   <li>If the profile has net times of devices, the key {@code timesAsRecorded} is true, and a label of the process
 *       says so.
 * </ul>
 */
public final class ChromeWriter {

    /**
     * The producer recorded in a file: the name of this library, a blank, and the version of the meaning of categories
     * and arguments. {@code TraceReader} recognises own files by it. Files of version 1 did not state the phases of
     * samples.
     */
    public static final String PRODUCER = "brick-profiler 2";

    private ChromeWriter() {}

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
        JsonBuffer buffer = new JsonBuffer(out);
        buffer.writeAndFlush(() -> write(timeline, buffer, origin));
    }

    private static void write(Timeline timeline, JsonBuffer out, TraceFiles.Origin origin) {
        TraceInfo info = timeline.info();
        CheckedTracks tracks = new CheckedTracks(timeline.tracks());
        long earliestNs = timeline.earliestNs();
        if (origin == TraceFiles.Origin.OTHER) {
            // Some readers round to microseconds; a whole number of microseconds does not change the rounding.
            earliestNs -= Math.floorMod(earliestNs, 1_000L);
        }
        ChromeRows rows = new ChromeRows(info, tracks);
        ChromeHeader header = new ChromeHeader(out, info, origin);
        header.writeHead(info.unixNs() + (earliestNs - info.monotonicNs()));
        header.writeProcesses(rows, tracks);
        for (int track = 0; track < tracks.size(); track++) {
            if (ChromeRows.hasOwnNumber(tracks.get(track))) {
                ChromeRows.Row row = rows.of(track);
                header.writeRow(row, tracks.get(track).name(), row.tid());
            }
        }
        boolean launchesAreCuda = origin == TraceFiles.Origin.OWN && areCuda(info.devices());
        ChromeEvents events =
                new ChromeEvents(out, header, rows, tracks, timeline.names(), earliestNs, origin, launchesAreCuda);
        events.writeAll(timeline);
        header.writeTail();
    }

    private static boolean areCuda(List<Device> devices) {
        return !devices.isEmpty() && devices.stream().allMatch(device -> device.backend() == Backend.CUDA);
    }
}
