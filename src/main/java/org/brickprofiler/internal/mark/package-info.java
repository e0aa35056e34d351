/** Marks of device streams, as the bindings of devices and the recorder share them. */
@NullMarked
package org.brickprofiler.internal.mark;

import org.jspecify.annotations.NullMarked;
