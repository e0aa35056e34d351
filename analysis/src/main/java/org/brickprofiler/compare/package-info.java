/**
 * Comparison of runs: {@link org.brickprofiler.compare.RunComparison} determines the bricks that changed between two
 * sets of runs, the confidence of that verdict, and the smallest change that the runs could have shown. A run is one
 * process. Needs commons-statistics and commons-rng on the class path, which no other package needs; an
 * {@link IllegalStateException} names a missing library.
 */
@NullMarked
package org.brickprofiler.compare;

import org.jspecify.annotations.NullMarked;
