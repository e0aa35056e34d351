/**
 * Comparison of runs: {@link org.brickprofiler.compare.RunComparison} determines the bricks that changed between two
 * sets of runs, the confidence of that verdict, and the smallest change that the runs could have shown. A run is one
 * process.
 */
@NullMarked
package org.brickprofiler.compare;

import org.jspecify.annotations.NullMarked;
