package org.brickprofiler.metrics.otel;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import java.io.File;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.brickprofiler.testing.SourceTree;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The tests of {@link BrickMetricProducerTest}, with earlier releases of OpenTelemetry: those of Quarkus 3.20 and 3.27
 * (1.44), and of Spring Boot 3.5 (1.49).
 */
@Spec("20.10")
final class EarlierReleasesTest {

    /** The class path of this test, with the classes of another release in place of those of the build. */
    private static URLClassLoader loader(String release) throws Exception {
        List<URL> path = new ArrayList<>();
        try (Stream<Path> jars = Files.list(SourceTree.path("metrics", "target", "opentelemetry", release))) {
            for (Path jar : jars.toList()) {
                path.add(jar.toUri().toURL());
            }
        }
        assertThat(path).as("jars of " + release).hasSizeGreaterThan(4);
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            Path file = Path.of(entry);
            String name = file.getFileName().toString();
            if (!name.startsWith("opentelemetry-") || name.startsWith("opentelemetry-proto")) {
                path.add(file.toUri().toURL());
            }
        }
        return new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.44.1", "1.49.0"})
    void theTestsOfTheBridgePass(String release) throws Exception {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        // Not closed: a thread of the profiler loads classes a second later.
        URLClassLoader loader = loader(release);
        try {
            thread.setContextClassLoader(loader); // The exporter looks up its HTTP client there.
            Class<?> tests = loader.loadClass(BrickMetricProducerTest.class.getName());
            assertThat(loader.loadClass(SdkMeterProvider.class.getName())
                            .getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .getPath())
                    .endsWith("-" + release + ".jar");
            List<Method> methods = Arrays.stream(tests.getDeclaredMethods())
                    .filter(EarlierReleasesTest::isTest)
                    .toList();
            assertThat(methods).hasSizeGreaterThan(5);
            for (Method method : methods) {
                run(tests, method);
            }
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    private static boolean isTest(Method method) {
        return Arrays.stream(method.getAnnotations())
                .anyMatch(each -> each.annotationType().getName().equals(Test.class.getName()));
    }

    private static void run(Class<?> tests, Method method) throws Exception {
        Constructor<?> constructor = tests.getDeclaredConstructor();
        constructor.setAccessible(true);
        Object test = constructor.newInstance();
        try {
            method.setAccessible(true);
            method.invoke(test);
        } catch (InvocationTargetException e) {
            throw new AssertionError(method.getName() + " failed", e.getCause());
        } finally {
            Method stop = tests.getDeclaredMethod("stop");
            stop.setAccessible(true);
            stop.invoke(test);
        }
    }
}
