package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Classes behave the same after the step of the build that generates their lambda expressions. */
@Tag("one-jdk")
final class LinkedClassesTest {

    private static final String PACKAGE = "org.brickprofiler.agent.";

    /** Defines the classes of a table, and delegates all others. */
    private static final class Loader extends ClassLoader {
        private final Map<String, byte[]> classes;

        Loader(Map<String, byte[]> classes) {
            super(LinkedClassesTest.class.getClassLoader());
            this.classes = classes;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            byte[] file = classes.get(name.replace('.', '/'));
            Class<?> loaded = findLoadedClass(name);
            return loaded != null
                    ? loaded
                    : file == null ? super.loadClass(name, resolve) : defineClass(name, file, 0, file.length);
        }
    }

    private static byte[] file(String name) throws IOException {
        try (InputStream in = LinkedClassesTest.class.getResourceAsStream("/" + name + ".class")) {
            return Objects.requireNonNull(in, name).readAllBytes();
        }
    }

    private static Map<String, byte[]> sample() throws IOException {
        Map<String, byte[]> classes = new TreeMap<>();
        for (String each : new String[] {"", "$Point", "$Measured", "$Inner"}) {
            String name = PACKAGE.replace('.', '/') + "LinkedSample" + each;
            classes.put(name, file(name));
        }
        return classes;
    }

    private static Set<String> generatedAtRunTime(byte[] file) {
        Set<String> factories = new HashSet<>();
        new ClassReader(file)
                .accept(
                        new ClassVisitor(Opcodes.ASM9) {
                            @Override
                            public MethodVisitor visitMethod(
                                    int access, String name, String descriptor, String signature, String[] thrown) {
                                return new MethodVisitor(Opcodes.ASM9) {
                                    @Override
                                    public void visitInvokeDynamicInsn(
                                            String method, String type, Handle factory, Object... arguments) {
                                        factories.add(factory.getOwner());
                                    }
                                };
                            }
                        },
                        ClassReader.SKIP_DEBUG);
        return factories;
    }

    @Test
    void doesTheSameWithoutClassesOfRunTime() throws Exception {
        Map<String, byte[]> linked = LinkedClasses.of(sample());
        assertThat(sample().values())
                .anySatisfy(file -> assertThat(generatedAtRunTime(file)).hasSize(2));
        assertThat(linked.values())
                .allSatisfy(file -> assertThat(generatedAtRunTime(file)).isEmpty());

        Object after = new Loader(linked)
                .loadClass(PACKAGE + "LinkedSample")
                .getDeclaredConstructor()
                .newInstance();
        assertThat(((Callable<?>) after).call()).isEqualTo(new LinkedSample().call());
    }
}
