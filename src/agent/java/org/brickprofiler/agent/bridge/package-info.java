/** What woven code calls; of the bootstrap loader, and without a dependency but the JDK. */
@NullMarked
package org.brickprofiler.agent.bridge;

import org.jspecify.annotations.NullMarked;
