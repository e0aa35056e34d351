/**
 * One graph of bricks, kernels and transfers: their nesting, their order and their dependencies. Start at
 * {@link org.brickprofiler.graph.ExecutionGraph}, or at {@link org.brickprofiler.graph.GraphRecorder} to record one.
 */
@NullMarked
package org.brickprofiler.graph;

import org.jspecify.annotations.NullMarked;
