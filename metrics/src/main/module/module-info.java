/** The profile as metrics of a running application; an application adds the library of the metrics that it uses. */
module org.brickprofiler.metrics {
    requires transitive org.brickprofiler;
    requires java.management;
    requires static io.opentelemetry.api;
    requires static io.opentelemetry.context;
    requires static io.opentelemetry.sdk.common;
    requires static io.opentelemetry.sdk.metrics;
    requires static io.prometheus.metrics.config;
    requires static io.prometheus.writer.text;
    requires static io.prometheus.metrics.model;
    requires static micrometer.core;
    requires static micrometer.registry.prometheus;
    requires static org.jspecify;

    exports org.brickprofiler.metrics.jmx;
    exports org.brickprofiler.metrics.micrometer;
    exports org.brickprofiler.metrics.otel;
}
