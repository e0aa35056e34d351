/**
 * Reports stops of the virtual machine from the Java Flight Recorder to a timeline of slow steps. Needs the module
 * {@code jdk.jfr}.
 */
@NullMarked
package org.brickprofiler.trace.jfr;

import org.jspecify.annotations.NullMarked;
