/**
 * Timelines of bricks, and their forms: traces, flight recordings, spans. OpenTelemetry and the flight recorder are
 * needed only by those who use them.
 */
module org.brickprofiler.timeline {
    requires transitive org.brickprofiler;
    requires com.fasterxml.jackson.core;
    requires java.management;
    requires static io.opentelemetry.api;
    requires static io.opentelemetry.context;
    requires static io.opentelemetry.sdk.trace;
    requires static java.logging;
    requires static jdk.jfr;
    requires static jdk.management;
    requires static org.jspecify;

    exports org.brickprofiler.jfr;
    exports org.brickprofiler.trace;
    exports org.brickprofiler.trace.jfr;
    exports org.brickprofiler.trace.jfr.internal to
            org.brickprofiler.readers;
    exports org.brickprofiler.trace.otel;
    exports org.brickprofiler.trace.write;

    provides org.brickprofiler.internal.record.SettingAction with
            org.brickprofiler.trace.setting.RecorderSetting;
}
