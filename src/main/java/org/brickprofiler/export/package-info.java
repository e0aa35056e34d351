/** Writes the profile of a running application to files, one for each window of time or of steps. */
@NullMarked
package org.brickprofiler.export;

import org.jspecify.annotations.NullMarked;
