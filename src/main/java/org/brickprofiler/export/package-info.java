/**
 * Writes the profile of a running application to files, one for each window of time or of steps.
 *
 * <p>A window is the difference of two snapshots, not the result of a reset. A reset replaces every thread's table, so
 * recording would allocate anew in each window, and the application's own snapshots would start anew, too. The drawback
 * is that only the extremes since the start are recorded: an extreme that a window did not set anew is derived from its
 * distribution, or is unknown. A minimum and a maximum for each window would cost two more comparisons and stores for
 * each sample.
 *
 * <p>Ranks cannot agree on the number of a window, so the number follows from shared facts: the number of a step, or
 * the wall clock. A window that cannot be written becomes part of the next one, instead of waiting in memory for a disk
 * that may be full for hours.
 */
@NullMarked
package org.brickprofiler.export;

import org.jspecify.annotations.NullMarked;
