package org.brickprofiler.spring;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickProfilerBuilder;
import org.brickprofiler.metrics.micrometer.BrickMetrics;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Adds a profiler to an application, and, if the application has the actuator, its meters and its endpoint. A bean of
 * the application's own replaces each of them.
 */
@AutoConfiguration
@EnableConfigurationProperties(BrickProperties.class)
public class BrickAutoConfiguration {

    /** Made by Spring. */
    public BrickAutoConfiguration() {}

    /** Makes the profiler, and switches it off when the application ends, since a profiler cannot be closed. */
    @Bean(destroyMethod = "disable")
    @ConditionalOnMissingBean
    BrickProfiler brickProfiler(BrickProperties properties) {
        BrickProfilerBuilder builder = BrickProfiler.builder().identity(properties.identity());
        if (properties.percentiles() != null) {
            builder.percentiles(properties.percentiles());
        }
        if (properties.stepCpuTimes() != null) {
            builder.stepCpuTimes(properties.stepCpuTimes());
        }
        BrickProfiler profiler = builder.build();
        if (properties.enabled()) {
            profiler.enable();
        }
        return profiler;
    }

    /** The meters, in an application with Micrometer. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterRegistry.class)
    static class Meters {

        /** Makes the meters, which Spring Boot adds to each registry. */
        @Bean
        @ConditionalOnMissingBean(BrickMetrics.class)
        MeterBinder brickMetrics(BrickProfiler profiler) {
            return BrickMetrics.Factory.create(profiler);
        }
    }

    /** The endpoint, in an application with the actuator. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
    static class Endpoints {

        /** Makes the endpoint. */
        @Bean
        @ConditionalOnAvailableEndpoint
        @ConditionalOnMissingBean
        BrickEndpoint brickEndpoint(BrickProfiler profiler) {
            return new BrickEndpoint(profiler);
        }
    }
}
