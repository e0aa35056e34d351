/**
 * Switches a timeline or lines on without a line of code: the {@link org.brickprofiler.internal.record.SettingAction}
 * of the settings {@code brick.profiler.trace} and {@code brick.profiler.lines}; not for applications.
 */
@NullMarked
package org.brickprofiler.trace.setting;

import org.jspecify.annotations.NullMarked;
