/**
 * The agent: times an engine whose source nobody touches, by rules that say which methods, and which parts of them, are
 * which bricks. {@link org.brickprofiler.agent.Premain} is what a virtual machine starts; all else lies in a loader of
 * its own, with the library and what it needs.
 */
@NullMarked
package org.brickprofiler.agent;

import org.jspecify.annotations.NullMarked;
