/**
 * Profiling of the forward pass of language models: records, and reports what was recorded. The exported packages are
 * for applications; packages that are exported to named modules are for the other projects here.
 */
module org.brickprofiler {
    requires com.fasterxml.jackson.core;
    requires java.management;
    requires static org.jspecify;

    exports org.brickprofiler;
    exports org.brickprofiler.checksum;
    exports org.brickprofiler.device;
    exports org.brickprofiler.export;
    exports org.brickprofiler.graph;
    exports org.brickprofiler.kernel;
    exports org.brickprofiler.report;
    exports org.brickprofiler.request;
    exports org.brickprofiler.spi;
    exports org.brickprofiler.stats;
    exports org.brickprofiler.tile;
    exports org.brickprofiler.internal.access to
            org.brickprofiler.metrics;
    exports org.brickprofiler.internal.base to
            org.brickprofiler.analysis,
            org.brickprofiler.gpu,
            org.brickprofiler.metrics,
            org.brickprofiler.readers,
            org.brickprofiler.timeline;
    exports org.brickprofiler.internal.io to
            org.brickprofiler.analysis,
            org.brickprofiler.gpu,
            org.brickprofiler.readers,
            org.brickprofiler.timeline;
    exports org.brickprofiler.internal.mark to
            org.brickprofiler.gpu;
    exports org.brickprofiler.internal.record to
            org.brickprofiler.gpu,
            org.brickprofiler.metrics,
            org.brickprofiler.readers,
            org.brickprofiler.timeline;
    exports org.brickprofiler.internal.setting to
            org.brickprofiler.gpu,
            org.brickprofiler.metrics,
            org.brickprofiler.timeline;
    exports org.brickprofiler.report.internal to
            org.brickprofiler.analysis,
            org.brickprofiler.metrics,
            org.brickprofiler.readers,
            org.brickprofiler.timeline;

    uses org.brickprofiler.internal.record.SettingAction;

    provides org.brickprofiler.internal.record.SettingAction with
            org.brickprofiler.export.setting.ProfileOutput,
            org.brickprofiler.export.setting.WindowSetting;
}
