/** Comparisons: of runs with runs, and of profiles with the limits of a machine. */
module org.brickprofiler.analysis {
    requires transitive org.brickprofiler;
    requires com.fasterxml.jackson.core;
    requires org.apache.commons.numbers.combinatorics;
    requires org.apache.commons.rng.api;
    requires org.apache.commons.rng.sampling;
    requires org.apache.commons.rng.simple;
    requires org.apache.commons.statistics.descriptive;
    requires org.apache.commons.statistics.distribution;
    requires static org.jspecify;

    exports org.brickprofiler.compare;
    exports org.brickprofiler.roofline;
}
