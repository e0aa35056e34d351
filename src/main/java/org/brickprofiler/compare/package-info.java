/**
 * Comparison of runs: {@link org.brickprofiler.compare.RunComparison} says which bricks changed between two sets of
 * runs, how sure that is, and which change the runs could have shown. A run is one process. Needs commons-statistics
 * and commons-rng on the class path, which no other package does; what is missing is named by an
 * {@link IllegalStateException}.
 */
@NullMarked
package org.brickprofiler.compare;

import org.jspecify.annotations.NullMarked;
