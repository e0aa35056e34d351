package org.brickprofiler.graph;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.brickprofiler.graph.ExecutionNode.AsyncTask;
import org.brickprofiler.graph.ExecutionNode.Brick;
import org.brickprofiler.graph.ExecutionNode.Function;
import org.brickprofiler.graph.ExecutionNode.Kernel;
import org.brickprofiler.graph.ExecutionNode.Layer;
import org.brickprofiler.graph.ExecutionNode.Transfer;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.internal.base.Plural;

/**
 * Writes a graph in Graphviz's DOT language. An outermost layer is a box around all its nodes, at any depth: one row of
 * the picture, steps from left to right. Boxes do not nest, since Graphviz processes nested boxes recursively and a
 * graph may be thousands of scopes deep.
 *
 * <p>The text names every node {@code n<id>}. It omits the ownership edges from a layer to the nodes in its box, except
 * for one: an invisible edge keeps the layer's own symbol to the left of its steps.
 */
final class DotWriter {

    private static final int NONE = ExecutionGraph.NONE;

    private static final String HEAD = """
            digraph execution {
              graph [rankdir=LR, newrank=true, ranksep=0.3, nodesep=0.15, fontname="Helvetica", charset="UTF-8"];
              node [fontname="Helvetica", fontsize=10, style=filled, margin="0.1,0.05"];
              edge [fontname="Helvetica", fontsize=8, color="#555555", arrowsize=0.6];
            """;

    private final ExecutionGraph graph;

    /**
     * For each node, the outermost layer around it, or the node itself if it is an outermost layer;
     * {@link ExecutionGraph#NONE} outside of all layers.
     */
    private final int[] boxes;

    /** The layers whose one invisible edge is already written. */
    private final BitSet linkedBoxes = new BitSet();

    private final StringBuilder out = new StringBuilder();

    DotWriter(ExecutionGraph graph) {
        this.graph = graph;
        this.boxes = boxes(graph);
    }

    private static int[] boxes(ExecutionGraph graph) {
        int[] boxes = new int[graph.nodeCount()];
        for (int root = 0; root < boxes.length; root++) {
            if (graph.parent(root).isEmpty()) {
                markBelow(root, graph, boxes);
            }
        }
        return boxes;
    }

    private static void markBelow(int root, ExecutionGraph graph, int[] boxes) {
        IntList open = new IntList();
        open.add(root);
        while (!open.isEmpty()) {
            int node = open.removeLast();
            int parent = graph.parentOrNone(node);
            int around = parent == NONE ? NONE : boxes[parent];
            boxes[node] = around == NONE && graph.node(node) instanceof Layer ? node : around;
            open.addAll(graph.edges().owned(node));
        }
    }

    String write() {
        out.append(HEAD);
        Map<Integer, IntList> members = membersByBox();
        // In reverse order: Graphviz draws the first one at the bottom.
        for (int node = boxes.length - 1; node >= 0; node--) {
            if (boxes[node] == NONE) {
                writeNode(node, "  ");
            } else if (boxes[node] == node) {
                writeBox(node, Objects.requireNonNull(members.get(node)));
            }
        }
        for (int edge = 0; edge < graph.edgeCount(); edge++) {
            writeEdge(edge);
        }
        return out.append("}\n").toString();
    }

    private Map<Integer, IntList> membersByBox() {
        Map<Integer, IntList> members = new HashMap<>();
        for (int node = 0; node < boxes.length; node++) {
            if (boxes[node] != NONE) {
                members.computeIfAbsent(boxes[node], box -> new IntList()).add(node);
            }
        }
        return members;
    }

    private void writeBox(int layer, IntList members) {
        out.append("  subgraph cluster_").append(layer).append(" {\n");
        out.append("    style=\"rounded,filled\"; color=\"#bbbbbb\"; fillcolor=\"#f7f7f7\";\n");
        members.stream().forEach(node -> writeNode(node, "    "));
        out.append("  }\n");
    }

    private void writeNode(int id, String indent) {
        ExecutionNode node = graph.node(id);
        out.append(indent).append('n').append(id).append(" [label=\"");
        appendEscaped(node.name());
        String details = GraphExport.details(node).replace(", ", "\n");
        if (!details.isEmpty()) {
            out.append("\\n");
            appendEscaped(details);
        }
        if (node.timeNs().isPresent() || graph.totalNs(id) > 0) {
            out.append("\\n").append(GraphExport.duration(node.timeNs().orElse(graph.totalNs(id))));
        }
        out.append("\", ").append(style(node)).append("];\n");
    }

    private static String style(ExecutionNode node) {
        if (node instanceof Brick) {
            return "shape=box, style=\"rounded,filled\", fillcolor=\"#cfe3f5\"";
        }
        if (node instanceof Kernel) {
            return "shape=component, fillcolor=\"#fde3c4\"";
        }
        if (node instanceof Transfer) {
            return "shape=cds, margin=\"0.25,0.15\", fillcolor=\"#d8f0d2\"";
        }
        if (node instanceof Function) {
            return "shape=ellipse, fillcolor=\"#ffffff\"";
        }
        return node instanceof AsyncTask
                ? "shape=octagon, fillcolor=\"#e9dcf3\""
                : "shape=folder, fillcolor=\"#e0e0e0\"";
    }

    private void writeEdge(int edge) {
        EdgeColumns edges = graph.edges();
        int from = edges.from(edge);
        int to = edges.to(edge);
        EdgeType type = edges.type(edge);
        boolean boxed = type.isOwnership() && isBox(from);
        if (boxed) {
            if (linkedBoxes.get(from)) {
                return;
            }
            linkedBoxes.set(from);
        }
        out.append("  n").append(from).append(" -> n").append(to).append(" [");
        out.append(boxed ? "style=invis" : style(type));
        if (type.isOrder() && (isBox(from) || isBox(to))) {
            // Keeps the boxes stacked, instead of in one long row.
            out.append(", constraint=false");
        }
        if (type == EdgeType.TRANSFER) {
            out.append(", label=\"").append(weight(edges.weight(edge))).append('"');
        }
        out.append("];\n");
    }

    private boolean isBox(int node) {
        return boxes[node] == node;
    }

    private static String style(EdgeType type) {
        return switch (type) {
            case CALLS -> "style=solid, arrowhead=vee";
            case CONTAINS -> "style=solid, dir=both, arrowtail=odiamond, arrowhead=none";
            case LAUNCHES -> "style=dashed, color=\"#c46a00\", minlen=0";
            case SEQUENCE -> "style=bold, color=\"#888888\", weight=20"; // heavy edges make straight rows
            case DEPENDS_ON -> "style=dotted, color=\"#b00020\"";
            case TRANSFER -> "style=bold, color=\"#2e7d32\"";
        };
    }

    private static String weight(double bytes) {
        return bytes == Math.rint(bytes) && bytes < Long.MAX_VALUE
                ? Plural.of((long) bytes, "byte")
                : String.format(Locale.ROOT, "%s bytes", bytes);
    }

    /**
     * Escapes text for a quoted label, which Graphviz never reads as HTML. Graphviz interprets quotes, backslashes and
     * XML entities in every label.
     */
    private void appendEscaped(String text) {
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            switch (character) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '&' -> out.append("&amp;");
                case '\n' -> out.append("\\n");
                default -> appendVisible(text, i);
            }
        }
    }

    private void appendVisible(String text, int at) {
        char character = text.charAt(at);
        if (Character.isISOControl(character) || isUnpaired(text, at) || isForbiddenInXml(character)) {
            out.append("\\\\").append(PlainText.escape(character).substring(1));
        } else {
            out.append(character);
        }
    }

    /** Returns whether a character is an unpaired surrogate, which no encoding can represent. */
    private static boolean isUnpaired(String text, int at) {
        char character = text.charAt(at);
        if (Character.isHighSurrogate(character)) {
            return at + 1 == text.length() || !Character.isLowSurrogate(text.charAt(at + 1));
        }
        return Character.isLowSurrogate(character) && (at == 0 || !Character.isHighSurrogate(text.charAt(at - 1)));
    }

    /** Returns whether XML, and so a picture in SVG, forbids a character. */
    private static boolean isForbiddenInXml(char character) {
        return character == '\ufffe' || character == '\uffff';
    }
}
