package org.brickprofiler.agent;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.BrickId;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * Proposes rules for classes that it reads and does not load: a method whose name, or whose class's name, is that of a brick
 * is that brick; and where a method calls another one several times, as engines do with their matrix products, each of these
 * calls is one, named after what it reads just before. A person has to look through them. Stateless; any thread.
 */
public final class Suggestions {

    /** As often as this the calls of one method are taken for different bricks. */
    private static final int SEVERAL = 3;

    /** Shorter methods are taken for accessors. */
    private static final int SHORTEST = 20;

    /** Methods that do what their class is named after. */
    private static final Set<String> DOING = Set.of("forward", "apply", "run", "compute", "execute", "call", "accept");

    private Suggestions() {}

    /**
     * Prints rules for the classes of jars and folders.
     *
     * @param paths the jars and folders
     * @param out where to
     * @throws IOException when one of them cannot be read
     */
    public static void print(List<Path> paths, PrintStream out) throws IOException {
        List<byte[]> files = new ArrayList<>();
        for (Path path : paths) {
            files.addAll(ClassFiles.of(path));
        }
        out.print(rules(files));
    }

    /** The rules for class files, in YAML. */
    static String rules(List<byte[]> files) {
        StringBuilder rules = new StringBuilder();
        for (byte[] file : files) {
            ClassNode type = new ClassNode();
            ClassReader reader = new ClassReader(file);
            reader.accept(type, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
            Map<String, Integer> sizes = ClassFiles.codeSizes(reader);
            for (MethodNode method : type.methods) {
                boolean isWritten = (method.access & (Opcodes.ACC_SYNTHETIC | Opcodes.ACC_BRIDGE)) == 0
                        && !method.name.startsWith("<");
                if (isWritten && sizes.getOrDefault(method.name + method.desc, 0) >= SHORTEST) {
                    add(type, method, rules);
                }
            }
        }
        return rules.isEmpty() ? "# nothing is named like a brick\n" : "bricks:\n" + rules;
    }

    private static void add(ClassNode type, MethodNode method, StringBuilder rules) {
        String in = "  - in: " + type.name.replace('/', '.') + '.' + method.name + parameters(type, method) + '\n';
        Optional<BrickId> named = BrickId.parse(method.name);
        if (named.isEmpty() && DOING.contains(method.name)) {
            named = BrickId.parse(simpleName(type));
        }
        named.ifPresent(brick ->
                rules.append(in).append("    brick: ").append(brick.name()).append('\n'));
        sites(method).forEach((callee, sites) -> {
            for (int i = 0; i < sites.size() && sites.size() >= SEVERAL; i++) {
                String call = callee + ' ' + (i + 1);
                rules.append(in).append("    call: ").append(call).append('\n');
                rules.append(sites.get(i)
                        .map(brick -> "    brick: " + brick.name() + '\n')
                        .orElse("    brick: " + call + "\n    category: OTHER\n"));
            }
        });
    }

    private static String simpleName(ClassNode type) {
        return type.name.substring(1 + Math.max(type.name.lastIndexOf('/'), type.name.lastIndexOf('$')));
    }

    /** The types of the parameters, where other methods have the same name. */
    private static String parameters(ClassNode type, MethodNode method) {
        long same = type.methods.stream()
                .filter(each -> each.name.equals(method.name) && (each.access & Opcodes.ACC_BRIDGE) == 0)
                .count();
        return same == 1
                ? ""
                : Stream.of(Type.getArgumentTypes(method.desc))
                        .map(Type::getClassName)
                        .collect(Collectors.joining(", ", "(", ")"));
    }

    /** For each method that is called, what its calls in the order of the code are named after. */
    private static Map<String, List<Optional<BrickId>>> sites(MethodNode method) {
        Map<String, List<Optional<BrickId>>> sites = new LinkedHashMap<>();
        Optional<BrickId> read = Optional.empty();
        for (AbstractInsnNode node : method.instructions) {
            if (node instanceof FieldInsnNode field) {
                read = BrickId.parse(field.name).or(before(read));
            } else if (node instanceof MethodInsnNode call) {
                boolean computes = Type.getArgumentTypes(call.desc).length > 1
                        && !call.owner.startsWith("java/")
                        && !call.name.startsWith("<");
                if (computes) {
                    sites.computeIfAbsent(call.name, none -> new ArrayList<>()).add(read);
                    read = Optional.empty();
                } else {
                    read = BrickId.parse(call.name).or(before(read));
                }
            }
        }
        sites.entrySet().removeIf(each -> !countsAll(method, each.getKey(), each.getValue().size()));
        return sites;
    }

    private static Supplier<Optional<BrickId>> before(Optional<BrickId> read) {
        return () -> read;
    }

    /** Whether a name stands for these calls alone, so that their numbers are those that a rule counts by. */
    private static boolean countsAll(MethodNode method, String name, int sites) {
        long all = Stream.of(method.instructions.toArray())
                .filter(node -> node instanceof MethodInsnNode call && call.name.equals(name))
                .count();
        return all == sites;
    }
}
