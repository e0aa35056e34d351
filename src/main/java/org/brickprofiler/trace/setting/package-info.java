/**
 * Switches a timeline on without a line of code: the provider that
 * {@link org.brickprofiler.internal.record.SpanSinkProvider} finds; not for applications.
 */
@NullMarked
package org.brickprofiler.trace.setting;

import org.jspecify.annotations.NullMarked;
