/**
 * Bricks and steps as events of the Java Flight Recorder, and profiles of such events. Needs the module {@code jdk.jfr}
 * of the JDK.
 *
 * <p>An event of the flight recorder gets its start time by {@code begin()} alone, before the work; a sample is known
 * only afterwards. Beginning an event with each timer would add an object, and the recorder's clock, to the path of
 * every sample. {@code brick.Execution} is therefore committed at the end and holds its duration. It also holds the
 * reading of the profiler's clock at the end of the brick, since the recorder commits an event later than that. Steps
 * are rare, so {@code brick.Step} is begun before the step, which gives it a place in time; the event is a little
 * longer than the step, whose duration it holds. The library listens to executions only while a recording wants them;
 * the same field also enables the graph.
 */
@NullMarked
package org.brickprofiler.jfr;

import org.jspecify.annotations.NullMarked;
