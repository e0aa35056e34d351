package org.brickprofiler.agent.suggest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonFactory;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.jar.JarOutputStream;
import java.util.stream.IntStream;
import java.util.zip.ZipEntry;
import jdk.jfr.Configuration;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.agent.AppliedRules;
import org.brickprofiler.agent.ClassFiles;
import org.brickprofiler.agent.ClassFiles.ClassFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

class SuggestionsTest {

    @TempDir
    private Path folder;

    /** The shapes of an engine's classes. */
    static final class Layer {
        private float[] gate = {1};
        private float[] wo = {2};
        private float[] other = {3};

        float forward(float[] x) {
            float sum = matmul(gate, x);
            sum += matmul(wo, x);
            sum += matmul(other, x);
            softmax(x);
            return sum;
        }

        static float matmul(float[] weights, float[] x) {
            float sum = 0;
            for (int i = 0; i < x.length; i++) {
                sum += weights[i] * x[i];
            }
            return sum;
        }

        static void softmax(float[] x) {
            for (int i = 0; i < x.length; i++) {
                x[i] = (float) Math.exp(x[i]);
            }
        }
    }

    /** A forward pass over such layers. */
    static final class Model {
        private final Layer layer = new Layer();

        float forward(int[] tokens, int position, boolean computeLogits) {
            float[] x = new float[tokens.length];
            for (int i = 0; i < position; i++) {
                x[0] += layer.forward(x);
            }
            return computeLogits ? forward(x) : 0;
        }

        float forward(float[] x) {
            Layer.softmax(x);
            return softmax(x, 1);
        }

        static float softmax(float[] x, float temperature) {
            x[0] /= temperature;
            Layer.softmax(x);
            return x[0] + temperature * x[x.length - 1];
        }
    }

    /** Methods that are named like bricks, or called several times, and take less time than a timer does. */
    static final class Brief {
        private final int[] wq = {1};

        int rmsNorm(int a, int b, int c) {
            return read(wq, a)
                    + read(wq, b)
                    + read(wq, c)
                    + Math.floorMod(a, b)
                    + Math.floorMod(b, c)
                    + Math.floorMod(a, c);
        }

        static int read(int[] from, int at) {
            return scaled(from[at & 1] * 31 + from[0] * 17, at);
        }

        static int scaled(int value, int by) {
            return value * by + (value >> 3) + (by << 2);
        }
    }

    /** A block with the names of Llama's reference code. */
    static final class Port {
        final float[] wq = {1};
        final float[] wk = {1};
        final float[] wv = {1};
        final float[] wo = {1};
        final float[] w1 = {1};
        final float[] w2 = {1};
        final float[] w3 = {1};

        float block(float[] x) {
            float sum = matmul(wq, x) + matmul(wk, x) + matmul(wv, x);
            IntStream.range(0, x.length).forEach(i -> softmax(x));
            sum += matmul(wo, x);
            return sum + matmul(w1, x) + matmul(w3, x) + matmul(w2, x);
        }

        private static void softmax(float[] x) {
            for (int i = 0; i < x.length; i++) {
                x[i] = (float) Math.exp(x[i]);
            }
        }

        float other(float[] x) {
            return matmul(w1, x) + matmul(w2, x) + matmul(wo, x);
        }

        private static float matmul(float[] weights, float[] x) {
            float sum = 0;
            for (int i = 0; i < x.length; i++) {
                sum += weights[i] * x[i];
            }
            return sum;
        }
    }

    /** A block in which norms and fields of other statements stand before the products. */
    static final class Block {
        private float[] gate = {1};
        private float[] wo = {2};
        private float[] other = {3};
        private float[] up = {4};

        float attend(float[] x, boolean isLast) {
            rmsNorm(x);
            float sum = matmul(other, x);
            gate[0] = sum;
            sum += matmul(rmsNorm(x), x);
            float[] weights = wo;
            sum += rmsNorm(x)[0];
            sum += matmul(weights, x);
            sum += matmul(isLast ? gate : other, x);
            return sum + matmul(up(), x);
        }

        private float[] up() {
            return up;
        }

        private static float[] rmsNorm(float[] x) {
            for (int i = 0; i < x.length; i++) {
                x[i] *= 0.5f;
            }
            return x;
        }

        private static float matmul(float[] weights, float[] x) {
            float sum = 0;
            for (int i = 0; i < x.length; i++) {
                sum += weights[i] * x[i];
            }
            return sum;
        }
    }

    /** Two parsers, as of JSON and of SQL, whose repeated calls have nothing to do with each other. */
    static final class Parser {
        private final int[] gate = {1, 2, 3};

        int json(int[] text) {
            return match(gate, text) + match(text, gate) + match(text, text) + text.length * 31;
        }

        int sql(int[] text) {
            return match(gate, text) + match(text, gate) + match(text, text) + text.length * 17;
        }

        static int match(int[] one, int[] other) {
            int same = 0;
            for (int i = 0; i < one.length; i++) {
                same += one[i] == other[i] ? 1 : 0;
            }
            return same;
        }
    }

    private static final String IN = "  - in: org.brickprofiler.agent.suggest.SuggestionsTest$";

    private static final String OF_LAYER = IN + "Layer.softmax\n    brick: ATTENTION_SOFTMAX\n" + IN
            + "Layer.forward\n    call: matmul 1\n    brick: GATE_PROJECTION\n" + IN
            + "Layer.forward\n    call: matmul 2\n    brick: OUTPUT_PROJECTION\n" + IN
            + "Layer.forward\n    call: matmul 3\n    brick: Layer.forward matmul 3\n    category: MATRIX_PRODUCT\n";

    private static String suggested(Class<?>... types) throws IOException {
        List<ClassFile> files = new ArrayList<>();
        for (Class<?> type : types) {
            files.add(AppliedRules.file(type));
        }
        return suggested(files).rules();
    }

    /** Returns the suggestions for class files of which none may be left out. */
    private static Suggestions suggested(List<ClassFile> files) {
        return Suggestions.of(files, SuggestionsTest::fail);
    }

    private static void fail(String leftOut) {
        throw new AssertionError(leftOut);
    }

    private static List<ClassFile> read(Object classPath) throws IOException {
        return ClassFiles.of(classPath.toString(), SuggestionsTest::fail);
    }

    @Test
    void namesTheCallsOfLayersAfterTheirFieldsAndClasses() throws IOException {
        assertThat(Suggestions.of(LayeredEngine.files(), leftOut -> {}).rules())
                .isEqualTo("""
                        step:
                          in: %1$sGpt.forward
                          tokens: arg0.length
                        bricks:
                          - in: %1$sLayerNorm.forward
                            brick: LAYER_NORM
                          - in: %1$sGelu.forward
                            brick: ACTIVATION
                          - in: %1$sMultiHeadAttention.forward
                            call: forward 1
                            brick: QKV_PROJECTION
                          - in: %1$sMultiHeadAttention.forward
                            call: forward 2
                            brick: QKV_PROJECTION
                          - in: %1$sMultiHeadAttention.forward
                            call: forward 3
                            brick: QKV_PROJECTION
                          - in: %1$sMultiHeadAttention.forward
                            call: forward 4
                            brick: OUTPUT_PROJECTION
                          - in: %1$sFeedForward.forward
                            call: forward 1
                            brick: UP_PROJECTION
                          - in: %1$sFeedForward.forward
                            call: forward 3
                            brick: DOWN_PROJECTION
                        """.formatted(LayeredEngine.class.getName() + '$'));
    }

    @Test
    void goesByNamesAndRepeatedCalls() throws IOException {
        assertThat(suggested(Layer.class))
                .isEqualTo("step:\n  in: org.brickprofiler.agent.suggest.SuggestionsTest$Layer.forward\n"
                        + "  # tokens: how many it processes, if more than one at once; a step of one is a decoded token\n"
                        + "bricks:\n" + OF_LAYER);
        assertThat(suggested(List.of()).rules()).startsWith("#");
    }

    /**
     * The pass over all layers, with the parameters that it reads; and no method that only calls another method of its
     * brick.
     */
    @Test
    void proposesTheStep() throws IOException {
        assertThat(suggested(Model.class, Layer.class))
                .isEqualTo(
                        "step:\n  in: org.brickprofiler.agent.suggest.SuggestionsTest$Model.forward(int[], int, boolean)\n"
                                + "  tokens: arg0.length\n  kv: arg1\n  output: arg2\nbricks:\n" + OF_LAYER);
    }

    /** An engine that decodes the tokens of a prompt one by one. */
    static final class Generator {
        private final Layer layer = new Layer();

        int generate(List<Integer> promptTokens, int[] stopTokens, int most) {
            int token = promptTokens.get(0);
            for (int position = 0; position < most && token != stopTokens[0]; position++) {
                float next = layer.forward(new float[] {token, position});
                token = position + 1 < promptTokens.size() ? promptTokens.get(position + 1) : (int) next;
            }
            return token;
        }

        int repeat(List<Integer> some, int[] others) {
            int sum = 0;
            for (int each : others) {
                sum += (int) layer.forward(new float[] {each, some.get(0)});
            }
            return sum;
        }
    }

    @Test
    void proposesThePromptsOfAStepThatProcessesOneToken() throws IOException {
        String rules = suggested(Generator.class, Layer.class);

        assertThat(rules)
                .contains("prompts:\n  - in: ", "SuggestionsTest$Generator.generate\n    steps: arg0.size()\nbricks:\n")
                .doesNotContain("repeat");
        assertThat(suggested(Model.class, Layer.class)).doesNotContain("prompts:");
    }

    /** The names of a port of GPT-2 that also trains it. */
    static final class Gpt2 {
        private final Weights weights = new Weights();

        /** Offsets of an array, by getters. */
        static final class Weights {
            int getWte() {
                return 0;
            }

            int getQkvw() {
                return 1;
            }

            int getAttprojw() {
                return 2;
            }

            int getFcprojw() {
                return 3;
            }
        }

        float gpt2_forward(float[] x, int tokens) {
            float sum = 0;
            for (int i = 0; i < tokens; i++) {
                int attprojw = weights.getAttprojw() + i;
                int fcprojw = weights.getFcprojw() + i;
                layernorm_forward(x, tokens);
                sum += matmul_forward(weights.getQkvw() + i, x) + attention_forward(x, tokens);
                sum += matmul_forward(attprojw, x) + matmul_forward(i, x) + matmul_forward(fcprojw, x);
            }
            return sum + matmul_forward(weights.getWte(), x);
        }

        float gpt2_backward(float[] x) {
            return matmul_backward(weights.getQkvw(), x) + matmul_backward(1, x) + matmul_backward(2, x);
        }

        static float matmul_forward(int weight, float[] x) {
            return Layer.matmul(x, x) + weight;
        }

        static float matmul_backward(int weight, float[] x) {
            return Layer.matmul(x, x) - weight;
        }

        static void layernorm_forward(float[] x, int tokens) {
            for (int i = 0; i < tokens; i++) {
                x[i % x.length] *= 0.5f;
            }
        }

        static float attention_forward(float[] x, int tokens) {
            float sum = 0;
            for (int i = 0; i < tokens; i++) {
                sum += x[i % x.length] * x[0];
            }
            return sum;
        }
    }

    @Test
    void aFeedForwardBlockIsNoPass() {
        assertThat(MethodNames.block("FeedForward")).hasValue(BrickCategory.FFN);
        assertThat(MethodNames.block("feedForward_forward")).hasValue(BrickCategory.FFN);
        assertThat(MethodNames.block("gpt2_forward")).isEmpty();
        assertThat(MethodNames.isPass("feedForward")).isFalse();
        assertThat(MethodNames.isPass("gpt2_forward")).isTrue();
    }

    @Test
    void namesMayHaveForwardBesideThemAndTrainingIsLeftOut() throws IOException {
        String name = "org.brickprofiler.agent.suggest.SuggestionsTest$Gpt2.";
        String forward = "  - in: " + name + "gpt2_forward\n    call: matmul_forward ";

        assertThat(suggested(Gpt2.class, Layer.class))
                .startsWith("step:\n  in: " + name + "gpt2_forward\n")
                .contains("  - in: " + name + "layernorm_forward\n    brick: LAYER_NORM\n")
                .contains(forward + "1\n    brick: QKV_PROJECTION\n" + forward + "2\n    brick: OUTPUT_PROJECTION\n")
                .contains(forward + "3\n    brick: Gpt2.gpt2_forward matmul_forward 3\n    category: MATRIX_PRODUCT\n")
                .contains(forward + "4\n    brick: DOWN_PROJECTION\n" + forward + "5\n    brick: LM_HEAD\n")
                .contains("  - in: " + name
                        + "attention_forward\n    brick: Gpt2.attention_forward\n    category: ATTENTION\n")
                .doesNotContain("backward", "EMBEDDING");
    }

    @Test
    void leavesOutBriefMethods() throws IOException {
        assertThat(suggested(Brief.class)).isEqualTo("# nothing is named like a brick\n");
    }

    @Test
    void namesCallsOfEachMethodApart() throws IOException {
        assertThat(suggested(Parser.class)
                        .lines()
                        .filter(line -> line.contains("brick:"))
                        .toList())
                .containsExactly(
                        "    brick: GATE_PROJECTION",
                        "    brick: GATE_PROJECTION",
                        "    brick: Parser.json match 3",
                        "    brick: GATE_PROJECTION",
                        "    brick: GATE_PROJECTION",
                        "    brick: Parser.sql match 3");
    }

    /**
     * A product is not named after the norm or the field of the statement before it, nor after what a branch decides.
     */
    @Test
    void namesACallAfterItsOwnOperands() throws IOException {
        assertThat(suggested(Block.class)
                        .lines()
                        .filter(line -> line.contains("brick:") || line.contains("call:"))
                        .map(String::strip)
                        .toList())
                .containsExactly(
                        "brick: RMS_NORM",
                        "call: matmul 1",
                        "brick: Block.attend matmul 1",
                        "call: matmul 2",
                        "brick: Block.attend matmul 2",
                        "call: matmul 3",
                        "brick: OUTPUT_PROJECTION",
                        "call: matmul 4",
                        "brick: Block.attend matmul 4",
                        "call: matmul 5",
                        "brick: UP_PROJECTION");
    }

    /** Alone, w1 and w2 are the names of different matrices in different engines. */
    @Test
    void knowsTheMatricesOfLlamaWhereAMethodReadsThemAll() throws IOException {
        String rules = Suggestions.of(List.of(AppliedRules.file(Port.class)), SuggestionsTest::fail)
                .rules();
        assertThat(rules.lines().map(String::strip).filter(line -> line.startsWith("brick:")))
                .containsExactly(
                        "brick: ATTENTION_SOFTMAX",
                        "brick: QKV_PROJECTION",
                        "brick: QKV_PROJECTION",
                        "brick: QKV_PROJECTION",
                        "brick: OUTPUT_PROJECTION",
                        "brick: GATE_PROJECTION",
                        "brick: UP_PROJECTION",
                        "brick: DOWN_PROJECTION",
                        "brick: Port.other matmul 1",
                        "brick: Port.other matmul 2",
                        "brick: OUTPUT_PROJECTION");
    }

    /** An engine's dot product over the vectors of the JDK, of which every call is one instruction. */
    @Test
    void proposesNoCallsOfTheJdk() {
        ClassWriter type = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        type.visit(Opcodes.V17, Opcodes.ACC_PUBLIC, "Dot", null, "java/lang/Object", null);
        type.visitField(0, "wq", "Ljava/lang/Object;", null, null).visitEnd();
        MethodVisitor code = type.visitMethod(Opcodes.ACC_PUBLIC, "dot", "(Ljava/lang/Object;)V", null, null);
        code.visitCode();
        for (int i = 0; i < 3; i++) {
            code.visitVarInsn(Opcodes.ALOAD, 0);
            code.visitFieldInsn(Opcodes.GETFIELD, "Dot", "wq", "Ljava/lang/Object;");
            code.visitVarInsn(Opcodes.ALOAD, 1);
            code.visitMethodInsn(
                    Opcodes.INVOKESTATIC,
                    "jdk/incubator/vector/FloatVector",
                    "fma",
                    "(Ljava/lang/Object;Ljava/lang/Object;)V",
                    false);
        }
        code.visitInsn(Opcodes.RETURN);
        code.visitMaxs(0, 0);
        code.visitEnd();
        type.visitEnd();
        assertThat(suggested(List.of(new ClassFile("Dot", type.toByteArray()))).rules())
                .startsWith("#");
    }

    @Test
    void proposesOnlyRulesThatApply() throws Exception {
        Path jar = Path.of(JsonFactory.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        List<ClassFile> files = read(jar);
        assertThat(AppliedRules.errors(suggested(files).rules(), files, JsonFactory.class.getClassLoader()))
                .isEmpty();
    }

    @Test
    void readsClassPathsAndNamesUnreadableParts() throws Exception {
        Path classes = Path.of(SuggestionsTest.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        Path jar = Path.of(JsonFactory.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        int both = read(classes + File.pathSeparator + jar).size();
        assertThat(both).isEqualTo(read(classes).size() + read(jar).size());
        Path folder = Files.createDirectory(this.folder.resolve("lib"));
        Files.copy(jar, folder.resolve("a.jar"));
        Files.writeString(folder.resolve("b.txt"), "no jar");
        try (JarOutputStream resources = new JarOutputStream(Files.newOutputStream(folder.resolve("c.jar")))) {
            resources.putNextEntry(new ZipEntry("logo.svg"));
        }
        assertThat(read(folder.resolve("*"))).hasSameSizeAs(read(jar));
        Files.writeString(folder.resolve("d.jar"), "damaged");
        List<String> leftOut = new ArrayList<>();
        assertThat(ClassFiles.of(folder.resolve("*").toString(), leftOut::add)).hasSameSizeAs(read(jar));
        assertThat(leftOut).singleElement().asString().contains("d.jar: ");
        assertThatThrownBy(() -> read(folder.resolve("d.jar"))).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> read("missing.jar"))
                .isInstanceOf(IOException.class)
                .hasMessage("there are no classes in missing.jar");
    }

    /** A jar with a class of a later Java, one that ends too early, and one that is damaged within the jar. */
    @Test
    void leavesOutAndNamesClassesThatCannotBeRead() throws Exception {
        byte[] newer = AppliedRules.file(Model.class).bytes();
        newer[7] = (byte) 200;
        byte[] whole = AppliedRules.file(Brief.class).bytes();
        Path jar = folder.resolve("engine.jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            put(out, "a/Newer.class", newer);
            put(out, "a/Cut.class", Arrays.copyOf(whole, whole.length / 2));
            put(out, "a/Empty.class", new byte[0]);
            put(out, "a/Packed.class", AppliedRules.file(Block.class).bytes());
            put(out, "a/Layer.class", AppliedRules.file(Layer.class).bytes());
        }
        byte[] bytes = Files.readAllBytes(jar);
        // The compressed content follows the name.
        int packed = new String(bytes, StandardCharsets.ISO_8859_1).indexOf("a/Packed.class");
        Arrays.fill(bytes, packed + 100, packed + 120, (byte) -1);
        Files.write(jar, bytes);

        List<String> leftOut = new ArrayList<>();
        String rules = Suggestions.of(ClassFiles.of(jar.toString(), leftOut::add), leftOut::add)
                .rules();
        assertThat(rules).endsWith("bricks:\n" + OF_LAYER);
        assertThat(leftOut)
                .hasSize(4)
                .anyMatch(each -> each.startsWith(jar + "!/a/Packed.class: "))
                .contains(
                        jar + "!/a/Newer.class: Unsupported class file version 200.0",
                        jar + "!/a/Cut.class: it is damaged, or no class file",
                        jar + "!/a/Empty.class: it is damaged, or no class file");
    }

    private static void put(JarOutputStream out, String name, byte[] bytes) throws IOException {
        out.putNextEntry(new ZipEntry(name));
        out.write(bytes);
        out.closeEntry();
    }

    /** Two files claim to be each other's superclass, which no virtual machine would load. */
    @Test
    void superclassesInACircleEnd() {
        List<ClassFile> files = new ArrayList<>();
        for (String name : List.of("A", "B")) {
            ClassWriter type = new ClassWriter(0);
            type.visit(Opcodes.V17, 0, name, null, name.equals("A") ? "B" : "A", null);
            MethodVisitor code = type.visitMethod(Opcodes.ACC_STATIC, "forward", "()V", null, null);
            code.visitCode();
            code.visitInsn(Opcodes.RETURN);
            code.visitMaxs(0, 0);
            files.add(new ClassFile(name, type.toByteArray()));
        }
        CallGraph graph = CallGraph.of(files, SuggestionsTest::fail);
        assertThat(graph.targets(new MethodInsnNode(Opcodes.INVOKESTATIC, "C", "forward", "()V")))
                .isEmpty();
    }

    /** Every JDK reads the settings; JDK 25 and later have the events. */
    @Test
    void writesSettingsOfTheFlightRecorder() throws Exception {
        Path settings = folder.resolve("engine.jfc");
        Files.writeString(
                settings, suggested(List.of(AppliedRules.file(Layer.class))).settings());
        String layer = SuggestionsTest.class.getName() + "$Layer::";
        assertThat(Configuration.create(settings).getSettings())
                .containsEntry("jdk.MethodTiming#filter", layer + "softmax;" + layer + "matmul")
                .containsEntry("jdk.MethodTrace#filter", layer + "softmax;" + layer + "matmul")
                .containsEntry("jdk.MethodTiming#enabled", "true")
                .containsEntry("jdk.MethodTrace#enabled", "false");
    }

    /** Has methods with the names of a forward pass, which have nothing to do with the layer. */
    static final class Elsewhere {

        static float decode() {
            return new Layer().forward(new float[] {1});
        }

        /** Calls a method that has the name and parameters of the layer's. */
        float step(float[] x) {
            return new Echo().forward(x);
        }
    }

    /** Has a method with the name and parameters of the layer's. */
    static final class Echo {
        float forward(float[] x) {
            return x[0];
        }
    }

    /** A pass gets something to work on, and a name that it shares with a brick's method is no call of the brick. */
    @Test
    void aStepHasInputAndReachesTheBricks() throws IOException {
        assertThat(suggested(Layer.class, Elsewhere.class, Echo.class))
                .doesNotContain("Elsewhere")
                .contains("step:\n  in: org.brickprofiler.agent.suggest.SuggestionsTest$Layer.forward\n");
        assertThat(suggested(Elsewhere.class, Echo.class, Block.class))
                .startsWith(
                        "# no method named like a forward pass calls two of these bricks: write the step\nbricks:\n");
    }

    static int generate(int token, int rounds) {
        int next = token;
        for (int i = 0; i < rounds; i++) {
            next = choose(next);
        }
        return next;
    }

    static int once(int token) {
        int next = choose(token);
        return choose(next);
    }

    static int ignored(int token, int rounds) {
        int last = token;
        for (int i = 0; i < rounds; i++) {
            last = choose(token);
        }
        return last;
    }

    private static int choose(int token) {
        return token + 1;
    }

    /** A generated token is the argument of the next round. */
    @ParameterizedTest
    @CsvSource({"generate, true", "once, false", "ignored, false"})
    void aResultThatIsTheNextArgumentIsFedBack(String name, boolean isFedBack) throws IOException {
        ClassNode type = new ClassNode();
        new ClassReader(SuggestionsTest.class.getName()).accept(type, 0);
        MethodNode method = type.methods.stream()
                .filter(each -> each.name.equals(name))
                .findFirst()
                .orElseThrow();
        assertThat(Arrays.stream(method.instructions.toArray())
                        .filter(node -> node instanceof MethodInsnNode)
                        .map(node -> LoopArguments.isFedBack(method, (MethodInsnNode) node)))
                .isNotEmpty()
                .allMatch(isFedBack ? fed -> fed : fed -> !fed);
    }
}
