/** Turns marks in the queues of device streams into samples. */
@NullMarked
package org.brickprofiler.internal.device;

import org.jspecify.annotations.NullMarked;
