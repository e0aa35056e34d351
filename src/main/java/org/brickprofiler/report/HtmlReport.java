package org.brickprofiler.report;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.brickprofiler.internal.base.Checks.requireName;

import java.io.IOException;
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
import org.brickprofiler.report.internal.RequestFields;
import org.brickprofiler.tile.TileProfiler;

/**
 * A profile as one page for a browser: the environment, the distribution of the time, and the remarks that cast doubt
 * on the numbers. The page is one file that loads nothing, opens from a disk, follows the system's light or dark
 * setting, and can be printed.
 *
 * <p>The page contains the text of {@link JsonReport}, from which its own script draws and which can be saved from the
 * page, and the text of {@link TextReport}, which is shown if scripts are off. No text of the profile becomes markup. A
 * content security policy in the page allows its one script and its one style sheet, by their hashes, and no
 * connection.
 *
 * <p>Parts beyond a snapshot can be added: {@code HtmlReport.of(snapshot).withGraph(graph).write(path)}. Sections
 * without data are left out. Equal data gives equal pages. Needs jackson-core. Immutable; any thread.
 */
public final class HtmlReport {

    private final ProfileSnapshot snapshot;

    /** Further entries of the JSON, by key. */
    private final Map<String, ?> further;

    /** Elements of the added parts, by their names. */
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
     * @return HTML, to be stored as UTF-8; for a profile without samples, a page that states this
     */
    public static String render(ProfileSnapshot snapshot) {
        return of(snapshot).render();
    }

    /**
     * Writes the page to a file. The page is written to a temporary file in the same folder, which then replaces an
     * older page in one step.
     *
     * @param snapshot the profile
     * @param path the file; its folder must exist. A pipe or a terminal is written to directly
     * @throws IOException when writing fails; the message names the path and the reason, and an older page is unchanged
     */
    public static void write(ProfileSnapshot snapshot, Path path) throws IOException {
        of(snapshot).write(path);
    }

    /**
     * Returns a page to which parts can be added.
     *
     * @param snapshot the profile
     * @return the page of the profile alone
     */
    public static HtmlReport of(ProfileSnapshot snapshot) {
        return new HtmlReport(Objects.requireNonNull(snapshot, "snapshot"), Map.of(), new TreeMap<>());
    }

    /**
     * Adds the graph of one pass as a tree along its critical path and, if it has layers, the time of each brick in
     * each layer. If the graph has more than 10,000 nodes, the first 10,000 of its tree are shown.
     *
     * @param graph the graph in its current state; used by one thread
     * @return a page with it, in place of an earlier one
     * @throws IllegalArgumentException when its nodes depend on each other in a circle; the message names them
     * @throws ArithmeticException when a path takes longer than {@link Long#MAX_VALUE} ns
     */
    public HtmlReport withGraph(ExecutionGraph graph) {
        Objects.requireNonNull(graph, "graph");
        return with("graph", JsonText.of(json -> PageParts.graph(graph, CriticalPath.of(graph), json)));
    }

    /**
     * Adds a part that another artifact brings: {@code TimelineDigest.of(timeline)},
     * {@code RooflineReport.part(roofline)}.
     *
     * @param part the part
     * @return a page with it, in place of an earlier one of the same name
     * @throws IllegalArgumentException when its key is one of the report's own, or a value cannot be written
     */
    public HtmlReport with(PagePart part) {
        return Objects.requireNonNull(part, "part").addTo(this);
    }

    /**
     * Adds further facts about the profile to the JSON that can be saved. The page shows {@code virtual_machine}: the
     * activity of the virtual machine during the bricks, in the form in which {@code brick report --json} writes it for
     * a flight recording.
     *
     * @param further keys and values as in {@link JsonReport#toJson(ProfileSnapshot, Map)}
     * @return a page with it; a key replaces an equal earlier one
     * @throws IllegalArgumentException when a key is one of the report's own, or a value is of another type
     */
    public HtmlReport withFurther(Map<String, ?> further) {
        Objects.requireNonNull(further, "further");
        Map<String, Object> all = new LinkedHashMap<>(this.further);
        all.putAll(further);
        // Values that cannot be written are refused here.
        JsonReport.toJson(snapshot, all);
        return new HtmlReport(snapshot, Collections.unmodifiableMap(all), added);
    }

    /**
     * Adds the distance of a graph's kernels to the limits of their device: for each name the median, lowest and
     * highest of its launches, and a chart of the 40 kernels with the most time. Intensity and rate of a kernel come
     * from {@link org.brickprofiler.graph.ExecutionNode.Kernel}; kernels without them are listed.
     *
     * @param graph the graph in its current state; used by one thread
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
                JsonText.of(json -> PageParts.roofline(graph, launches, peakTflops, bandwidthGBps, json)));
    }

    /**
     * Adds the time of tiles by their place in the grid.
     *
     * @param places the result of {@link org.brickprofiler.tile.TileProfiler#places()}
     * @return a page with it, in place of an earlier one
     */
    public HtmlReport withTiles(List<TileProfiler.Place> places) {
        List<TileProfiler.Place> all = List.copyOf(Objects.requireNonNull(places, "places"));
        return with("tile-places", JsonText.of(json -> PageParts.tilePlaces(all, json)));
    }

    /**
     * Adds the times of kernels. If their work is known, {@link #withKernelRoofline} adds their distance to the roof.
     *
     * @param kernels the result of {@link org.brickprofiler.kernel.KernelTimings#snapshot()}
     * @return a page with it, in place of an earlier one
     */
    public HtmlReport withKernels(List<KernelTiming> kernels) {
        List<KernelTiming> all = List.copyOf(Objects.requireNonNull(kernels, "kernels"));
        return with("kernels", JsonText.of(json -> PageParts.kernels(all, json)));
    }

    /**
     * Adds the comparison of checksums with a reference: whether the pass computed the same values, and the first
     * difference.
     *
     * @param comparison the result of the comparison
     * @return a page with it, in place of an earlier one
     */
    public HtmlReport withChecksums(ChecksumComparison comparison) {
        String text = DivergenceReport.render(Objects.requireNonNull(comparison, "comparison"));
        return with("checksums", JsonText.of(json -> json.writeString(text)));
    }

    /**
     * Names the file of the profile, for the heading of the page and for the commands that its findings propose.
     *
     * @param file the file, or another name by which the user knows the profile
     * @return a page with the name, in place of an earlier one
     * @throws IllegalArgumentException when the name is empty
     */
    public HtmlReport named(String file) {
        requireName("file", file);
        return with("source", JsonText.of(json -> json.writeString(file)));
    }

    /** Returns a page with data of its own, one JSON value, in place of earlier data of the same name. */
    HtmlReport with(String id, String json) {
        SortedMap<String, String> more = new TreeMap<>(added);
        more.put(id, HtmlPage.data(id, json + "\n"));
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
                HtmlReport.class::getResourceAsStream,
                List.of("requests.js", "lines.js", "report.js"),
                TextReport.render(snapshot),
                HtmlPage.data("profile", JsonReport.toJson(snapshot, further))
                        + element("brick-facts", ProfileFields.BRICK::writeFacts)
                        + requests()
                        + String.join("", added.values()));
    }

    /** Returns the elements that belong to requests, empty without requests. */
    private String requests() {
        if (!snapshot.requests().isRecorded()) {
            return "";
        }
        String from = RequestFields.countedFromText(snapshot.requests().countedFrom());
        String causes = element("causes", RequestFields::writeCauses)
                + element("waits", RequestFields::writeWaits)
                + element("waits-text", json -> json.writeString(RequestText.waitsFrom(snapshot.requests())))
                + (snapshot.requests().hasRequests() ? element("requests-from", json -> json.writeString(from)) : "")
                + ServingRates.of(snapshot)
                        .map(rates -> element("serving", rates::write))
                        .orElse("");
        return RequestText.excess(snapshot.requests())
                .map(sentence -> causes + element("request-excess", json -> json.writeString(sentence)))
                .orElse(causes);
    }

    /**
     * Writes the page to a file, as {@link #write(ProfileSnapshot, Path)}.
     *
     * @param path the file; its folder must exist. A pipe or a terminal is written to directly
     * @throws IOException when writing fails; the message names the path and the reason, and an older page is unchanged
     */
    public void write(Path path) throws IOException {
        Objects.requireNonNull(path, "path");
        byte[] page = render().getBytes(UTF_8);
        AtomicFile.write(path, out -> out.write(page));
    }

    private static String element(String id, JsonText.Value value) {
        return HtmlPage.data(id, JsonText.of(value) + "\n");
    }
}
