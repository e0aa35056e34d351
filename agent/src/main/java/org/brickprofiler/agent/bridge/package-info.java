/** The bridge that woven code calls. The bootstrap loader loads it, so it depends on nothing but the JDK. */
@NullMarked
package org.brickprofiler.agent.bridge;

import org.jspecify.annotations.NullMarked;
