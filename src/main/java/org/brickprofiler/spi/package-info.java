/** What an application may give to a profiler: the clock that it reads, and what takes its spans. */
@NullMarked
package org.brickprofiler.spi;

import org.jspecify.annotations.NullMarked;
