/**
 * Proposes rules of the agent for an engine: from the names in its classes
 * ({@link org.brickprofiler.agent.suggest.Suggestions}), or from runs
 * ({@link org.brickprofiler.agent.suggest.SuggestionRuns}).
 */
@NullMarked
package org.brickprofiler.agent.suggest;

import org.jspecify.annotations.NullMarked;
