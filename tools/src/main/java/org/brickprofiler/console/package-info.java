/** The terminal and the files to which the programs write. */
@NullMarked
package org.brickprofiler.console;

import org.jspecify.annotations.NullMarked;
