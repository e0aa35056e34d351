/** Settings: system properties and variables, which exist, and what they need. */
@NullMarked
package org.brickprofiler.internal.setting;

import org.jspecify.annotations.NullMarked;
