/** How the core writes reports without knowing them. */
@NullMarked
package org.brickprofiler.report.setting;

import org.jspecify.annotations.NullMarked;
