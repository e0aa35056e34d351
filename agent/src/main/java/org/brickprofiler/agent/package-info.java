/**
 * The agent: times an engine without changes to its source. Rules map methods, or parts of methods, to bricks. The JVM
 * starts {@link org.brickprofiler.agent.Premain}; a separate class loader holds all other classes, with the library and
 * its dependencies.
 */
@NullMarked
package org.brickprofiler.agent;

import org.jspecify.annotations.NullMarked;
