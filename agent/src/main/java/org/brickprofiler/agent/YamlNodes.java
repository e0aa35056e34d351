package org.brickprofiler.agent;

import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.agent.RuleNode.Entry;
import org.brickprofiler.agent.RuleNode.Mapping;
import org.brickprofiler.agent.RuleNode.Scalar;
import org.brickprofiler.agent.RuleNode.Sequence;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/**
 * Reads YAML. Nothing else in the agent uses the parser, so that it is loaded only for a file of the user. Stateless.
 */
final class YamlNodes {

    private YamlNodes() {}

    /**
     * Reads a text.
     *
     * @param source the name of the file in messages
     * @throws IllegalArgumentException when the text is empty or not YAML; the message names the line
     */
    static RuleNode parse(String source, String text) {
        try {
            LoadSettings settings = LoadSettings.builder().setLabel(source).build();
            return of(new Compose(settings)
                    .composeString(text)
                    .orElseThrow(() -> new IllegalArgumentException(source + ": there are no rules in it")));
        } catch (MarkedYamlEngineException malformed) {
            int line =
                    malformed.getProblemMark().map(mark -> mark.getLine() + 1).orElse(0);
            throw new IllegalArgumentException(source + ":" + line + ": " + malformed.getProblem(), malformed);
        } catch (YamlEngineException malformed) {
            throw new IllegalArgumentException(source + ": " + malformed.getMessage(), malformed);
        }
    }

    private static RuleNode of(Node node) {
        int line = node.getStartMark().map(mark -> mark.getLine() + 1).orElse(0);
        if (node instanceof ScalarNode scalar) {
            return new Scalar(line, scalar.getValue().strip());
        }
        if (node instanceof SequenceNode sequence) {
            List<RuleNode> values = new ArrayList<>();
            sequence.getValue().forEach(each -> values.add(of(each)));
            return new Sequence(line, List.copyOf(values));
        }
        List<Entry> entries = new ArrayList<>();
        for (NodeTuple each : ((MappingNode) node).getValue()) {
            entries.add(new Entry(of(each.getKeyNode()), of(each.getValueNode())));
        }
        return new Mapping(line, List.copyOf(entries));
    }
}
