/**
 * Common parts of the bridges to metrics systems: one snapshot for the values of one reading, and a limit of the number
 * of series. Not exported.
 *
 * <p>Metrics are pulled, not pushed: a counter of a metrics library costs more than a sample, and several times a clock
 * read if threads share it. Bridges therefore take a snapshot when they are polled. Systems that keep a time series for
 * each combination of labels get a bounded number of series. Names beyond the bound share one series per category,
 * never one for all, so the shares of categories stay exact.
 */
@NullMarked
package org.brickprofiler.metrics;

import org.jspecify.annotations.NullMarked;
