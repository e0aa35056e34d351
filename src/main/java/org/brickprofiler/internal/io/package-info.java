/** Files: written completely or not at all, owned by one process, opened with a reason if they cannot be read. */
@NullMarked
package org.brickprofiler.internal.io;

import org.jspecify.annotations.NullMarked;
