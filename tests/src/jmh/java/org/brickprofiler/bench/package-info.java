/** JMH benchmarks: the cost of recording, beside its floor and beside other tools. */
@NullMarked
package org.brickprofiler.bench;

import org.jspecify.annotations.NullMarked;
