/**
 * Writes windows and the process's profile if a setting asks for them, without any code in the engine. Not for
 * applications.
 */
@NullMarked
package org.brickprofiler.export.setting;

import org.jspecify.annotations.NullMarked;
