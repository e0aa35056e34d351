/**
 * One graph of bricks, kernels and transfers: their nesting, their order and their dependencies. Start at
 * {@link org.brickprofiler.graph.ExecutionGraph}, or at {@link org.brickprofiler.graph.GraphRecorder} to record one.
 *
 * <p>A brick adopts the nodes that its thread recorded since the brick began <i>when the brick stops</i>. Starting a
 * brick therefore costs nothing, and a forgotten stop does not unbalance the graph. Containment is no dependency: the
 * time of a parent includes that of its children, and a path that sums both counts the children twice. Nodes of
 * different threads get no order edge, since it is unknown which thread waited for which.
 */
@NullMarked
package org.brickprofiler.graph;

import org.jspecify.annotations.NullMarked;
