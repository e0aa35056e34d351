/**
 * Reports stops of the virtual machine from the Java Flight Recorder to a timeline of slow steps, and why requests
 * waited. Needs the module {@code jdk.jfr}, or {@code jdk.management} for collections alone.
 */
@NullMarked
package org.brickprofiler.trace.jfr;

import org.jspecify.annotations.NullMarked;
