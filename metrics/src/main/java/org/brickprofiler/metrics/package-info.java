/**
 * Common parts of the bridges to metrics systems: one snapshot for the values of one reading, and a limit of the number
 * of series. Not exported.
 */
@NullMarked
package org.brickprofiler.metrics;

import org.jspecify.annotations.NullMarked;
