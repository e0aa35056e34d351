/** The bridge that woven code calls; loaded by the bootstrap loader, and without a dependency but the JDK. */
@NullMarked
package org.brickprofiler.agent.bridge;

import org.jspecify.annotations.NullMarked;
