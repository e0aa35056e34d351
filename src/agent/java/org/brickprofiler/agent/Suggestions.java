package org.brickprofiler.agent;

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
 * calls is one, named after what it reads just before. A person has to look through them. One thread.
 */
final class Suggestions {

    /** As often as this the calls of one method are taken for different bricks. */
    private static final int SEVERAL = 3;

    /** Shorter methods are taken for accessors. */
    private static final int SHORTEST = 20;

    /** Methods that do what their class is named after. */
    private static final Set<String> DOING = Set.of("forward", "apply", "run", "compute", "execute", "call", "accept");

    private final List<Proposal> proposals = new ArrayList<>();

    /**
     * A method, or a call in it, that may be a brick.
     *
     * @param in the method, as rules name it
     * @param call the call that is meant; empty for the whole method
     * @param brick the brick that the name is of; empty for none
     * @param timed what the flight recorder can time of it: the method, or the one that is called
     */
    private record Proposal(String in, String call, Optional<BrickId> brick, String timed) {}

    private Suggestions() {}

    /**
     * Looks at class files.
     *
     * @param files the class files
     */
    static Suggestions of(List<byte[]> files) {
        Suggestions found = new Suggestions();
        files.forEach(found::look);
        return found;
    }

    private void look(byte[] file) {
        ClassNode type = new ClassNode();
        ClassReader reader = new ClassReader(file);
        reader.accept(type, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        Map<String, Integer> sizes = ClassFiles.codeSizes(reader);
        for (MethodNode method : type.methods) {
            boolean isWritten = (method.access & (Opcodes.ACC_SYNTHETIC | Opcodes.ACC_BRIDGE)) == 0
                    && !method.name.startsWith("<");
            if (isWritten && sizes.getOrDefault(method.name + method.desc, 0) >= SHORTEST) {
                look(type, method);
            }
        }
    }

    private void look(ClassNode type, MethodNode method) {
        String name = type.name.replace('/', '.');
        String in = name + '.' + method.name + parameters(type, method);
        Optional<BrickId> named = BrickId.parse(method.name);
        if (named.isEmpty() && DOING.contains(method.name)) {
            named = BrickId.parse(simpleName(type));
        }
        if (named.isPresent()) {
            proposals.add(new Proposal(in, "", named, name + "::" + method.name));
        }
        sites(method).forEach((callee, sites) -> {
            for (int i = 0; i < sites.size() && sites.size() >= SEVERAL; i++) {
                proposals.add(new Proposal(in, callee + ' ' + (i + 1), sites.get(i).brick(), sites.get(i).timed()));
            }
        });
    }

    boolean isEmpty() {
        return proposals.isEmpty();
    }

    /** The rules of the agent, in YAML. */
    String rules() {
        StringBuilder rules = new StringBuilder();
        for (Proposal proposal : proposals) {
            rules.append("  - in: ").append(proposal.in()).append('\n');
            if (!proposal.call().isEmpty()) {
                rules.append("    call: ").append(proposal.call()).append('\n');
            }
            rules.append("    brick: ")
                    .append(proposal.brick().map(BrickId::name).orElse(proposal.call()))
                    .append(proposal.brick().isPresent() ? "\n" : "\n    category: OTHER\n");
        }
        return rules.isEmpty() ? "# nothing is named like a brick\n" : "bricks:\n" + rules;
    }

    /**
     * The same as settings of the flight recorder, whose events {@code jdk.MethodTiming} and {@code jdk.MethodTrace}, of JDK 25
     * and later, take such a filter (JEP 520). They know whole methods only: where calls of one method are proposed apart, all
     * of them are timed together.
     */
    String settings() {
        String filter = proposals.stream().map(Proposal::timed).distinct().collect(Collectors.joining(";"));
        return """
                <?xml version="1.0" encoding="UTF-8"?>
                <configuration version="2.0" label="Bricks" description="Methods that are named like a brick" provider="brick suggest">
                  <!-- Sums of each method. -->
                  <event name="jdk.MethodTiming">
                    <setting name="enabled">%b</setting>
                    <setting name="period">endChunk</setting>
                    <setting name="filter">%s</setting>
                  </event>
                  <!-- Each call, which costs more. -->
                  <event name="jdk.MethodTrace">
                    <setting name="enabled">false</setting>
                    <setting name="stackTrace">false</setting>
                    <setting name="threshold">0 ms</setting>
                    <setting name="filter">%s</setting>
                  </event>
                </configuration>
                """.formatted(!filter.isEmpty(), filter, filter);
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

    /**
     * A call.
     *
     * @param brick what it is named after
     * @param timed the method that is called, as the flight recorder names it
     */
    private record Site(Optional<BrickId> brick, String timed) {}

    /** For each method that is called, its calls in the order of the code. */
    private static Map<String, List<Site>> sites(MethodNode method) {
        Map<String, List<Site>> sites = new LinkedHashMap<>();
        Optional<BrickId> read = Optional.empty();
        for (AbstractInsnNode node : method.instructions) {
            if (node instanceof FieldInsnNode field) {
                read = BrickId.parse(field.name).or(before(read));
            } else if (node instanceof MethodInsnNode call) {
                boolean computes = Type.getArgumentTypes(call.desc).length > 1
                        && !call.owner.startsWith("java/")
                        && !call.name.startsWith("<");
                if (computes) {
                    sites.computeIfAbsent(call.name, none -> new ArrayList<>())
                            .add(new Site(read, call.owner.replace('/', '.') + "::" + call.name));
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
