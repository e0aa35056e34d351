/**
 * A profiler in an application of Spring Boot: {@link org.brickprofiler.BrickProfiler} is a bean, its meters are in the
 * application's registry, and {@code /actuator/brick} returns its report.
 */
@NullMarked
package org.brickprofiler.spring;

import org.jspecify.annotations.NullMarked;
