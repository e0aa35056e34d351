/** Readers of profiles and traces of other tools. Databases are opened through java.sql, if a driver is there. */
module org.brickprofiler.readers {
    requires transitive org.brickprofiler.timeline;
    requires com.fasterxml.jackson.core;
    requires java.sql;
    requires org.apache.commons.csv;
    requires org.eclipse.collections.api;
    requires org.eclipse.collections.impl;
    requires static jdk.jfr;
    requires static org.jspecify;

    exports org.brickprofiler.trace.read;
}
