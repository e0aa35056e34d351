@NullMarked
package org.brickprofiler.device.nvtx;

import org.jspecify.annotations.NullMarked;
