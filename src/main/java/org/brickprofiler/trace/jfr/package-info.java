/**
 * Tells a timeline of slow steps when the virtual machine had stopped, from the Java Flight Recorder. Needs the module
 * {@code jdk.jfr}.
 */
@NullMarked
package org.brickprofiler.trace.jfr;

import org.jspecify.annotations.NullMarked;
