/** The stacks of samples as the flight recorder states them. It is not exported but to readers. */
@NullMarked
package org.brickprofiler.trace.jfr.internal;

import org.jspecify.annotations.NullMarked;
