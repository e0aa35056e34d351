/** Times the bricks of a language model's forward pass. Start at {@link org.brickprofiler.BrickProfiler}. */
@NullMarked
package org.brickprofiler;

import org.jspecify.annotations.NullMarked;
