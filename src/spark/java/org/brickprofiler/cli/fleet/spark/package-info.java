/** Questions to a fleet, answered by Apache Spark. */
@NullMarked
package org.brickprofiler.cli.fleet.spark;

import org.jspecify.annotations.NullMarked;
