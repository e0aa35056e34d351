/** Runs the stress tests, and checks that their weakened controls fail. */
@NullMarked
package org.brickprofiler.stress;

import org.jspecify.annotations.NullMarked;
