/** Waiting for a device by asking it, which every binding does in the same way. */
@NullMarked
package org.brickprofiler.device.polling;

import org.jspecify.annotations.NullMarked;
