/**
 * Bricks as meters of Micrometer, from which they reach Prometheus and others. It needs Micrometer on the class path.
 */
@NullMarked
package org.brickprofiler.metrics.micrometer;

import org.jspecify.annotations.NullMarked;
