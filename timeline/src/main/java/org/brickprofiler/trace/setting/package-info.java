/**
 * Switches a timeline on without a line of code: the {@link org.brickprofiler.internal.record.SettingAction} of the
 * setting {@code brick.profiler.trace}; not for applications.
 */
@NullMarked
package org.brickprofiler.trace.setting;

import org.jspecify.annotations.NullMarked;
