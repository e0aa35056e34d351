/** Small tools around bytes: files that are there whole or not at all, a hash, and text that stays on its line. */
@NullMarked
package org.brickprofiler.io;

import org.jspecify.annotations.NullMarked;
