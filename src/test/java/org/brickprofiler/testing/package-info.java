/** Fixtures that tests of any package share and that know nothing of the library. */
@NullMarked
package org.brickprofiler.testing;

import org.jspecify.annotations.NullMarked;
