package org.brickprofiler.device.metal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.brickprofiler.testing.Fixture;
import org.brickprofiler.testing.NativeLibrary;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** If anything is missing, Metal is not available, with a reason. */
@Spec("12.18")
final class MetalSupportTest {

    private static final String LIBRARY = "brick.profiler.metal.library";

    private final Map<String, String> properties =
            new HashMap<>(Map.of("os.name", "Linux", "os.arch", "amd64", "java.library.path", "/nowhere"));

    @TempDir
    private Path folder;

    private Optional<String> property(String name) {
        return Optional.ofNullable(properties.get(name));
    }

    private String reason() {
        MetalSupport support = MetalSupport.probe(this::property);
        assertThat(support.isAvailable()).isFalse();
        assertThat(support.deviceName()).isEmpty();
        String reason = support.reason().orElseThrow();
        assertThat(support).hasToString("Metal: " + reason);
        return reason;
    }

    @Test
    void looksForNoLibraryWhereTheSystemIsNotMacOs() {
        assertThat(reason()).isEqualTo("not macOS: Linux");
        properties.remove("os.name");
        assertThat(reason()).isEqualTo("not macOS: an unnamed system");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/nowhere", "", ":", "\0"})
    void looksThroughTheLibraryPath(String path) {
        properties.put("os.name", "Mac OS X");
        properties.put("java.library.path", path);
        assertThat(reason())
                .startsWith("no library: ")
                .contains("java.library.path")
                .contains(LIBRARY);
        properties.remove("java.library.path");
        assertThat(reason()).startsWith("no library: ");
    }

    @Test
    void findsTheLibraryInTheLibraryPath() throws IOException {
        Path library = SimulatedMetal.start();
        Files.copy(library, folder.resolve(System.mapLibraryName("brickmetal")));
        properties.put("os.name", "Mac OS X");
        properties.put("java.library.path", "/nowhere:" + folder);

        // A copy is another library: its simulation was not reset, and has no device.
        assertThat(reason()).contains("no Metal device");
        properties.put(LIBRARY, library.toString());
        assertThat(MetalSupport.probe(this::property).isAvailable()).isTrue();
    }

    @Test
    void namesTheFileThatIsNone() {
        properties.put(LIBRARY, folder.resolve("absent.dylib").toString());
        assertThat(reason()).startsWith("no library: ").contains("absent.dylib is no file");
        properties.put(LIBRARY, folder.toString());
        assertThat(reason()).endsWith("is no file");
        properties.put(LIBRARY, "\0");
        assertThat(reason()).endsWith("is no file");
    }

    @Test
    void saysWhyAFileIsNoLibrary() throws IOException {
        Path text = Files.writeString(folder.resolve("libbrickmetal.so"), "not a library", UTF_8);
        properties.put(LIBRARY, text.toString());

        assertThat(reason()).startsWith(text + " cannot be used by this virtual machine (amd64): ");
    }

    @Test
    void saysWhyALibraryIsNotTheShim() throws IOException {
        Path source = Files.createDirectory(folder.resolve("other"));
        Files.writeString(source.resolve("other.c"), "int brick_other(void) { return 0; }\n", UTF_8);
        properties.put(LIBRARY, built("libother.so", source));

        assertThat(reason()).contains("libother.so cannot be used").contains("brick_metal_version");
    }

    @Test
    void refusesAnotherVersionOfTheShim() throws IOException {
        Path source = Files.createDirectory(folder.resolve("later"));
        Files.writeString(source.resolve("later.c"), "int brick_metal_version(void) { return 99; }\n", UTF_8);
        properties.put(LIBRARY, built("liblater.so", source));

        assertThat(reason()).endsWith("is version 99 of the shim, not " + MetalShim.VERSION);
    }

    private static String built(String name, Path source) {
        SimulatedMetal.start();
        return new NativeLibrary(Fixture.METAL, name, "clang", List.of(source), List.of("-shared", "-fPIC"))
                .build()
                .toString();
    }

    @Test
    void asksTheDevice() {
        properties.put(LIBRARY, SimulatedMetal.start().toString());
        MetalSupport support = MetalSupport.probe(this::property);
        assertThat(support.isAvailable()).isTrue();
        assertThat(support.deviceName()).contains(SimulatedMetal.DEVICE);
        assertThat(support.reason()).isEmpty();
        assertThat(support).hasToString("Metal: " + SimulatedMetal.DEVICE);

        SimulatedMetal.devicePresent(0);
        assertThat(reason()).contains("no Metal device");
        SimulatedMetal.fail("MTLCreateSystemDefaultDevice", 1, SimulatedMetal.THROW);
        assertThat(reason()).contains("FakeException");
    }

    @Test
    void looksOnce() {
        SimulatedMetal.start();
        MetalSupport first = MetalSupport.probe();
        SimulatedMetal.devicePresent(0);

        assertThat(first.isAvailable()).isTrue();
        assertThat(MetalSupport.probe()).isSameAs(first);
    }

    @Test
    void needsNoJnaToSayThatItIsMissing() throws Exception {
        Path any = Files.writeString(folder.resolve("any"), "", UTF_8);
        String before = System.setProperty(LIBRARY, any.toString());
        try {
            Class<?> support = new WithoutJna().loadClass(MetalSupport.class.getName());
            Object probed = support.getMethod("probe").invoke(null);
            assertThat(probed.toString()).startsWith("Metal: JNA is not on the class path");
            Class<?> streams = support.getClassLoader().loadClass(MetalStream.class.getName());
            Object builder = streams.getMethod("onDevice").invoke(null);
            try (AutoCloseable stream =
                    (AutoCloseable) builder.getClass().getMethod("open").invoke(builder)) {
                assertThat(streams.getMethod("isUsable").invoke(stream)).isEqualTo(false);
                assertThat(streams.getMethod("failure").invoke(stream).toString())
                        .contains("JNA");
            }
        } finally {
            if (before == null) {
                System.clearProperty(LIBRARY);
            } else {
                System.setProperty(LIBRARY, before);
            }
        }
    }

    /** Defines the classes of this package anew, and knows no JNA. */
    private static final class WithoutJna extends ClassLoader {

        WithoutJna() {
            super(MetalSupportTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.startsWith("com.sun.jna.")) {
                throw new ClassNotFoundException(name);
            }
            if (!name.startsWith(MetalSupport.class.getPackageName() + ".")) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                return known == null ? define(name) : known;
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            try (InputStream file = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                if (file == null) {
                    throw new ClassNotFoundException(name);
                }
                byte[] bytes = file.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }
}
