package org.brickprofiler.spring;

import java.util.Objects;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.report.TextReport;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

/**
 * The endpoint {@code brick} of the actuator: the text report of the profile since the start, or since the last reset.
 * As other endpoints, it is served over HTTP if {@code management.endpoints.web.exposure.include} names it. Any thread.
 */
@Endpoint(id = "brick")
public final class BrickEndpoint {

    private final BrickProfiler profiler;

    /**
     * Makes the endpoint.
     *
     * @param profiler the profiler whose profile is reported
     */
    public BrickEndpoint(BrickProfiler profiler) {
        this.profiler = Objects.requireNonNull(profiler, "profiler");
    }

    /**
     * Returns the report; its account is included.
     *
     * @return lines of text
     */
    @ReadOperation(produces = "text/plain;charset=UTF-8")
    public String report() {
        return TextReport.render(profiler.snapshot());
    }
}
