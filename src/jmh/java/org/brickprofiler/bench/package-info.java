/** JMH benchmarks: what recording costs, beside its floor and beside other tools. */
@NullMarked
package org.brickprofiler.bench;

import org.jspecify.annotations.NullMarked;
