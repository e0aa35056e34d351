package org.brickprofiler.graph;

import java.util.List;
import java.util.Objects;

/**
 * Siblings that follow each other only because they were recorded so: sequence edges lead from each to the next, and no
 * dependency or transfer, also by way of other nodes, says that one or what is in it needs another. If they are
 * independent, they could run side by side. Dependencies that nobody recorded are not seen, but those of layers, which are
 * never part of a run. Immutable.
 *
 * @param parent the id of the node they are in
 * @param parentName its name
 * @param nodes their ids in sequence, at least two
 * @param names their names in the same order
 * @param places how many runs have the same names in the same order; the others follow later in the graph
 * @param sumNs the totals of the siblings of all places, ns
 * @param potentialNs what would be saved if each place took as long as its longest sibling, ns; an upper bound for the
 *     sum of places, not for the critical path
 */
public record SequenceRun(
        int parent,
        String parentName,
        List<Integer> nodes,
        List<String> names,
        int places,
        long sumNs,
        long potentialNs) {

    /** Copies the lists. */
    public SequenceRun {
        Objects.requireNonNull(parentName, "parentName");
        Objects.requireNonNull(nodes, "nodes");
        Objects.requireNonNull(names, "names");
        nodes = List.copyOf(nodes);
        names = List.copyOf(names);
    }

    /** Both together. */
    SequenceRun plus(SequenceRun later) {
        return new SequenceRun(
                parent,
                parentName,
                nodes,
                names,
                places + later.places,
                SequenceRuns.saturatedSum(sumNs, later.sumNs),
                SequenceRuns.saturatedSum(potentialNs, later.potentialNs));
    }
}
