/**
 * Bricks and steps as events of the Java Flight Recorder, and profiles of such events. It needs the module
 * {@code jdk.jfr}, which the JDK has.
 */
@NullMarked
package org.brickprofiler.jfr;

import org.jspecify.annotations.NullMarked;
