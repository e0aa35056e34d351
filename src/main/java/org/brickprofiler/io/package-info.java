/** Files that are there whole or not at all. */
@NullMarked
package org.brickprofiler.io;

import org.jspecify.annotations.NullMarked;
