package org.brickprofiler.report;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.brickprofiler.graph.CriticalPath;
import org.brickprofiler.graph.ExecutionGraph;
import org.brickprofiler.graph.ExecutionNode;
import org.brickprofiler.graph.Roofline;
import org.brickprofiler.kernel.KernelTiming;
import org.brickprofiler.report.internal.HtmlPage;
import org.brickprofiler.tile.TileProfiler;

/** Writes the parts of a page beyond a snapshot, as JSON for the page's script. Stateless; any thread. */
final class PageParts {

    /** The most nodes of a graph on a page, counted from the top; with more, the page would no longer open quickly. */
    static final int MOST_NODES = 10_000;

    /** One TFLOP/s in GFLOP/s; the page draws rooflines in both units. */
    private static final double GIGA_PER_TERA = 1e3;

    /** The number that stands for no parent or no layer. */
    private static final int NONE = -1;

    private PageParts() {}

    static void kernels(List<KernelTiming> kernels, JsonGenerator json) throws IOException {
        json.writeStartArray();
        for (KernelTiming kernel : kernels) {
            json.writeStartObject();
            json.writeStringField("name", kernel.name());
            json.writeStringField("backend", kernel.backend().name());
            json.writeNumberField("count", kernel.dispatchCount());
            json.writeNumberField("total_ns", kernel.totalNs());
            json.writeNumberField("min_ns", kernel.minNs());
            json.writeNumberField("max_ns", kernel.maxNs());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    static void roofline(
            ExecutionGraph graph,
            List<Roofline.Distance> launches,
            double peakTflops,
            double bandwidthGBps,
            JsonGenerator json)
            throws IOException {
        Map<String, List<Roofline.Distance>> byName = launches.stream()
                .sorted(Comparator.comparingDouble(Roofline.Distance::distance))
                .collect(Collectors.groupingBy(Roofline.Distance::name, TreeMap::new, Collectors.toList()));
        json.writeStartObject();
        json.writeNumberField("peak_gflops", GIGA_PER_TERA * peakTflops);
        json.writeNumberField("bandwidth_gbps", bandwidthGBps);
        json.writeArrayFieldStart("kernels");
        for (List<Roofline.Distance> kernel : byName.values()) {
            Roofline.Distance median = kernel.get((kernel.size() - 1) / 2);
            json.writeStartObject();
            json.writeStringField("name", median.name());
            json.writeNumberField("count", kernel.size());
            json.writeNumberField(
                    "total_ns",
                    kernel.stream()
                            .mapToLong(
                                    launch -> graph.node(launch.node()).timeNs().orElse(0))
                            .sum());
            json.writeStringField("bound", median.bound().name().toLowerCase(Locale.ROOT));
            json.writeNumberField("gflops", GIGA_PER_TERA * median.achievedTflops());
            json.writeNumberField("arithmetic_intensity", median.intensity());
            json.writeNumberField("distance", median.distance());
            json.writeNumberField("least_distance", kernel.get(0).distance());
            json.writeNumberField("most_distance", kernel.get(kernel.size() - 1).distance());
            json.writeNumberField(
                    "above_roof",
                    kernel.stream().filter(Roofline.Distance::aboveRoof).count());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeArrayFieldStart("unplaced");
        for (String name : Roofline.unplaced(graph).stream()
                .map(node -> graph.node(node).name())
                .collect(Collectors.toCollection(TreeSet::new))) {
            json.writeString(name);
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    static void tilePlaces(List<TileProfiler.Place> places, JsonGenerator json) throws IOException {
        json.writeStartArray();
        for (TileProfiler.Place place : places) {
            json.writeStartObject();
            json.writeStringField("level", place.stats().level().displayName());
            json.writeNumberField("first_row", place.firstRow());
            json.writeNumberField("last_row", place.lastRow());
            json.writeNumberField("first_col", place.firstCol());
            json.writeNumberField("last_col", place.lastCol());
            json.writeNumberField("count", place.stats().count());
            json.writeNumberField("total_ns", place.stats().totalNs());
            json.writeNumberField("max_ns", place.stats().maxNs());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    /** Writes the nodes in columns, each node after its parent; the first column is the index of the parent. */
    static void graph(ExecutionGraph graph, CriticalPath path, JsonGenerator json) throws IOException {
        List<Integer> nodes = fromTheTop(graph);
        Map<Integer, Integer> places = new HashMap<>();
        nodes.forEach(node -> places.put(node, places.size()));
        json.writeStartObject();
        json.writeNumberField("total_ns", path.totalNs());
        json.writeNumberField("left_out", graph.nodeCount() - nodes.size());
        HtmlPage.column(json, "parent", nodes, node -> {
            OptionalInt parent = graph.parent(node);
            json.writeNumber(parent.isPresent() ? places.getOrDefault(parent.getAsInt(), NONE) : NONE);
        });
        HtmlPage.column(json, "name", "names", nodes, node -> graph.node(node).name());
        HtmlPage.column(json, "kind", "kinds", nodes, node -> graph.node(node)
                .getClass()
                .getSimpleName());
        HtmlPage.column(
                json,
                "layer",
                nodes,
                node -> json.writeNumber(graph.node(node) instanceof ExecutionNode.Layer layer ? layer.index() : NONE));
        HtmlPage.column(json, "node_ns", nodes, node -> json.writeNumber(graph.totalNs(node)));
        HtmlPage.column(json, "self_ns", nodes, node -> json.writeNumber(graph.selfNs(node)));
        HtmlPage.column(json, "start_ns", nodes, node -> json.writeNumber(path.earliestStartNs(node)));
        HtmlPage.column(json, "slack_ns", nodes, node -> json.writeNumber(path.slackNs(node)));
        json.writeEndObject();
    }

    /** Returns the nodes depth first, in the order of the tree's text, at most {@link #MOST_NODES}. */
    private static List<Integer> fromTheTop(ExecutionGraph graph) {
        Deque<Integer> open = new ArrayDeque<>();
        for (int node = graph.nodeCount() - 1; node >= 0; node--) {
            if (graph.parent(node).isEmpty()) {
                open.push(node);
            }
        }
        List<Integer> nodes = new ArrayList<>();
        while (!open.isEmpty() && nodes.size() < MOST_NODES) {
            int node = open.pop();
            nodes.add(node);
            List<Integer> children = graph.children(node);
            for (int i = children.size() - 1; i >= 0; i--) {
                open.push(children.get(i));
            }
        }
        return nodes;
    }
}
