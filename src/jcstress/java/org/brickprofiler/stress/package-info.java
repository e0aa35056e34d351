/** What runs the stress tests, and checks that they could have failed. */
@NullMarked
package org.brickprofiler.stress;

import org.jspecify.annotations.NullMarked;
