package org.brickprofiler.internal.setting;

/**
 * An optional dependency: an application adds it only if it uses the part of this library that needs it. The entry
 * points of that part check for it, so that the error names the missing artifact instead of the first missing class.
 * Immutable; any thread.
 */
public enum OptionalPart {

    /** For JSON. */
    JACKSON_CORE("com.fasterxml.jackson.core.JsonFactory", "com.fasterxml.jackson.core:jackson-core"),

    /** For the meters of Micrometer. */
    MICROMETER("io.micrometer.core.instrument.binder.MeterBinder", "io.micrometer:micrometer-core"),

    /** For the metrics of OpenTelemetry. */
    OPENTELEMETRY_METRICS(
            "io.opentelemetry.sdk.metrics.export.MetricProducer", "io.opentelemetry:opentelemetry-sdk-metrics"),

    /** For the spans of OpenTelemetry. */
    OPENTELEMETRY_TRACE("io.opentelemetry.sdk.trace.SpanProcessor", "io.opentelemetry:opentelemetry-sdk-trace");

    private final String className;
    private final String artifact;

    OptionalPart(String className, String artifact) {
        this.className = className;
        this.artifact = artifact;
    }

    /**
     * Requires the artifact.
     *
     * @param user the part that needs it, for the message
     * @throws IllegalStateException when it is missing; the message names it
     */
    public void require(String user) {
        try {
            Class.forName(className, false, OptionalPart.class.getClassLoader());
        } catch (ClassNotFoundException missing) {
            throw new IllegalStateException(
                    user + " needs " + artifact + ", which is neither on the class path nor on the module path: add it",
                    missing);
        }
    }
}
