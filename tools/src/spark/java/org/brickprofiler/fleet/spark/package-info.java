/** An engine that executes the queries of a fleet with Apache Spark. */
@NullMarked
package org.brickprofiler.fleet.spark;

import org.jspecify.annotations.NullMarked;
