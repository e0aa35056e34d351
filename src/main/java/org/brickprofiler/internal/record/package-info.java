/**
 * The recording engine, in plain ints and longs: clocks, timers, one table of sums per recording thread, names and
 * keys, and the queue of measurements that wait for a synchronisation. This package has no notion of bricks.
 *
 * <p>These types are public so that the packages above can use them. Applications use {@code org.brickprofiler}.
 */
@NullMarked
package org.brickprofiler.internal.record;

import org.jspecify.annotations.NullMarked;
