/**
 * Proposes rules of the agent from the class files of an engine, and from runs of it: its bricks, its steps, its
 * layers. It shares the reading of bytecode with the agent's weaver.
 */
@NullMarked
package org.brickprofiler.agent.suggest;

import org.jspecify.annotations.NullMarked;
