package org.brickprofiler.agent;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.module.ModuleReader;
import java.lang.module.ResolvedModule;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.tree.ClassNode;

/** Finds class files without loading a class, and what ASM does not read out of them. Stateless; any thread. */
final class ClassFiles {

    private static final String SUFFIX = ".class";

    private ClassFiles() {}

    /**
     * A class file.
     *
     * @param loader the loader that would load the class; null for that of the JDK
     * @param name the internal name, with slashes
     * @return null where that loader knows none
     */
    static byte @Nullable [] find(@Nullable ClassLoader loader, String name) {
        try (InputStream file = loader == null
                ? ClassLoader.getSystemResourceAsStream(name + SUFFIX)
                : loader.getResourceAsStream(name + SUFFIX)) {
            return file == null ? null : file.readAllBytes();
        } catch (IOException unreadable) {
            return null;
        }
    }

    /**
     * What a class consists of, without its code.
     *
     * @param loader the loader that would load the class; null for that of the JDK
     * @param name the internal name, with slashes
     * @return null where that loader knows none
     */
    static @Nullable ClassNode outline(@Nullable ClassLoader loader, String name) {
        byte[] file = find(loader, name);
        if (file == null) {
            return null;
        }
        ClassNode type = new ClassNode();
        new ClassReader(file).accept(type, ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG);
        return type;
    }

    /**
     * The binary names of all classes of the application, on its class path and in its modules; those that can be read.
     */
    static Stream<String> names() {
        List<String> names = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path", "").split(File.pathSeparator, -1)) {
            Path path = Path.of(entry);
            try {
                addNames(path, names);
            } catch (IOException | UncheckedIOException unreadable) {
                // The virtual machine passes over it, too.
            }
        }
        for (ResolvedModule module : ModuleLayer.boot().configuration().modules()) {
            if (module.reference()
                    .location()
                    .filter(at -> at.getScheme().equals("jrt"))
                    .isEmpty()) {
                try (ModuleReader reader = module.reference().open()) {
                    reader.list().forEach(entry -> add(entry, names));
                } catch (IOException unreadable) {
                    // As above.
                }
            }
        }
        return names.stream();
    }

    private static void addNames(Path path, List<String> names) throws IOException {
        if (Files.isDirectory(path)) {
            try (Stream<Path> files = Files.walk(path)) {
                files.forEach(file -> add(path.relativize(file).toString().replace(File.separatorChar, '/'), names));
            }
        } else if (Files.isRegularFile(path)) {
            try (JarFile jar = new JarFile(path.toFile())) {
                jar.stream().map(ZipEntry::getName).forEach(entry -> add(entry, names));
            }
        }
    }

    private static void add(String entry, List<String> names) {
        if (entry.endsWith(SUFFIX) && !entry.startsWith("META-INF/") && !entry.endsWith("-info.class")) {
            names.add(entry.substring(0, entry.length() - SUFFIX.length()).replace('/', '.'));
        }
    }

    /**
     * The class files of a class path.
     *
     * @param classPath jars and folders, separated as the machine's Java has it; {@code FOLDER/*} are all jars of a
     *     folder
     * @throws IOException when one of them cannot be read, or has no classes
     */
    static List<byte[]> of(String classPath) throws IOException {
        List<byte[]> files = new ArrayList<>();
        for (String entry : classPath.split(File.pathSeparator, -1)) {
            if (entry.endsWith("*")) {
                try (Stream<Path> jars = Files.list(Path.of(entry.substring(0, entry.length() - 1)))) {
                    for (Path jar : jars.filter(each -> each.toString().endsWith(".jar"))
                            .sorted()
                            .toList()) {
                        files.addAll(of(jar));
                    }
                }
            } else if (!entry.isEmpty()) {
                files.addAll(of(Path.of(entry)));
            }
        }
        return files;
    }

    private static List<byte[]> of(Path path) throws IOException {
        List<String> names = new ArrayList<>();
        addNames(path, names);
        List<byte[]> files = new ArrayList<>();
        if (Files.isDirectory(path)) {
            for (String name : names) {
                files.add(Files.readAllBytes(path.resolve(name.replace('.', '/') + SUFFIX)));
            }
        } else if (names.isEmpty()) {
            throw new IOException("there are no classes in " + path);
        } else {
            try (JarFile jar = new JarFile(path.toFile())) {
                for (String name : names) {
                    try (InputStream file = jar.getInputStream(jar.getEntry(name.replace('.', '/') + SUFFIX))) {
                        files.add(file.readAllBytes());
                    }
                }
            }
        }
        return files;
    }

    /**
     * How many bytes of bytecode each method has, by name and descriptor; what HotSpot's limits are about. As JVMS
     * 4.7.3 lays out a method's code.
     */
    static Map<String, Integer> codeSizes(ClassReader file) {
        Map<String, Integer> sizes = new HashMap<>();
        char[] buffer = new char[file.getMaxStringLength()];
        int at = file.header + 6;
        at += 2 + 2 * file.readUnsignedShort(at);
        int fields = file.readUnsignedShort(at);
        at += 2;
        for (int i = 0; i < fields; i++) {
            at = skipAttributes(file, at + 6);
        }
        int methods = file.readUnsignedShort(at);
        at += 2;
        for (int i = 0; i < methods; i++) {
            String key = file.readUTF8(at + 2, buffer) + file.readUTF8(at + 4, buffer);
            int attributes = file.readUnsignedShort(at + 6);
            at += 8;
            for (int j = 0; j < attributes; j++) {
                if ("Code".equals(file.readUTF8(at, buffer))) {
                    sizes.put(key, file.readInt(at + 10));
                }
                at += 6 + file.readInt(at + 2);
            }
        }
        return sizes;
    }

    private static int skipAttributes(ClassReader file, int countAt) {
        int at = countAt + 2;
        for (int count = file.readUnsignedShort(countAt); count > 0; count--) {
            at += 6 + file.readInt(at + 2);
        }
        return at;
    }
}
