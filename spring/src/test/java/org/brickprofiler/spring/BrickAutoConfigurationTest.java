package org.brickprofiler.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.RunIdentity;
import org.brickprofiler.metrics.micrometer.BrickMetrics;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class BrickAutoConfigurationTest {

    private static final String EXPOSED = "management.endpoints.web.exposure.include=brick";

    private final ApplicationContextRunner application =
            new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(BrickAutoConfiguration.class));

    @Test
    void theProfilerIsOnUntilTheApplicationEnds() {
        BrickProfiler[] made = new BrickProfiler[1];
        application.run(context -> {
            made[0] = context.getBean(BrickProfiler.class);
            assertThat(made[0].isEnabled()).isTrue();
            assertThat(context).hasSingleBean(BrickMetrics.class).doesNotHaveBean(BrickEndpoint.class);
        });
        assertThat(made[0].isEnabled()).isFalse();
    }

    @Test
    void propertiesSetItsOptions() {
        application
                .withPropertyValues(
                        "brick.percentiles=true", "brick.step-cpu-times=true", "brick.model=m", "brick.precision=q8")
                .run(context -> {
                    BrickProfiler profiler = context.getBean(BrickProfiler.class);
                    profiler.stopBrick(profiler.startBrick(BrickId.RMS_NORM), 1);
                    BrickStats norm = profiler.brickStats(BrickId.RMS_NORM);
                    assertThat(norm.latency()).isPresent();
                    RunIdentity identity = profiler.snapshot().identity();
                    assertThat(identity.model()).contains("m");
                    assertThat(identity.precision()).contains("q8");
                });
    }

    @Test
    void aValueThatIsNoneIsRefusedByName() {
        application
                .withPropertyValues("brick.percentiles=perhaps")
                .run(context -> assertThat(context).getFailure().rootCause().hasMessageContaining("perhaps"));
    }

    @Test
    void beansOfTheApplicationReplaceThem() {
        BrickProfiler own = BrickProfiler.builder().build();
        application
                .withPropertyValues(EXPOSED)
                .withBean(BrickProfiler.class, () -> own)
                .run(context -> {
                    assertThat(context).hasSingleBean(BrickMetrics.class).hasSingleBean(BrickEndpoint.class);
                    assertThat(context.getBean(BrickProfiler.class)).isSameAs(own);
                    assertThat(own.isEnabled()).isFalse();
                });
    }

    @Test
    void withoutActuatorAndMicrometerThereIsAProfiler() {
        application
                .withClassLoader(new FilteredClassLoader(Endpoint.class, MeterRegistry.class))
                .run(context ->
                        assertThat(context).hasSingleBean(BrickProfiler.class).doesNotHaveBean("brickMetrics"));
        application
                .withClassLoader(new FilteredClassLoader("org.springframework.boot.actuate", "io.micrometer"))
                .run(context -> assertThat(context)
                        .hasSingleBean(BrickProfiler.class)
                        .doesNotHaveBean("brickMetrics")
                        .doesNotHaveBean("brickEndpoint"));
    }
}
