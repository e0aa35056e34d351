/** What the packages of timelines share. It is not exported. */
@NullMarked
package org.brickprofiler.trace.internal;

import org.jspecify.annotations.NullMarked;
