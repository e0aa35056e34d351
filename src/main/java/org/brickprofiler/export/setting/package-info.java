/**
 * Writes windows and the process's profile because a setting asks for it, without engine code; not for applications.
 */
@NullMarked
package org.brickprofiler.export.setting;

import org.jspecify.annotations.NullMarked;
