package org.brickprofiler.trace;

import java.util.OptionalInt;

/**
 * What a user says about the process.
 *
 * @param name its name
 * @param rank which process of a distributed run it is
 * @param worldSize how many processes there are
 */
record TraceProcess(String name, OptionalInt rank, int worldSize) {}
