package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.fasterxml.jackson.core.JsonFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.eclipse.collections.impl.list.mutable.FastList;
import org.jgrapht.Graph;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** Weaves every method of whole libraries, at random places, and has the virtual machine verify the result. */
class WholeLibrariesTest {

    private static final int MOST_CLASSES = 300;

    @ParameterizedTest
    @ValueSource(classes = {JsonFactory.class, Graph.class, LoadSettings.class, FastList.class})
    void verifiesAfterWeaving(Class<?> type) throws Exception {
        Random random = new Random(20_260_101);
        Path jar =
                Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
        Map<String, byte[]> own = new HashMap<>();
        List<String> woven = new ArrayList<>();
        int applied = 0;
        for (byte[] file : classes(jar)) {
            ClassNode node = new ClassNode();
            new ClassReader(file).accept(node, 0);
            String name = node.name.replace('/', '.');
            own.put(name, file);
            String rules = own.size() <= MOST_CLASSES ? rules(node, random) : "";
            if (rules.isEmpty()) {
                continue;
            }
            Weaver.Result result = Woven.weaver("bricks:\n" + rules).weave(file, type.getClassLoader());
            assertThat(result.problems())
                    .filteredOn(Weaver.Problem::isError)
                    .extracting(Weaver.Problem::message)
                    .allMatch(message -> message.contains("is not reached from")
                            || message.contains("would grow")
                            || message.contains("would count twice")
                            || message.contains("lies before the object exists"));
            applied += result.applied().size();
            byte[] bytes = result.bytes();
            if (bytes != null) {
                own.put(name, bytes);
                woven.add(name);
            }
        }
        assertThat(applied).isGreaterThan(1_000);
        Woven.Loader loader = new Woven.Loader(type.getClassLoader(), own);
        for (String name : woven) {
            // Asking for its methods makes the virtual machine verify the class, and run none of it.
            assertThatCode(() -> loader.loadClass(name).getDeclaredMethods())
                    .as(name)
                    .doesNotThrowAnyException();
        }
    }

    private static List<byte[]> classes(Path jar) throws IOException {
        List<byte[]> files = new ArrayList<>();
        try (JarFile entries = new JarFile(jar.toFile())) {
            List<JarEntry> all = entries.stream()
                    .filter(entry -> entry.getName().endsWith(".class"))
                    .filter(entry -> !entry.getName().startsWith("META-INF")
                            && !entry.getName().contains("-info"))
                    .toList();
            for (JarEntry entry : all) {
                files.add(entries.getInputStream(entry).readAllBytes());
            }
        }
        return files;
    }

    /** The whole of each method, and a span between two calls in it, if it has any. */
    private static String rules(ClassNode type, Random random) {
        StringBuilder rules = new StringBuilder();
        String owner = type.name.replace('/', '.');
        for (MethodNode method : type.methods) {
            boolean hasCode = (method.access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE | Opcodes.ACC_BRIDGE)) == 0;
            if (hasCode && !method.name.equals("<clinit>")) {
                String parameters = Stream.of(Type.getArgumentTypes(method.desc))
                        .map(Type::getClassName)
                        .collect(Collectors.joining(", ", "(", ")"));
                String target = "  - in: " + owner + "." + method.name + parameters + "\n    brick: ";
                rules.append(target)
                        .append("RMS_NORM\n    elements: ")
                        .append(random.nextInt(3))
                        .append('\n');
                List<String> calls = calls(method);
                if (!calls.isEmpty()) {
                    int first = random.nextInt(calls.size());
                    String from = calls.get(first);
                    String to = calls.get(first + random.nextInt(calls.size() - first));
                    rules.append(target)
                            .append("EMBEDDING\n    from: ")
                            .append(random.nextBoolean() ? "before " : "after ")
                            .append(from)
                            .append("\n    to: ")
                            .append(random.nextInt(3) == 0 ? "exit" : "after " + to)
                            .append("\n    elements: ")
                            .append(random.nextInt(3))
                            .append('\n');
                }
            }
        }
        return rules.toString();
    }

    private static List<String> calls(MethodNode method) {
        List<String> calls = new ArrayList<>();
        method.instructions.forEach(node -> {
            if (node instanceof MethodInsnNode call && !call.name.startsWith("<") && call.name.matches("\\w+")) {
                calls.add(call.name);
            }
        });
        return calls;
    }
}
