/**
 * Traces of other programs as profiles: {@link org.brickprofiler.trace.read.TraceReader} reads Chrome trace JSON, such
 * as PyTorch's Kineto writes it, {@link org.brickprofiler.trace.read.TraceRules} says which kernels are which bricks,
 * and {@link org.brickprofiler.trace.read.TraceText} prints what was counted and what was not. Needs jackson-core on
 * the class path.
 */
@NullMarked
package org.brickprofiler.trace.read;

import org.jspecify.annotations.NullMarked;
