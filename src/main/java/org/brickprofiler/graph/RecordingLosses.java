package org.brickprofiler.graph;

import java.util.List;

/**
 * What a recorder could not keep, or saw to be wrong. Immutable.
 *
 * @param unbalancedScopes the names of scopes that were opened and not closed
 * @param unmatchedPops how often a scope was to be closed where none was open
 * @param droppedNodes nodes past the budget
 * @param droppedDependencies dependencies past the budget
 */
record RecordingLosses(
        List<String> unbalancedScopes, long unmatchedPops, long droppedNodes, long droppedDependencies) {

    static final RecordingLosses NONE = new RecordingLosses(List.of(), 0, 0, 0);

    RecordingLosses {
        unbalancedScopes = List.copyOf(unbalancedScopes);
    }
}
