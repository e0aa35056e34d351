/**
 * Common parts of the bridges to metrics systems: one snapshot for the readings that belong together, and a bound on
 * the number of series. Not exported.
 */
@NullMarked
package org.brickprofiler.metrics;

import org.jspecify.annotations.NullMarked;
