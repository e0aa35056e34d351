package org.brickprofiler.metrics.otel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Objects;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.testing.Spec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** OpenTelemetry before 1.50.0, whose data classes have no public factory methods. */
@Spec("20.10")
final class OldReleaseTest {

    private static final String DATA = "io.opentelemetry.sdk.metrics.data.";

    /**
     * Loads the library and OpenTelemetry anew, optionally without the factory methods of OpenTelemetry's data classes.
     */
    private static final class Releases extends ClassLoader {
        private final boolean isOld;

        Releases(boolean isOld) {
            super(OldReleaseTest.class.getClassLoader());
            this.isOld = isOld;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("org.brickprofiler.") && !name.startsWith("io.opentelemetry.")) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded == null ? defined(name) : loaded;
            }
        }

        private Class<?> defined(String name) throws ClassNotFoundException {
            try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                if (in == null) {
                    throw new ClassNotFoundException(name);
                }
                byte[] content = in.readAllBytes();
                byte[] code = isOld && name.startsWith(DATA) ? withoutFactories(content) : content;
                return defineClass(name, code, 0, code.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }

        private static byte[] withoutFactories(byte[] content) {
            ClassWriter writer = new ClassWriter(0);
            new ClassReader(content)
                    .accept(
                            new ClassVisitor(Opcodes.ASM9, writer) {
                                @Override
                                public @Nullable MethodVisitor visitMethod(
                                        int access,
                                        String name,
                                        String descriptor,
                                        @Nullable String signature,
                                        String @Nullable [] exceptions) {
                                    return name.startsWith("create")
                                            ? null
                                            : super.visitMethod(access, name, descriptor, signature, exceptions);
                                }
                            },
                            0);
            return writer.toByteArray();
        }
    }

    private static Object producer(boolean isOld) throws Exception {
        Releases loader = new Releases(isOld);
        Class<?> profiler = loader.loadClass(BrickProfiler.class.getName());
        Method create =
                loader.loadClass(BrickMetricProducer.Factory.class.getName()).getMethod("create", profiler);
        return Objects.requireNonNull(
                create.invoke(null, profiler.getConstructor().newInstance()));
    }

    @Test
    void anOldReleaseIsRefusedByName() {
        assertThatThrownBy(() -> producer(true))
                .isInstanceOf(InvocationTargetException.class)
                .cause()
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith(
                        "metrics of OpenTelemetry need io.opentelemetry:opentelemetry-sdk-metrics 1.50.0 or"
                                + " later; an older one was found");
    }

    @Test
    void theReleaseOfTheBuildIsAccepted() throws Exception {
        assertThat(producer(false).getClass().getName()).isEqualTo(BrickMetricProducer.class.getName());
    }
}
