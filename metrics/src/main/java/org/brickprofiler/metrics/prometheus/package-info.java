/** The profile in the text formats of Prometheus, for a server of pages of metrics. */
@NullMarked
package org.brickprofiler.metrics.prometheus;

import org.jspecify.annotations.NullMarked;
