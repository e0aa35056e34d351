package org.brickprofiler.graph;

import java.util.Objects;
import org.brickprofiler.internal.io.Checks;

/**
 * An edge of an {@link ExecutionGraph}. Immutable.
 *
 * @param from the id of the owner or of the earlier node
 * @param to the id of the owned or of the later node
 * @param type the relation
 * @param weight a finite number, 0 or more: bytes for {@link EdgeType#TRANSFER}, otherwise the caller's; 1 by default
 */
public record Edge(int from, int to, EdgeType type, double weight) {

    /** The weight of an edge added without one. */
    public static final double DEFAULT_WEIGHT = 1.0;

    /**
     * Checks the parts that can be checked without a graph.
     *
     * @throws IllegalArgumentException when an id is negative, both are the same, or the weight is negative or not
     *     finite
     */
    public Edge {
        Objects.requireNonNull(type, "type");
        if (from < 0 || to < 0) {
            throw new IllegalArgumentException("edge from node " + from + " to node " + to + ": ids start at 0");
        }
        requireDistinct(from, to, type);
        Checks.requireFinite("weight", weight);
    }

    static void requireDistinct(int from, int to, EdgeType type) {
        if (from == to) {
            throw new IllegalArgumentException(type + " edge from node " + from + " to itself");
        }
    }
}
