/** A profiler in an application of Spring Boot. */
module org.brickprofiler.spring {
    requires transitive org.brickprofiler;
    requires org.brickprofiler.metrics;
    requires spring.boot;
    requires spring.boot.autoconfigure;
    requires spring.context;
    requires static micrometer.core;
    requires static org.jspecify;
    requires static spring.boot.actuator;
    requires static spring.boot.actuator.autoconfigure;

    exports org.brickprofiler.spring;

    opens org.brickprofiler.spring;
}
