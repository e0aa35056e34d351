/**
 * Bricks and steps as events of the Java Flight Recorder, and profiles of such events. Needs the module {@code jdk.jfr}
 * of the JDK.
 */
@NullMarked
package org.brickprofiler.jfr;

import org.jspecify.annotations.NullMarked;
