/**
 * Turns marks in the queues of device streams into samples.
 *
 * <h2>Marks</h2>
 *
 * The time of a launch is not the time of the work. Two marks in the stream's queue measure the work by the device's
 * own clock, without a wait for each brick. Waiting for each brick makes a pass several times longer and so changes the
 * measured behaviour. Marks are resolved at boundaries, at which the engine waits anyway.
 *
 * <ul>
 *   <li>An idle device reaches a mark at once. The time that the host then needs to launch the work is part of the
 *       brick, because the device did wait for the launch.
 *   <li>A boundary waits for the last mark of the calling thread, not for the stream. Behind that mark there may be
 *       work for which the application does not want to wait, or a collective whose peer this same thread has not
 *       launched yet.
 *   <li>Readers of results never call the device, because a reader that did could hang together with the device. In
 *       addition, a context may be current on one thread only.
 *   <li>The launch time is read for a random sample of bricks, so that the sampling cannot coincide with a period of
 *       the application. Reading the clock costs about as much as setting marks.
 *   <li>{@code elapsedNs()} sets a mark that {@code recordDeferred} finds by the returned number. One thread matches
 *       the two when samples are resolved, so the hot path searches for nothing. A start from the host's clock has no
 *       place among the marks: unmarked work may lie before it and after it. Such a sample is unresolved instead of
 *       estimated.
 *   <li>A start that the device has reached is a number: the sum of the short intervals since the stream's timeline
 *       began. A brick around a whole generation therefore costs 16 bytes and no mark. A gap in that sum, for example
 *       failed work, ends the timeline and makes its numbers invalid.
 * </ul>
 *
 * <h2>Waiting</h2>
 *
 * The library polls. {@code cuEventSynchronize} and {@code waitUntilCompleted} have no timeout, keep the context
 * current and pin the carrier of a virtual thread. The library therefore polls, parks for 20 µs between two polls, and
 * longer in long waits, and gives up after a timeout. Polling takes a few hundredths of a processor instead of a whole
 * one. It ends up to one pause late, and the relation between the device's clock and the host's is less exact by the
 * same pause. {@code blockingSynchronisation()} uses the driver's own wait, for an application that prefers that wait
 * to the timeout.
 *
 * <h2>Unresolved samples</h2>
 *
 * A sample without a device time is counted and is in no sum. The alternatives (0, the host's time, the length of a
 * timeout) all look like measurements.
 *
 * <h2>The device's clock</h2>
 *
 * The device's clock is related to the host's by two bounds only: no mark is reached before the host set it, and the
 * last mark was reached by the time the host looked. The distance between the bounds is the error, and files state it.
 * Times are measured between consecutive marks and summed: CUDA returns {@code float} milliseconds, which are exact to
 * the nanosecond only for short intervals.
 *
 * <h2>Captured graphs</h2>
 *
 * An engine that replays its decode step as a CUDA graph calls {@code startBrick} once, in the capture. The bricks of a
 * capture are therefore a template, and each launch is a sample of each of them. An event has a time in a graph only if
 * it is an external node. Setting an external node needs a flag that is an error outside of a capture; with an explicit
 * scope around the capture, no other mark has to find out whether a capture is on. The scope also obliges the
 * application to announce launches: each launch records the same events again, so without the announcement nobody knows
 * to which launch a time belongs.
 *
 * <p>The library checks the times of a launch. A launch lies between two ordinary marks, which no graph records; a time
 * outside of them belongs to another launch. If a launch overwrites times while they are read, the steps between the
 * marks no longer add up to the whole. A launch that fails the check is unresolved. So an application that forgets an
 * announcement, confuses two captures or launches ahead of the device loses times, but never gets wrong ones. Rotating
 * events by {@code cuGraphExecEventRecordNodeSetEvent} would keep the times of launches ahead of the device, at the
 * cost of one driver call for each mark before each launch. Capturing the step twice has the same effect at no cost.
 *
 * <p>Only the application returns the marks of a graph to the pool. After a reset of the profiler, or without any
 * reference to it, the graph may still be launched, and two graphs would then record an event that had become another
 * mark. An event that the application never returns outlives the stream.
 *
 * <p>The times of a launch enter the chain of marks as numbers, each as its distance from the mark behind the launch.
 * This mark stands for the launch in everything else: order, pass, gaps. Bricks around a launch, bricks before and
 * behind it, and the totals of the stream are therefore counted like all others. In the host's time, a pass that
 * consists of launches alone is known less exactly: no mark shows when the device began, so the error is as long as the
 * launch.
 */
@NullMarked
package org.brickprofiler.internal.device;

import org.jspecify.annotations.NullMarked;
