package org.brickprofiler.trace.read;

import java.util.Map;

/**
 * What rules look at. Immutable.
 *
 * @param name the event's name
 * @param category the event's category, empty without one
 * @param args those arguments that some rule names, as text
 */
record KernelKey(String name, String category, Map<String, String> args) {}
