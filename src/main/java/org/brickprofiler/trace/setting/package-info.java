/**
 * Opens the file that the property or the environment variable of {@link org.brickprofiler.internal.record.TraceSetting} names.
 * Found by the service loader; not for applications.
 */
@NullMarked
package org.brickprofiler.trace.setting;

import org.jspecify.annotations.NullMarked;
