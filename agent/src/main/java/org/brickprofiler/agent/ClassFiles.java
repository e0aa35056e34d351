package org.brickprofiler.agent;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.module.ModuleReader;
import java.lang.module.ResolvedModule;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.brickprofiler.internal.io.AtomicFile;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.tree.ClassNode;

/**
 * Finds class files without loading classes, and reads the code sizes that ASM does not offer. Stateless; any thread.
 */
public final class ClassFiles {

    private static final String SUFFIX = ".class";

    private ClassFiles() {}

    /** A class file, perhaps damaged. */
    public static final class ClassFile {
        private final String place;
        private final byte[] bytes;

        /**
         * Creates a class file.
         *
         * @param place where it was found, for messages
         * @param bytes its content
         */
        public ClassFile(String place, byte[] bytes) {
            this.place = place;
            this.bytes = bytes;
        }

        /**
         * Returns where it was found.
         *
         * @return a path, for messages
         */
        public String place() {
            return place;
        }

        /**
         * Returns its content.
         *
         * @return the bytes themselves, not to be changed
         */
        public byte[] bytes() {
            return bytes;
        }
    }

    /**
     * Returns a class file.
     *
     * @param loader the loader that would load the class; null for that of the JDK
     * @param name the internal name, with slashes
     * @return the class file; null if that loader finds none
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
     * Returns the structure of a class, without its code.
     *
     * @param loader the loader that would load the class; null for that of the JDK
     * @param name the internal name, with slashes
     * @return the class; null if that loader finds none
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
     * Returns which classes the application has. Searches the class path itself, since the loader of the application
     * first searches each module of the JDK.
     *
     * @param names internal names, with slashes
     * @return those for which there is a class file
     */
    static Set<String> present(Collection<String> names) {
        Set<String> present = new HashSet<>();
        try (URLClassLoader path = new URLClassLoader(urlsOfClassPath(), null)) {
            boolean hasModules = System.getProperty("jdk.module.path") != null;
            for (String name : names) {
                String file = name + SUFFIX;
                if ((hasModules ? ClassLoader.getSystemResource(file) : path.findResource(file)) != null) {
                    present.add(name);
                }
            }
        } catch (IOException unreadable) {
            // The JVM ignores an unreadable entry of the class path, too.
        }
        return present;
    }

    private static URL[] urlsOfClassPath() throws IOException {
        List<URL> urls = new ArrayList<>();
        for (String entry : classPath()) {
            urls.add(new File(entry).toURI().toURL());
        }
        return urls.toArray(URL[]::new);
    }

    private static String[] classPath() {
        return System.getProperty("java.class.path", "").split(File.pathSeparator, -1);
    }

    /**
     * Returns the binary names of the application's classes on the class path and in its modules, without entries that
     * cannot be read.
     */
    static Stream<String> names() {
        List<String> names = new ArrayList<>();
        for (String entry : classPath()) {
            Path path = Path.of(entry);
            try {
                addNames(path, names);
            } catch (IOException | UncheckedIOException unreadable) {
                // The JVM ignores an unreadable entry of the class path, too.
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
                    // The JVM ignores an unreadable module, too.
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
     * Returns the class files of a class path.
     *
     * @param classPath jars and folders, separated by {@link java.io.File#pathSeparator}; {@code FOLDER/*} stands for
     *     all jars in a folder, of which those without classes are left out
     * @param leftOut accepts the places of files that cannot be read, each with the reason: entries of a jar, files in
     *     a folder, and jars that only {@code FOLDER/*} names
     * @return the class files, in the order of the class path
     * @throws IOException when a jar or folder cannot be read or has no classes
     */
    public static List<ClassFile> of(String classPath, Consumer<String> leftOut) throws IOException {
        List<ClassFile> files = new ArrayList<>();
        for (String entry : classPath.split(File.pathSeparator, -1)) {
            if (entry.endsWith("*")) {
                try (Stream<Path> jars = Files.list(Path.of(entry.substring(0, entry.length() - 1)))) {
                    for (Path jar : jars.filter(each -> each.toString().endsWith(".jar"))
                            .sorted()
                            .toList()) {
                        try {
                            List<String> names = names(jar);
                            if (!names.isEmpty()) {
                                files.addAll(of(jar, names, leftOut));
                            }
                        } catch (IOException damaged) {
                            leftOut.accept(jar + ": " + AtomicFile.reason(damaged));
                        }
                    }
                }
            } else if (!entry.isEmpty()) {
                Path path = Path.of(entry);
                List<String> names = names(path);
                if (names.isEmpty() && !Files.isDirectory(path)) {
                    throw new IOException("there are no classes in " + path);
                }
                files.addAll(of(path, names, leftOut));
            }
        }
        return files;
    }

    private static List<String> names(Path path) throws IOException {
        List<String> names = new ArrayList<>();
        addNames(path, names);
        return names;
    }

    private static List<ClassFile> of(Path path, List<String> names, Consumer<String> leftOut) throws IOException {
        List<ClassFile> files = new ArrayList<>();
        if (Files.isDirectory(path)) {
            for (String name : names) {
                Path file = path.resolve(name.replace('.', '/') + SUFFIX);
                add(files, file.toString(), () -> Files.newInputStream(file), leftOut);
            }
        } else {
            try (JarFile jar = new JarFile(path.toFile())) {
                for (String name : names) {
                    String entry = name.replace('.', '/') + SUFFIX;
                    add(files, path + "!/" + entry, () -> jar.getInputStream(jar.getEntry(entry)), leftOut);
                }
            }
        }
        return files;
    }

    private interface Source {
        InputStream open() throws IOException;
    }

    private static void add(List<ClassFile> files, String place, Source source, Consumer<String> leftOut) {
        try (InputStream file = source.open()) {
            files.add(new ClassFile(place, file.readAllBytes()));
        } catch (IOException damaged) {
            leftOut.accept(place + ": " + AtomicFile.reason(damaged));
        }
    }

    /**
     * Returns the size of each method's bytecode in bytes, by name and descriptor; HotSpot's limits refer to these
     * sizes. The layout of the Code attribute is that of JVMS 4.7.3.
     *
     * @param file the class file
     * @return the sizes
     */
    public static Map<String, Integer> codeSizes(ClassReader file) {
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
