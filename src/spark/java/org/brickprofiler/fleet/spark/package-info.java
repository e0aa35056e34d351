/** Questions to a fleet, answered by Apache Spark. */
@NullMarked
package org.brickprofiler.fleet.spark;

import org.jspecify.annotations.NullMarked;
