package org.brickprofiler.agent;

import java.util.List;

/** A value in a file of rules: the part of YAML that rules use. Immutable; any thread. */
sealed interface RuleNode {

    /** Returns the line of the file at which the value begins, from 1. */
    int line();

    /**
     * A single value.
     *
     * @param line its line
     * @param text its text
     */
    record Scalar(int line, String text) implements RuleNode {}

    /**
     * A list.
     *
     * @param line its line
     * @param values its values
     */
    record Sequence(int line, List<RuleNode> values) implements RuleNode {}

    /**
     * Values by their keys.
     *
     * @param line its line
     * @param entries the entries, in the order of the file
     */
    record Mapping(int line, List<Entry> entries) implements RuleNode {}

    /**
     * An entry of a mapping.
     *
     * @param key the key
     * @param value the value
     */
    record Entry(RuleNode key, RuleNode value) {}
}
