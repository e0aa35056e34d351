/** Interfaces that an application may pass to a profiler: its clock and the receiver of its spans. */
@NullMarked
package org.brickprofiler.spi;

import org.jspecify.annotations.NullMarked;
