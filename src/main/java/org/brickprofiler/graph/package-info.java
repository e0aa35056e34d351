/**
 * What ran inside what, and what had to wait for what: bricks, kernels, transfers and their order in one graph. Start
 * at {@link org.brickprofiler.graph.ExecutionGraph}, or at {@link org.brickprofiler.graph.GraphRecorder} to record one.
 */
@NullMarked
package org.brickprofiler.graph;

import org.jspecify.annotations.NullMarked;
