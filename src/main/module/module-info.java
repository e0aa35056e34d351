/**
 * Profiling of the forward pass of language models. The exported packages are for applications. Libraries that only some packages need are {@code static}; an application that uses such a package adds its library.
 */
module org.brickprofiler {
    requires com.fasterxml.jackson.core;
    requires java.management;
    requires static jdk.jfr;
    requires org.eclipse.collections.api;
    requires org.eclipse.collections.impl;
    requires org.slf4j;
    requires static java.logging;
    requires static org.jspecify;
    requires static com.sun.jna;
    requires static io.opentelemetry.api;
    requires static io.opentelemetry.context;
    requires static io.opentelemetry.sdk.trace;
    requires static io.opentelemetry.sdk.common;
    requires static io.opentelemetry.sdk.metrics;
    requires static jcuda;
    requires static micrometer.core;
    requires static org.apache.commons.csv;
    requires static org.apache.commons.numbers.combinatorics;
    requires static org.apache.commons.rng.api;
    requires static org.apache.commons.rng.sampling;
    requires static org.apache.commons.rng.simple;
    requires static org.apache.commons.statistics.descriptive;
    requires static org.apache.commons.statistics.distribution;

    exports org.brickprofiler;
    exports org.brickprofiler.checksum;
    exports org.brickprofiler.compare;
    exports org.brickprofiler.device;
    exports org.brickprofiler.device.cuda;
    exports org.brickprofiler.device.metal;
    exports org.brickprofiler.device.opencl;
    exports org.brickprofiler.export;
    exports org.brickprofiler.graph;
    exports org.brickprofiler.jfr;
    exports org.brickprofiler.kernel;
    exports org.brickprofiler.metrics.jmx;
    exports org.brickprofiler.metrics.micrometer;
    exports org.brickprofiler.metrics.otel;
    exports org.brickprofiler.report;
    exports org.brickprofiler.request;
    exports org.brickprofiler.roofline;
    exports org.brickprofiler.spi;
    exports org.brickprofiler.stats;
    exports org.brickprofiler.tile;
    exports org.brickprofiler.trace;
    exports org.brickprofiler.trace.jfr;
    exports org.brickprofiler.trace.otel;
    exports org.brickprofiler.trace.write;

    opens org.brickprofiler.device.cuda to
            com.sun.jna;
    opens org.brickprofiler.device.metal to
            com.sun.jna;
    opens org.brickprofiler.device.opencl to
            com.sun.jna;

    uses org.brickprofiler.internal.record.SettingAction;

    provides org.brickprofiler.internal.record.SettingAction with
            org.brickprofiler.export.setting.ProfileOutput,
            org.brickprofiler.export.setting.WindowSetting,
            org.brickprofiler.trace.setting.FileTracing;
}
