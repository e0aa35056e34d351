/**
 * Switches a timeline on without a line of code, for {@link org.brickprofiler.internal.record.TraceSetting}. Found by the service
 * loader; not for applications.
 */
@NullMarked
package org.brickprofiler.trace.setting;

import org.jspecify.annotations.NullMarked;
