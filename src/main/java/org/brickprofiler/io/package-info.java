/** Small tools around bytes: files that are there whole or not at all, and a hash. */
@NullMarked
package org.brickprofiler.io;

import org.jspecify.annotations.NullMarked;
