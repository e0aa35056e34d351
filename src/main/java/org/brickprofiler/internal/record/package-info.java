/**
 * The recording engine, in plain ints and longs: timers, one table of sums per recording thread, names and keys, layers
 * and phases, timelines, and the queue of measurements that wait for a synchronisation. This package does not depend on
 * the public types of bricks; it knows a brick by its name and key.
 *
 * <p>These types are public so that the packages above can use them. Applications use {@code org.brickprofiler}.
 */
@NullMarked
package org.brickprofiler.internal.record;

import org.jspecify.annotations.NullMarked;
