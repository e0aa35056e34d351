package org.brickprofiler.agent;

import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.agent.RuleNode.Entry;
import org.brickprofiler.agent.RuleNode.Mapping;
import org.brickprofiler.agent.RuleNode.Scalar;
import org.brickprofiler.agent.RuleNode.Sequence;

/**
 * The form of the shipped rules in the agent's jar, which {@link AgentJar} makes from their YAML: a line of text for
 * each value, with its kind, its line in the YAML, and its text or the number of its values, which follow. An instance
 * reads one text; one thread.
 */
final class ShippedRules {

    /** How the names of these files end. */
    static final String ENDING = ".rules";

    private static final char SCALAR = 's';
    private static final char SEQUENCE = 'l';
    private static final char MAPPING = 'm';

    private final String text;
    private int at;

    private ShippedRules(String text) {
        this.text = text;
    }

    /** Reads what {@link #write} returned. */
    static RuleNode read(String text) {
        return new ShippedRules(text).node();
    }

    private RuleNode node() {
        char kind = text.charAt(at++);
        int line = Integer.parseInt(upTo(' '));
        String rest = upTo('\n');
        if (kind == SCALAR) {
            return new Scalar(line, rest);
        }
        int count = Integer.parseInt(rest);
        if (kind == SEQUENCE) {
            List<RuleNode> values = new ArrayList<>(count);
            for (int i = 0; i < count; i++) {
                values.add(node());
            }
            return new Sequence(line, values);
        }
        List<Entry> entries = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            entries.add(new Entry(node(), node()));
        }
        return new Mapping(line, entries);
    }

    private String upTo(char end) {
        int from = at;
        int to = text.indexOf(end, from);
        at = to + 1;
        return text.substring(from, to);
    }

    /**
     * Returns rules in this form.
     *
     * @throws IllegalArgumentException when a value has several lines
     */
    static String write(RuleNode root) {
        StringBuilder text = new StringBuilder();
        append(root, text);
        return text.toString();
    }

    private static void append(RuleNode node, StringBuilder text) {
        if (node instanceof Scalar scalar) {
            if (scalar.text().indexOf('\n') >= 0) {
                throw new IllegalArgumentException("line " + scalar.line() + ": a value has several lines");
            }
            text.append(SCALAR)
                    .append(scalar.line())
                    .append(' ')
                    .append(scalar.text())
                    .append('\n');
        } else if (node instanceof Sequence sequence) {
            append(SEQUENCE, node, sequence.values().size(), text);
            sequence.values().forEach(each -> append(each, text));
        } else if (node instanceof Mapping mapping) {
            append(MAPPING, node, mapping.entries().size(), text);
            for (Entry each : mapping.entries()) {
                append(each.key(), text);
                append(each.value(), text);
            }
        }
    }

    private static void append(char kind, RuleNode node, int count, StringBuilder text) {
        text.append(kind).append(node.line()).append(' ').append(count).append('\n');
    }
}
