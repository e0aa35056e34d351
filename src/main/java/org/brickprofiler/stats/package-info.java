/** Statistics of durations that fit into fixed memory. */
@NullMarked
package org.brickprofiler.stats;

import org.jspecify.annotations.NullMarked;
