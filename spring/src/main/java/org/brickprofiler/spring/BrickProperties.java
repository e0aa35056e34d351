package org.brickprofiler.spring;

import org.brickprofiler.BrickProfilerBuilder;
import org.brickprofiler.RunIdentity;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties {@code brick.*} of the application. What is not set is as the library has it, with its own system
 * properties and environment variables.
 *
 * @param enabled whether the profiler records from the start on
 * @param percentiles whether percentiles are recorded, see {@link BrickProfilerBuilder#percentiles}; null if not set
 * @param stepCpuTimes whether steps record the CPU time of their thread, see {@link BrickProfilerBuilder#stepCpuTimes};
 *     null if not set
 * @param model the name of the model, see {@link RunIdentity#model}; null if not set
 * @param precision the precision of its weights, see {@link RunIdentity#precision}; null if not set
 */
@ConfigurationProperties("brick")
public record BrickProperties(
        @DefaultValue("true") boolean enabled,
        @Nullable Boolean percentiles,
        @Nullable Boolean stepCpuTimes,
        @Nullable String model,
        @Nullable String precision) {

    /** Returns the identity of the run, as far as it is set. */
    RunIdentity identity() {
        RunIdentity.Builder identity = RunIdentity.builder();
        if (model != null) {
            identity.model(model);
        }
        if (precision != null) {
            identity.precision(precision);
        }
        return identity.build();
    }
}
