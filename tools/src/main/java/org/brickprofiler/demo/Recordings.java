package org.brickprofiler.demo;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.text.ParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickProfilerBuilder;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.console.OutputFile;
import org.brickprofiler.graph.CriticalPath;
import org.brickprofiler.graph.ExecutionGraph;
import org.brickprofiler.graph.GraphExport;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.internal.record.SettingAction;
import org.brickprofiler.jfr.BrickEvents;
import org.brickprofiler.report.ChecksumFile;
import org.brickprofiler.report.HtmlReport;
import org.brickprofiler.report.internal.HumanUnits;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TimelineDigest;
import org.brickprofiler.trace.TraceRecorder;
import org.brickprofiler.trace.jfr.VirtualMachineStops;
import org.brickprofiler.trace.write.TraceFiles;
import org.jspecify.annotations.Nullable;

/** The recordings of a run in addition to its profile, and their files. One thread. */
final class Recordings {

    private final DemoOptions options;
    private final UnaryOperator<Pass> alteration;
    private final @Nullable Path timelineFile;
    private final @Nullable TraceRecorder trace;
    private final @Nullable Recording flight;
    private final @Nullable VirtualMachineStops stops;
    private PassRunner.@Nullable Graphed graph;

    /**
     * Prepares the recordings that the options request.
     *
     * @throws IllegalArgumentException when a recording cannot be made; the message says why
     */
    Recordings(DemoOptions options) {
        this.options = options;
        Optional<Perturbation> fault = options.perturbation();
        Optional<Slowdown> waste = options.slowdown();
        alteration = pass -> {
            Pass faulty =
                    fault.map(each -> each.appliedTo(pass, options.warmup())).orElse(pass);
            return waste.map(each -> each.appliedTo(faulty)).orElse(faulty);
        };
        for (Path file : files(options)) {
            OutputFile.requireWritable(file);
        }
        if (options.trace() != null && options.slow() != null) {
            throw new IllegalArgumentException("--slow excludes --trace: a timeline holds chosen steps, or all");
        }
        timelineFile = options.slow() == null ? options.trace() : options.slow();
        if (timelineFile != null) {
            TraceFiles.requireFormat(timelineFile);
        }
        boolean keepsLines = SettingAction.wantsLines();
        trace = timelineFile == null && options.html() == null && !keepsLines ? null : timeline(options, keepsLines);
        flight = options.jfr() == null ? null : flight();
        stops = trace == null || (options.slow() == null && !keepsLines) ? null : stops(trace);
    }

    /**
     * Returns the reporter of stops; null if this Java has no flight recorder: the explanation of slow steps then says
     * that stops are unknown.
     */
    private static @Nullable VirtualMachineStops stops(TraceRecorder recorder) {
        try {
            return VirtualMachineStops.of(recorder);
        } catch (LinkageError | IllegalStateException none) {
            return null;
        }
    }

    private static TraceRecorder timeline(DemoOptions options, boolean keepsLines) {
        TraceRecorder.Builder timeline = TraceRecorder.builder()
                .processName("demo")
                .tiles(options.trace() != null)
                .lines(keepsLines);
        return options.slow() == null
                ? timeline.build()
                : timeline.keepSlowSteps(DemoOptions.SLOW_STEPS).build();
    }

    /** Returns a flight recording, not started, with the JDK's default settings and every execution. */
    private static Recording flight() {
        try {
            Recording recording = new Recording(Configuration.getConfiguration("default"));
            recording.enable("brick.Execution");
            return recording;
        } catch (IOException | ParseException | IllegalStateException e) {
            throw new IllegalArgumentException("no flight recording can be made: " + e.getMessage(), e);
        }
    }

    private static List<Path> files(DemoOptions options) {
        List<Path> files = new ArrayList<>();
        for (@Nullable
        Path file : new @Nullable Path[] {
            options.json(),
            options.html(),
            options.trace(),
            options.slow(),
            options.jfr(),
            options.graph(),
            options.checksums()
        }) {
            if (file != null) {
                files.add(file);
            }
        }
        return files;
    }

    /** Adds the timeline to a profiler, if one is requested. */
    BrickProfilerBuilder on(BrickProfilerBuilder profiler) {
        return trace == null ? profiler : profiler.tracing(trace);
    }

    /** Returns the instruments that observe the decoder. */
    Decoder.Instruments instruments(BrickProfiler profiler) {
        if (flight != null) {
            BrickEvents.of(profiler);
        }
        PassRunner runner =
                options.checksums() == null ? new PassRunner.Profiled(profiler) : new PassRunner.Checksummed(profiler);
        if (options.graph() != null || options.html() != null || options.calibrate()) {
            graph = new PassRunner.Graphed(runner, profiler.graph(), options.warmup());
            runner = graph;
        }
        return new Decoder.Instruments(runner, TiledProduct.Probe.of(profiler.tiles()), alteration);
    }

    /** Returns the lines of the bricks of a profile as further entries of its report, if a setting asks for them. */
    Map<String, Object> lines(ProfileSnapshot snapshot) {
        return trace == null
                ? Map.of()
                : trace.lines().map(lines -> lines.reportEntries(snapshot)).orElse(Map.of());
    }

    /** Adds the timeline, and the graph of the first measured pass, to a page, if they were recorded. */
    HtmlReport on(HtmlReport page) {
        HtmlReport timed = trace == null ? page : page.with(TimelineDigest.of(trace.timeline()));
        return graph == null ? timed : timed.withGraph(graph.graph());
    }

    /** Follows the run with counters, if a timeline is requested; a flight recording begins after the warm-up. */
    DecodeProgress following(DecodeProgress progress) {
        DecodeProgress counted = trace == null ? progress : DecodeProgress.counted(progress, trace);
        return flight == null ? counted : DecodeProgress.recorded(counted, flight);
    }

    /** Writes the files, and prints the kind and the path of each. */
    void write(BrickProfiler profiler, PrintWriter out) throws IOException {
        if (stops != null) {
            stops.close();
        }
        if (trace != null && timelineFile != null) {
            Timeline timeline = trace.timeline(profiler.snapshot().requestTimeline());
            timeline.info().slowSteps().ifPresent(steps -> out.print("\n" + steps.text()));
            TraceFiles.write(timeline, timelineFile);
            out.println((timeline.info().hasNetTimes() ? "Timeline, times as recorded: " : "Timeline: ")
                    + timelineFile.toAbsolutePath());
        }
        if (flight != null && options.jfr() != null) {
            flight.stop();
            flight.dump(options.jfr());
            flight.close();
            out.println("Flight recording: " + options.jfr().toAbsolutePath());
        }
        if (options.checksums() != null) {
            ChecksumFile.write(profiler.checksums(), options.checksums());
            out.println("Checksums: " + options.checksums().toAbsolutePath());
        }
        if (graph != null && options.graph() != null) {
            writeGraph(graph, options.graph(), out);
        }
    }

    private static void writeGraph(PassRunner.Graphed runner, Path file, PrintWriter out) throws IOException {
        ExecutionGraph graph = runner.graph();
        boolean dot = file.toString().toLowerCase(Locale.ROOT).endsWith(".dot");
        String text = dot ? GraphExport.toDot(graph) : GraphExport.toTree(graph);
        AtomicFile.write(file, to -> to.write(text.getBytes(StandardCharsets.UTF_8)));
        out.println();
        out.println(GraphExport.toSummary(graph).stripTrailing());
        long pathNs = CriticalPath.of(graph).totalNs();
        out.printf(
                Locale.ROOT,
                "The graph is that of the first measured pass, which took %s of wall time: the critical path is "
                        + "%.1f %% of it.%n",
                HumanUnits.duration(runner.passNs()),
                100.0 * pathNs / Math.max(1, runner.passNs()));
        out.println("Graph: " + file.toAbsolutePath());
    }
}
