package org.brickprofiler.graph;

import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import org.brickprofiler.internal.base.PlainText;

/**
 * Writes the ownership tree as printable ASCII: a line for each node, children below their parent, indented by depth.
 */
final class TreeWriter {

    private static final int INDENT = 2;

    /** Deeper nodes are not indented further, or the text would grow with the square of the depth. */
    private static final int DEEPEST_INDENT = 32;

    /** Names are padded to at most this width, so that times are aligned. */
    private static final int WIDEST_NAME = 60;

    private static final int DURATION_WIDTH = 9;
    private static final int SHARE_WIDTH = 9;

    private final ExecutionGraph graph;
    private final StringBuilder out = new StringBuilder();

    /** The nodes from top to bottom of the text; {@link #depths} has the depth of each. */
    private final IntList order = new IntList();

    private final IntList depths = new IntList();

    TreeWriter(ExecutionGraph graph) {
        this.graph = graph;
    }

    String write() {
        arrange();
        int nameWidth = nameWidth();
        for (int line = 0; line < order.size(); line++) {
            writeLine(line, nameWidth);
        }
        return out.append(GraphExport.losses(graph)).toString();
    }

    private void arrange() {
        for (int root = 0; root < graph.nodeCount(); root++) {
            if (graph.parent(root).isEmpty()) {
                arrangeFrom(root);
            }
        }
    }

    private void arrangeFrom(int root) {
        IntList open = new IntList();
        IntList openDepths = new IntList();
        open.add(root);
        openDepths.add(0);
        while (!open.isEmpty()) {
            int node = open.removeLast();
            int depth = openDepths.removeLast();
            order.add(node);
            depths.add(depth);
            IntList children = graph.edges().owned(node);
            for (int i = children.size() - 1; i >= 0; i--) {
                open.add(children.get(i));
                openDepths.add(depth + 1);
            }
        }
    }

    private int nameWidth() {
        int widest = 0;
        for (int line = 0; line < order.size(); line++) {
            int width = name(line).length();
            widest = width <= WIDEST_NAME ? Math.max(widest, width) : widest;
        }
        return widest;
    }

    /** Returns the indented name of a line's node. */
    private String name(int line) {
        int depth = depths.get(line);
        String deep = depth > DEEPEST_INDENT ? "[" + depth + "] " : "";
        String name = PlainText.ascii(graph.node(order.get(line)).name());
        return " ".repeat(INDENT * Math.min(depth, DEEPEST_INDENT)) + deep + name;
    }

    private void writeLine(int line, int nameWidth) {
        int id = order.get(line);
        StringBuilder text = new StringBuilder();
        String name = name(line);
        text.append(name).append(" ".repeat(Math.max(0, nameWidth - name.length())));
        text.append("  ").append(right(time(id), DURATION_WIDTH));
        text.append("  ").append(right(share(id), SHARE_WIDTH));
        String details = PlainText.ascii(GraphExport.details(graph.node(id)));
        String thread = thread(id);
        text.append("  ")
                .append(details)
                .append(details.isEmpty() || thread.isEmpty() ? "" : ", ")
                .append(thread);
        out.append(text.toString().stripTrailing()).append('\n');
    }

    /** Returns the thread that recorded a node; empty if the same thread recorded its parent. */
    private String thread(int id) {
        Optional<String> thread = graph.threadName(id);
        OptionalInt parent = graph.parent(id);
        boolean known =
                parent.isPresent() && graph.threadName(parent.getAsInt()).equals(thread);
        return known ? "" : thread.map(name -> "on " + PlainText.ascii(name)).orElse("");
    }

    private String time(int id) {
        return isTimed(id) ? GraphExport.duration(graph.totalNs(id)) : "-";
    }

    private boolean isTimed(int id) {
        return graph.node(id).timeNs().isPresent() || graph.totalNs(id) > 0;
    }

    /**
     * Returns the node's total as a share of its parent's; empty for a root, and if the node or its parent has no time.
     */
    private String share(int id) {
        OptionalInt parent = graph.parent(id);
        long wholeNs = parent.isEmpty() ? 0 : graph.totalNs(parent.getAsInt());
        boolean unknown = wholeNs == 0 || !isTimed(id);
        return unknown ? "" : String.format(Locale.ROOT, "%.1f %%", 100.0 * graph.totalNs(id) / wholeNs);
    }

    private static String right(String text, int width) {
        return " ".repeat(Math.max(0, width - text.length())) + text;
    }
}
