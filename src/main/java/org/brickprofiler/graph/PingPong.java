package org.brickprofiler.graph;

/**
 * A transfer and the one that took the same amount back. Immutable.
 *
 * @param there the node id of the first transfer
 * @param back the node id of the transfer in the other direction, larger than {@code there}
 * @param bytes how much each of them moved, bytes
 */
public record PingPong(int there, int back, long bytes) {}
