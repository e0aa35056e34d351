package org.brickprofiler.graph;

import java.util.Objects;

/**
 * What one name has to do with the critical path. Immutable.
 *
 * @param name the name
 * @param nodes how many nodes of it the path goes through
 * @param onPathNs how much of the path they make up, ns
 * @param pathNs the length of the whole path, ns
 * @param pathWithoutNs the length of the longest path if all nodes of the name, and everything in them, took no time,
 *     ns
 */
public record NameOnPath(String name, int nodes, long onPathNs, long pathNs, long pathWithoutNs) {

    /**
     * Refuses null.
     *
     * @throws NullPointerException when a component is null; the message names it
     */
    public NameOnPath {
        Objects.requireNonNull(name, "name");
    }

    /**
     * The most that the whole can gain from this name (Amdahl, "Validity of the single processor approach to achieving
     * large scale computing capabilities", 1967): other paths remain.
     *
     * @return ns, 0 or more
     */
    public long gainNs() {
        return pathNs - pathWithoutNs;
    }

    /**
     * The share of the path.
     *
     * @return percent of the path's length; 0 for a path without length
     */
    public double percentOfPath() {
        return pathNs == 0 ? 0.0 : 100.0 * onPathNs / pathNs;
    }
}
