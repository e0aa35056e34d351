/**
 * Timelines of bricks on threads, devices and streams. {@link org.brickprofiler.trace.TraceRecorder} records a
 * {@link org.brickprofiler.trace.Timeline}; {@code org.brickprofiler.trace.write} writes it to files.
 *
 * <h2>Slow steps</h2>
 *
 * Whether a step is slow is known only when it ends; by then, its spans are in the buffers of several threads. The
 * buffers therefore stay rings, and a chosen step is a window in time. Its spans are copied when sixteen steps wait for
 * their copies, or when a buffer is about to overwrite them. Until then, workers finish, devices resolve their work,
 * and most steps that were briefly among the slowest no longer are. A step that is not chosen costs a few comparisons
 * and the readings of its thread's CPU times. These are read once, for the sums of steps and for the slow steps; they
 * are read at the beginning of a step only if the thread may have lost its processor since its last step.
 *
 * <ul>
 *   <li>The places of a step's time partition the time of its own thread, because only a partition sums to the
 *       duration. Bricks of other threads and of devices get the time in which that thread is in no brick.
 *   <li>The beans of the JDK place a collection only to some tens of milliseconds, since they count from another origin
 *       than the uptime. The difference of their sums at both ends of a step is exact to the millisecond: a pause that
 *       begins in a step ends in it. Collections, like waiting, therefore have an amount, but no place.
 *   <li>The kernel counts run time and waiting time exactly. Their sum falls short of the duration by the time in which
 *       the thread slept or waited for a lock, or the process was stopped; these three cannot be distinguished.
 *   <li>If waiting hits a different brick in each step, no brick's median contains it. Waiting therefore counts as
 *       typical only up to the amount by which the sum of the medians exceeds the median of the time without waiting.
 * </ul>
 */
@NullMarked
package org.brickprofiler.trace;

import org.jspecify.annotations.NullMarked;
