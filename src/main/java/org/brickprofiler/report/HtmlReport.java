package org.brickprofiler.report;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.MinimalPrettyPrinter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.checksum.ChecksumComparison;
import org.brickprofiler.graph.CriticalPath;
import org.brickprofiler.graph.ExecutionGraph;
import org.brickprofiler.graph.Roofline;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.kernel.KernelTiming;
import org.brickprofiler.report.internal.HtmlPage;
import org.brickprofiler.report.internal.JsonText;
import org.brickprofiler.report.internal.ProfileFields;
import org.brickprofiler.roofline.BrickRoofline;
import org.brickprofiler.tile.TileProfiler;
import org.brickprofiler.trace.Timeline;

/**
 * A profile as one page for a browser: what was measured, where the time went, and what makes the numbers read wrongly.
 * The page is one file that loads nothing, opens from a disk, follows the system's light or dark setting, and prints.
 *
 * <p>It holds the text of {@link JsonReport}, from which its own script draws, and which can be saved from the page;
 * and, for where scripts are off, the text of {@link TextReport}. Nothing of the profile becomes markup. A content
 * security policy in the page allows its one script and its one style sheet, by their hashes, and no connection.
 *
 * <p>Parts that a snapshot does not hold can be added: {@code HtmlReport.of(snapshot).withGraph(graph).write(path)}.
 * Sections without data are left out. Equal data gives equal pages. Needs jackson-core. Immutable; any thread.
 */
public final class HtmlReport {

    private final ProfileSnapshot snapshot;

    /** Further entries of the JSON, by key. */
    private final Map<String, ?> further;

    /** Elements with what was added, by their names. */
    private final SortedMap<String, String> added;

    private HtmlReport(ProfileSnapshot snapshot, Map<String, ?> further, SortedMap<String, String> added) {
        this.snapshot = snapshot;
        this.further = further;
        this.added = added;
    }

    /**
     * Returns the page of a profile.
     *
     * @param snapshot the profile
     * @return HTML, to be stored as UTF-8; of a profile without samples, a page that states it
     */
    public static String render(ProfileSnapshot snapshot) {
        return of(snapshot).render();
    }

    /**
     * Writes the page to a file. It is written to a temporary file in the same folder first, which then takes the place
     * of an older page in one step.
     *
     * @param snapshot the profile
     * @param path where to; its folder must exist. A pipe or a terminal is written to directly
     * @throws IOException when that fails; the message names the path and the reason, and an older page is untouched
     */
    public static void write(ProfileSnapshot snapshot, Path path) throws IOException {
        of(snapshot).write(path);
    }

    /**
     * Returns a page to add to.
     *
     * @param snapshot the profile
     * @return the page of the profile alone
     */
    public static HtmlReport of(ProfileSnapshot snapshot) {
        return new HtmlReport(Objects.requireNonNull(snapshot, "snapshot"), Map.of(), new TreeMap<>());
    }

    /**
     * Adds what one pass did: its graph as a tree along its critical path, and where it has layers, the time of each
     * brick in each of them. Of a graph beyond 10,000 nodes, the first ones of its tree.
     *
     * @param graph the graph as it is now; one thread
     * @return a page with it, in place of an earlier one
     * @throws IllegalArgumentException when its nodes wait for each other in a circle; the message names them
     * @throws ArithmeticException when a path takes longer than {@link Long#MAX_VALUE} ns
     */
    public HtmlReport withGraph(ExecutionGraph graph) {
        Objects.requireNonNull(graph, "graph");
        return with("graph", element("graph", json -> PageParts.graph(graph, CriticalPath.of(graph), json)));
    }

    /**
     * Adds what happened when: in the median and in the slowest step of each phase, where steps are known, and each
     * brick's mean time in each layer. At most the 4,000 longest spans of these steps are drawn, and the first 1,024
     * layers. The timeline is replayed twice, and not kept.
     *
     * @param timeline the timeline, as a recorder or a reader of traces gives it
     * @return a page with it, in place of an earlier one
     */
    public HtmlReport withTimeline(Timeline timeline) {
        Objects.requireNonNull(timeline, "timeline");
        return with("timeline", element("timeline", json -> TimelineDigest.write(timeline, json)));
    }

    /**
     * Adds how far bricks stay below what the machine can do, to the JSON that can be saved as well.
     *
     * @param roofline where the bricks of this profile stand
     * @return a page with it, in place of an earlier one
     */
    public HtmlReport withRoofline(BrickRoofline roofline) {
        return with(Map.of("roofline", RooflineReport.values(Objects.requireNonNull(roofline, "roofline"))));
    }

    /**
     * Adds what else is known of the profile to the JSON that can be saved. The page shows {@code virtual_machine}:
     * what the virtual machine did while bricks ran, as {@code brick report --json} writes it of a flight recording.
     *
     * @param further as {@link JsonReport#toJson(ProfileSnapshot, Map)} takes it
     * @return a page with it; keys take the place of equal earlier ones
     * @throws IllegalArgumentException when a key is one of the report's own, or a value is of another type
     */
    public HtmlReport withFurther(Map<String, ?> further) {
        HtmlReport page = with(Objects.requireNonNull(further, "further"));
        // What cannot be written is refused here already.
        JsonReport.toJson(snapshot, page.further);
        return page;
    }

    private HtmlReport with(Map<String, ?> more) {
        Map<String, Object> all = new LinkedHashMap<>(further);
        all.putAll(more);
        return new HtmlReport(snapshot, Collections.unmodifiableMap(all), added);
    }

    /**
     * Adds how far the kernels of a graph stay below what their device can do: for each name the median of its
     * launches, with the lowest and the highest, and a chart of the 40 that took most time. Of a kernel, intensity and
     * rate are known as {@link org.brickprofiler.graph.ExecutionNode.Kernel} has them; kernels without are named.
     *
     * @param graph the graph as it is now; one thread
     * @param peakTflops the device's peak rate, TFLOP/s
     * @param bandwidthGBps its memory bandwidth, GB/s of 10<sup>9</sup> bytes
     * @return a page with it, in place of an earlier one
     * @throws IllegalArgumentException when the peak or the bandwidth is not positive and finite
     */
    public HtmlReport withKernelRoofline(ExecutionGraph graph, double peakTflops, double bandwidthGBps) {
        Objects.requireNonNull(graph, "graph");
        List<Roofline.Distance> launches = Roofline.distances(graph, peakTflops, bandwidthGBps);
        return with(
                "kernel-roofline",
                element(
                        "kernel-roofline",
                        json -> PageParts.roofline(graph, launches, peakTflops, bandwidthGBps, json)));
    }

    /**
     * Adds where in their grid tiles took their time.
     *
     * @param places what {@link org.brickprofiler.tile.TileProfiler#places()} returned
     * @return a page with it, in place of an earlier one
     */
    public HtmlReport withTiles(List<TileProfiler.Place> places) {
        List<TileProfiler.Place> all = List.copyOf(Objects.requireNonNull(places, "places"));
        return with("tile-places", element("tile-places", json -> PageParts.tilePlaces(all, json)));
    }

    /**
     * Adds how long kernels took. If their work is known, {@link #withKernelRoofline} adds their distance to the roof.
     *
     * @param kernels what {@link org.brickprofiler.kernel.KernelTimings#snapshot()} returned
     * @return a page with it, in place of an earlier one
     */
    public HtmlReport withKernels(List<KernelTiming> kernels) {
        List<KernelTiming> all = List.copyOf(Objects.requireNonNull(kernels, "kernels"));
        return with("kernels", element("kernels", json -> PageParts.kernels(all, json)));
    }

    /**
     * Adds what came of comparing checksums with a reference: whether the pass computed the same, and where not.
     *
     * @param comparison what came of it
     * @return a page with it, in place of an earlier one
     */
    public HtmlReport withChecksums(ChecksumComparison comparison) {
        String text = DivergenceReport.render(Objects.requireNonNull(comparison, "comparison"));
        return with("checksums", element("checksums", json -> json.writeString(text)));
    }

    private HtmlReport with(String name, String element) {
        SortedMap<String, String> more = new TreeMap<>(added);
        more.put(name, element);
        return new HtmlReport(snapshot, further, more);
    }

    /**
     * Returns the page.
     *
     * @return HTML, to be stored as UTF-8
     */
    public String render() {
        return HtmlPage.render(
                "Brick profile",
                HtmlReport.class,
                "report.js",
                TextReport.render(snapshot),
                HtmlPage.data("profile", JsonReport.toJson(snapshot, further))
                        + element("brick-facts", ProfileFields.BRICK::writeFacts)
                        + String.join("", added.values()));
    }

    /**
     * Writes the page to a file, as {@link #write(ProfileSnapshot, Path)}.
     *
     * @param path where to; its folder must exist. A pipe or a terminal is written to directly
     * @throws IOException when that fails; the message names the path and the reason, and an older page is untouched
     */
    public void write(Path path) throws IOException {
        Objects.requireNonNull(path, "path");
        byte[] page = render().getBytes(UTF_8);
        AtomicFile.write(path, out -> out.write(page));
    }

    /** Writes a value. */
    private interface Value {
        void to(JsonGenerator json) throws IOException;
    }

    private static String element(String id, Value value) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator json = JsonText.generator(bytes, new MinimalPrettyPrinter())) {
            value.to(json);
        } catch (IOException impossible) {
            throw new UncheckedIOException("memory does not fail", impossible);
        }
        return HtmlPage.data(id, bytes.toString(UTF_8) + "\n");
    }
}
