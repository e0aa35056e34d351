package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.testing.Golden;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.SourceTree;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.AnnotationNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * The file {@code META-INF/native-image} of each artifact lists what its classes read by name, as GraalVM's native
 * images need it: the test derives the list from the class files. Code that reads by a name that is no constant is
 * refused unless {@link #BY_HAND} or {@link #OUTSIDE} has its class.
 */
@OneJdk
final class NativeImageTest {

    /** Classes whose names are computed, or are of the JDK, and what they read. */
    private static final Map<String, Read> BY_HAND = Map.of(
            "org/brickprofiler/internal/record/PerThread$VirtualThreads",
            Read.method("java.lang.Thread", "isVirtual"),
            "org/brickprofiler/console/Terminal",
            Read.method("java.io.Console", "isTerminal"),
            "org/brickprofiler/device/cuda/BundledLibrary",
            Read.resource("META-INF/natives/*"));

    /** Classes that cannot work in a native image, with the reason. */
    private static final Map<String, String> OUTSIDE = Map.of(
            "org/brickprofiler/agent/", "the agent weaves classes while a virtual machine loads them",
            "org/brickprofiler/fleet/Duck", "the driver of DuckDB is loaded from its jar",
            "org/brickprofiler/jfr/AsyncProfilerSpans", "async-profiler samples a virtual machine");

    private static final Pattern CLASS_NAME = Pattern.compile("([a-z]\\w*\\.){2,}[A-Z]\\w*");

    private static final Set<String> OF_CLASSES = Set.of("forName", "loadClass", "findClass");
    private static final Set<String> OF_RESOURCES = Set.of(
            "getResource", "getResourceAsStream", "getResources", "getSystemResource", "getSystemResourceAsStream");
    private static final Set<String> OF_MEMBERS = Set.of(
            "getMethod",
            "getMethods",
            "getDeclaredMethod",
            "getDeclaredMethods",
            "getField",
            "getFields",
            "getDeclaredField",
            "getDeclaredFields",
            "getConstructor",
            "getConstructors",
            "getDeclaredConstructor",
            "getDeclaredConstructors",
            "getRecordComponents");

    /** What one entry of the list states about a type: fields and methods by name, or flags. */
    private static final class Members {
        final Set<String> fields = new TreeSet<>();
        final Set<String> methods = new TreeSet<>();
        final Set<String> flags = new TreeSet<>();
    }

    /** A method without parameters of a type, or a resource. */
    private record Read(@Nullable String type, String name) {
        static Read method(String type, String name) {
            return new Read(type, name);
        }

        static Read resource(String glob) {
            return new Read(null, glob);
        }
    }

    private final TreeMap<String, Members> types = new TreeMap<>();
    private final TreeSet<String> resources = new TreeSet<>();
    private final Map<Path, List<String>> resourcesOf = new HashMap<>();
    private final List<String> unknown = new ArrayList<>();

    static Stream<Path> published() {
        return SourceTree.published().stream();
    }

    @ParameterizedTest
    @MethodSource("published")
    void theListHasWhatIsReadByName(Path project) throws IOException {
        Path classes = project.resolve(Path.of("target", "classes"));
        for (Path file : files(classes, classes)) {
            if (file.toString().endsWith(".class")) {
                read(classes, file);
            } else if (file.startsWith(Path.of("META-INF", "services"))
                    || file.startsWith(Path.of("META-INF", "spring"))) {
                resources.add(slashes(file));
                Files.readAllLines(classes.resolve(file))
                        .forEach(provider -> members(provider).methods.add("<init>"));
            }
        }
        assertThat(unknown).as("reads by a name that is no constant").isEmpty();
        assertThat(files(classes, classes))
                .filteredOn(
                        file -> !file.startsWith("META-INF") && !file.toString().endsWith(".class"))
                .as("resources that nothing reads")
                .allMatch(file -> resources.contains(slashes(file)));

        Path list = project.resolve(
                        Path.of("src", "main", "resources", "META-INF", "native-image", "org.brickprofiler"))
                .resolve(SourceTree.artifact(project))
                .resolve("reachability-metadata.json");
        if (types.isEmpty() && resources.isEmpty()) {
            assertThat(list).doesNotExist();
        } else {
            Golden.assertSame(json(), list);
        }
    }

    /** A class that hides its names is found, as is each way to read. */
    @Test
    void aComputedNameIsRefused() throws IOException {
        try (InputStream file = NativeImageTest.class.getResourceAsStream("NativeImageTest$Computed.class")) {
            ClassNode node = new ClassNode();
            new ClassReader(Objects.requireNonNull(file)).accept(node, 0);
            read(node, List.of());
        }
        assertThat(unknown)
                .containsExactlyInAnyOrder(
                        "org/brickprofiler/NativeImageTest$Computed.type forName",
                        "org/brickprofiler/NativeImageTest$Computed.member getMethod",
                        "org/brickprofiler/NativeImageTest$Computed.handle findVirtual");
    }

    @SuppressWarnings("unused") // its instructions are read
    private static final class Computed {
        static Class<?> type(String name) throws ReflectiveOperationException {
            return Class.forName(name);
        }

        static Object member(String name) throws ReflectiveOperationException {
            return Computed.class.getMethod(name);
        }

        static Object handle(String name, MethodHandles.Lookup lookup) throws ReflectiveOperationException {
            return lookup.findVirtual(Computed.class, name, MethodType.methodType(void.class));
        }
    }

    private void read(Path classes, Path file) throws IOException {
        ClassNode node = new ClassNode();
        new ClassReader(Files.readAllBytes(classes.resolve(file))).accept(node, ClassReader.SKIP_DEBUG);
        Path folder = file.getParent();
        List<String> beside = resourcesOf.computeIfAbsent(folder, each -> others(classes, each));
        read(node, beside);
    }

    /** Adds what a class reads by name, given the resources of its package. */
    private void read(ClassNode node, List<String> beside) {
        boolean isOutside = OUTSIDE.keySet().stream().anyMatch(node.name::startsWith);
        Read byHand = BY_HAND.get(node.name);
        if (byHand != null) {
            String type = byHand.type();
            if (type == null) {
                resources.add(byHand.name());
            } else {
                members(type).methods.add(byHand.name());
            }
        }
        addFound(node);
        for (MethodNode method : node.methods) {
            for (AbstractInsnNode each : method.instructions) {
                if (each instanceof MethodInsnNode call) {
                    if (OF_RESOURCES.contains(call.name) && isLoader(call.owner)) {
                        resources.addAll(beside);
                    } else if (!isOutside && !call(node, call) && byHand == null) {
                        unknown.add(node.name + "." + method.name + " " + call.name);
                    }
                } else if (each instanceof InvokeDynamicInsnNode reference) {
                    for (Object argument : reference.bsmArgs) {
                        if (argument instanceof Handle handle
                                && OF_RESOURCES.contains(handle.getName())
                                && isLoader(handle.getOwner())) {
                            resources.addAll(beside);
                        }
                    }
                }
            }
        }
    }

    /** Adds what other code finds by the annotations, the interfaces or the name of a class. */
    private void addFound(ClassNode node) {
        String type = Type.getObjectType(node.name).getClassName();
        boolean isCreated =
                node.methods.stream().anyMatch(each -> each.name.equals("<init>") && each.desc.equals("()V"));
        boolean hasOptions = isPicocli(node.visibleAnnotations)
                || node.fields.stream().anyMatch(each -> isPicocli(each.visibleAnnotations));
        boolean isOfPicocli = node.interfaces.stream().anyMatch(each -> each.startsWith("picocli/CommandLine$I"));
        if (hasOptions) {
            // Methods, too: picocli looks for commands among them.
            members(node.name).flags.addAll(Set.of("allDeclaredFields", "allDeclaredMethods"));
        }
        if ((hasOptions || isOfPicocli) && isCreated) {
            members(node.name).methods.add("<init>");
        }
        if (node.interfaces.contains("com/sun/jna/Callback")) {
            members(node.name).flags.addAll(Set.of("allDeclaredMethods", "jniAccessible"));
        }
        boolean isInterface = (node.access & Opcodes.ACC_INTERFACE) != 0;
        if (isInterface && type.contains("MXBean")) {
            members(node.name).flags.add("allDeclaredMethods");
        }
    }

    /** Adds what a call reads by name; returns false if the name is no constant. */
    private boolean call(ClassNode node, MethodInsnNode call) {
        if (isLoader(call.owner) && OF_CLASSES.contains(call.name)) {
            Set<String> names = classNames(node);
            names.forEach(this::members);
            return !names.isEmpty();
        }
        if (call.owner.equals("java/lang/Class") && OF_MEMBERS.contains(call.name)) {
            return false;
        }
        if (call.owner.equals("java/lang/invoke/MethodHandles$Lookup")
                && (call.name.startsWith("find") || call.name.startsWith("unreflect"))) {
            LdcInsnNode name = constantBefore(call, String.class);
            LdcInsnNode owner = name == null ? null : constantBefore(name, Type.class);
            if (name == null || owner == null || !call.name.equals("findVarHandle")) {
                return false;
            }
            members(((Type) owner.cst).getInternalName()).fields.add((String) name.cst);
        }
        if (call.owner.equals("com/sun/jna/Native") && (call.name.equals("register") || call.name.equals("load"))) {
            LdcInsnNode owner = constantBefore(call, Type.class);
            if (owner == null) {
                return false;
            }
            members(((Type) owner.cst).getInternalName()).flags.addAll(Set.of("allDeclaredMethods", "jniAccessible"));
        }
        return true;
    }

    private static @Nullable LdcInsnNode constantBefore(AbstractInsnNode from, Class<?> type) {
        for (AbstractInsnNode each = from.getPrevious(); each != null; each = each.getPrevious()) {
            if (each instanceof LdcInsnNode constant && type.isInstance(constant.cst)) {
                return constant;
            }
        }
        return null;
    }

    /** Returns the constants of a class that are names of classes. */
    private static Set<String> classNames(ClassNode node) {
        Set<String> names = new TreeSet<>();
        for (MethodNode method : node.methods) {
            for (AbstractInsnNode each : method.instructions) {
                if (each instanceof LdcInsnNode constant
                        && constant.cst instanceof String text
                        && CLASS_NAME.matcher(text).matches()) {
                    names.add(text);
                }
            }
        }
        return names;
    }

    private static boolean isLoader(String owner) {
        return owner.equals("java/lang/Class")
                || owner.equals("java/lang/ClassLoader")
                || owner.equals("java/lang/Module");
    }

    private static boolean isPicocli(@Nullable List<AnnotationNode> annotations) {
        return annotations != null && annotations.stream().anyMatch(each -> each.desc.startsWith("Lpicocli/"));
    }

    private Members members(String type) {
        return types.computeIfAbsent(type.replace('/', '.'), each -> new Members());
    }

    /** Returns the list with one entry in each line. */
    private String json() {
        List<String> reflection = new ArrayList<>();
        types.forEach((type, members) -> {
            StringBuilder entry = new StringBuilder("{\"type\": \"" + type + "\"");
            members.flags.forEach(flag -> entry.append(", \"").append(flag).append("\": true"));
            entry.append(named("fields", members.fields, ""));
            entry.append(named("methods", members.methods, ", \"parameterTypes\": []"));
            reflection.add(entry.append('}').toString());
        });
        List<String> globs = resources.stream()
                .map(resource -> "{\"glob\": \"" + resource + "\"}")
                .toList();
        return Stream.of(part("reflection", reflection), part("resources", globs))
                .filter(part -> !part.isEmpty())
                .collect(Collectors.joining(",\n", "{\n", "\n}\n"));
    }

    private static String part(String name, List<String> entries) {
        return entries.isEmpty()
                ? ""
                : entries.stream().collect(Collectors.joining(",\n    ", "  \"" + name + "\": [\n    ", "\n  ]"));
    }

    private static String named(String key, Set<String> names, String more) {
        return names.isEmpty()
                ? ""
                : names.stream()
                        .map(name -> "{\"name\": \"" + name + "\"" + more + "}")
                        .collect(Collectors.joining(", ", ", \"" + key + "\": [", "]"));
    }

    private static List<Path> files(Path folder, Path base) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(Files::isRegularFile)
                    .map(base::relativize)
                    .sorted()
                    .toList();
        }
    }

    /** Returns the names of the resources of a package. */
    private static List<String> others(Path classes, Path folder) {
        try (Stream<Path> all = Files.list(classes.resolve(folder))) {
            return all.filter(each ->
                            Files.isRegularFile(each) && !each.toString().endsWith(".class"))
                    .map(each -> slashes(classes.relativize(each)))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String slashes(Path path) {
        return path.toString().replace('\\', '/');
    }
}
