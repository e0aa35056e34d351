/** A profiler as an MXBean, for JConsole and other clients of JMX. */
@NullMarked
package org.brickprofiler.metrics.jmx;

import org.jspecify.annotations.NullMarked;
