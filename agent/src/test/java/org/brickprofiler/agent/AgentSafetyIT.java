package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.brickprofiler.BrickStats;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Applications that woven code could break: each must compute the same as without the agent. */
@Timeout(120)
class AgentSafetyIT {

    @TempDir
    private Path folder;

    private ProcessResult run(String main, String source, String rules, String... arguments) throws IOException {
        return run(Map.of(), main, source, rules, arguments);
    }

    private ProcessResult run(
            Map<String, String> environment, String main, String source, String rules, String... arguments)
            throws IOException {
        Path classes = WovenApplication.compile(folder, main.replace('.', '/') + ".java", source);
        Files.writeString(folder.resolve("bricks.yaml"), rules);
        return ChildProcess.java()
                .jvmOptions(List.of("-javaagent:" + WovenApplication.JAR
                        + "=rules=bricks.yaml,out=run.json,html=run.html,trace=t.json"))
                .jvmOptions(List.of("-cp", classes.toString(), main))
                .arguments(List.of(arguments))
                .without(AgentOptions.OUT_VARIABLE)
                .environment(environment)
                .in(folder)
                .run()
                .assertSucceeded();
    }

    private String recorded() throws IOException {
        return JsonReport.read(folder.resolve("run.json")).bricks().stream()
                .collect(Collectors.toMap(
                        BrickStats::name, each -> each.count() + "/" + each.totalElements(), (a, b) -> a, TreeMap::new))
                .toString();
    }

    /** Loaders of frameworks: one hides all classes outside of the JDK, one is a bundle's, one has its own bridge. */
    private static final String LOADERS = """
            package app;

            import java.io.InputStream;
            import java.util.List;
            import java.util.Map;
            import java.util.function.Consumer;

            public final class Loaders {
                public static final class Engine implements Runnable {
                    interface Task {
                        void run(int n);
                    }

                    private final int[] state = new int[7];

                    @Override
                    public void run() {
                        long sum = 0;
                        for (int i = 0; i < 5; i++) {
                            sum += product(i);
                        }
                        parallel(n -> product(n));
                        System.out.println("computed " + sum);
                    }

                    long product(int n) {
                        return n * state.length;
                    }

                    static void parallel(Task task) {
                        task.run(3);
                    }
                }

                /** Finds classes of the JDK, its own, and what it imports by name; the rest does not exist for it. */
                static final class Bundle extends ClassLoader {
                    private final Map<String, ClassLoader> imports;
                    private final List<String> own;

                    Bundle(String name, Map<String, ClassLoader> imports, String... own) {
                        super(name, null);
                        this.imports = imports;
                        this.own = List.of(own);
                    }

                    @Override
                    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                        synchronized (getClassLoadingLock(name)) {
                            Class<?> loaded = findLoadedClass(name);
                            if (loaded != null) {
                                return loaded;
                            }
                            String of = name.substring(0, Math.max(0, name.lastIndexOf('.')));
                            if (name.startsWith("java.")) {
                                return ClassLoader.getPlatformClassLoader().loadClass(name);
                            }
                            if (imports.containsKey(of)) {
                                return Class.forName(name, false, imports.get(of));
                            }
                            if (own.stream().noneMatch(name::startsWith)) {
                                throw new ClassNotFoundException(name + " is not imported by the bundle " + getName());
                            }
                            try (InputStream file = ClassLoader.getSystemResourceAsStream(name.replace('.', '/') + ".class")) {
                                byte[] bytes = file.readAllBytes();
                                return defineClass(name, bytes, 0, bytes.length);
                            } catch (java.io.IOException e) {
                                throw new ClassNotFoundException(name, e);
                            }
                        }
                    }
                }

                public static void main(String[] args) throws Exception {
                    String engine = "app.Loaders$Engine";
                    String bridge = "org.brickprofiler.agent.bridge";
                    ClassLoader loader = switch (args[0]) {
                        case "hides" -> new Bundle("hides", Map.of(), engine);
                        case "imports" -> new Bundle("imports", Map.of(bridge, ClassLoader.getSystemClassLoader()), engine);
                        default -> new Bundle("copies", Map.of(), engine, bridge);
                    };
                    ((Runnable) loader.loadClass(engine).getDeclaredConstructor().newInstance()).run();
                }
            }
            """;

    private static final String LOADER_RULES = """
            tasks:
              - in: app.Loaders$Engine.parallel
            bricks:
              - in: app.Loaders$Engine.product
                brick: QKV_PROJECTION
                elements: this.state.length
              - in: app.Loaders$Engine.run
                brick: SAMPLING
            """;

    @ParameterizedTest
    @ValueSource(strings = {"hides", "copies"})
    void leavesClassesAloneThatDoNotSeeTheBridge(String loader) throws IOException {
        ProcessResult result = run("app.Loaders", LOADERS, LOADER_RULES, loader);

        assertThat(result.out()).isEqualTo("computed 70" + System.lineSeparator());
        assertThat(result.err())
                .contains(
                        "app.Loaders$Engine is not woven: its loader app.Loaders$Bundle '" + loader + "' (",
                        "org.osgi.framework.bootdelegation=org.brickprofiler.agent.bridge",
                        "1 class was not woven, since its loader does not see the agent's bridge");
        assertThat(recorded()).isEqualTo("{}");
    }

    @Test
    void weavesInALoaderThatImportsTheBridge() throws IOException {
        ProcessResult result = run("app.Loaders", LOADERS, LOADER_RULES, "imports");

        assertThat(result.out()).isEqualTo("computed 70" + System.lineSeparator());
        assertThat(recorded()).isEqualTo("{QkvProjection=6/42, Sampling=1/1}");
    }

    /** Calls methods of the JDK; rules for them ended the virtual machine before the agent refused them. */
    private static final String OF_JDK = """
            package app;

            import java.io.ByteArrayOutputStream;
            import java.util.HashMap;
            import java.util.Map;
            import java.util.concurrent.ConcurrentHashMap;
            import java.util.concurrent.atomic.AtomicLong;
            import java.util.zip.CRC32;

            public final class OfJdk {
                public static void main(String[] args) throws Exception {
                    Map<String, Integer> map = new HashMap<>(Map.of("a", 1));
                    Map<String, Integer> concurrent = new ConcurrentHashMap<>(map);
                    AtomicLong sum = new AtomicLong();
                    CRC32 crc = new CRC32();
                    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                    for (int i = 0; i < 1000; i++) {
                        sum.addAndGet(map.get("a") + concurrent.get("a") + Math.max(i, 3) + new String("ab").hashCode());
                        sum.incrementAndGet();
                        crc.update(new byte[] {1, 2}, 0, 2);
                        bytes.write(new byte[] {1, 2}, 0, 2);
                    }
                    System.out.println("computed " + sum + " " + bytes.size() + " " + (crc.getValue() != 0));
                }
            }
            """;

    /** Writes to a file, and prints nothing. */
    private static final String WRITING = """
            package app;

            import java.io.FileOutputStream;

            public final class Writing {
                public static void main(String[] args) throws Exception {
                    try (FileOutputStream file = new FileOutputStream("written")) {
                        for (int i = 0; i < 1000; i++) {
                            file.write(new byte[] {1, 2}, 0, 2);
                        }
                    }
                }
            }
            """;

    /** The agent prints its messages and writes its files through such streams, too. */
    @Test
    void timesAMethodOfTheJdkForTheApplicationAlone() throws IOException {
        ProcessResult result = run("app.Writing", WRITING, """
                bricks:
                  - in: java.io.FileOutputStream.write(byte[], int, int)
                    brick: written
                    category: OTHER
                    elements: arg2
                """);
        assertThat(result.err()).contains("brick agent: 1 of 1 rules apply");
        assertThat(folder.resolve("written")).hasSize(2000);
        assertThat(recorded()).isEqualTo("{written=1000/2000}");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "java.util.HashMap.get                                 | java.util.HashMap is a class of the JDK on which the profiler itself runs: name a method of the engine that calls it, with call: get",
                "java.util.concurrent.ConcurrentHashMap.get            | java.util.concurrent.ConcurrentHashMap is a class of the JDK",
                "java.lang.String.hashCode                             | java.lang.String is a class of the JDK",
                "'java.lang.Math.max(int, int)'                        | java.lang.Math is a class of the JDK",
                "java.util.concurrent.atomic.AtomicLong.incrementAndGet | java.util.concurrent.atomic.AtomicLong is a class of the JDK",
                "sun.security.provider.SHA2.implCompress0               | implCompress0 is an intrinsic: compiled code does not call it",
                "org.brickprofiler.agent.bridge.Bridge.startBrick      | org.brickprofiler.agent.bridge.Bridge is a class of the agent, which woven code calls",
            })
    void refusesRulesForMethodsOnWhichTheProfilerItselfRuns(String method, String reason) throws IOException {
        ProcessResult result = run("app.OfJdk", OF_JDK, "bricks:\n  - in: " + method + "\n    brick: RMS_NORM\n");

        assertThat(result.out()).startsWith("computed 3607506 2000 true");
        assertThat(result.err()).contains("bricks.yaml:2: " + reason, "0 of 1 rules apply");
        assertThat(recorded()).isEqualTo("{}");
    }

    /** The application catches the overflow of its stack, in whichever of its calls it comes up, and goes on. */
    private static final String DEEP = """
            package app;

            public final class Deep {
                private int[] state = new int[3];

                long descend(int depth) {
                    return 1 + descend(depth + 1);
                }

                long step(int n) {
                    return n;
                }

                public static void main(String[] args) {
                    Deep deep = new Deep();
                    int overflows = 0;
                    for (int i = 0; i < 200; i++) {
                        try {
                            deep.descend(0);
                        } catch (StackOverflowError expected) {
                            overflows++;
                        }
                    }
                    long sum = 0;
                    deep.state = null;
                    for (int i = 0; i < 100; i++) {
                        sum += deep.step(i);
                    }
                    System.out.println("computed " + overflows + " " + sum);
                }
            }
            """;

    @Test
    void survivesAFullStackAndNullsOnTheWayToANumber() throws IOException {
        ProcessResult result = run("app.Deep", DEEP, """
                bricks:
                  - in: app.Deep.descend
                    brick: SAMPLING
                    elements: this.state.length
                  - in: app.Deep.step
                    brick: EMBEDDING
                    elements: this.state.length
                """);

        assertThat(result.out()).isEqualTo("computed 200 4950" + System.lineSeparator());
        assertThat(result.err())
                .contains(
                        "line 5, 'this.state.length' cannot be read, and counts as 0: java.lang.NullPointerException",
                        "line 5, 'this.state.length' could not be read 100 times, and counts as 0 there");
        assertThat(recorded()).contains("Embedding=100/0");
    }

    /** Shapes of classes, a hidden one among them, and threads that go on while the virtual machine ends. */
    private static final String SHAPES = """
            package app;

            import java.lang.invoke.MethodHandles;

            public final class Shapes {
                interface Kernel {
                    default long run(int n) {
                        return twice(n) + 1;
                    }

                    static long twice(int n) {
                        return 2L * n;
                    }
                }

                record Point(int x, long y) implements Kernel {
                    Point {
                        if (x < 0) {
                            throw new IllegalArgumentException("x " + x);
                        }
                    }

                    long norm() {
                        return x * x + y * y;
                    }
                }

                enum Kind {
                    ONE {
                        @Override
                        long of(int n) {
                            return n;
                        }
                    };

                    abstract long of(int n);
                }

                static final class Hidden implements Runnable {
                    @Override
                    public void run() {
                        calls++;
                    }
                }

                static volatile int calls;

                public static void main(String[] args) throws Throwable {
                    long sum = 0;
                    int refused = 0;
                    for (int i = -2; i < 8; i++) {
                        try {
                            Point point = new Point(i, 1L << i);
                            sum += point.run(i) + point.norm() + Kind.ONE.of(i);
                        } catch (IllegalArgumentException expected) {
                            refused++;
                        }
                    }
                    byte[] file = Shapes.class.getResourceAsStream("Shapes$Hidden.class").readAllBytes();
                    Class<?> hidden = MethodHandles.lookup().defineHiddenClass(file, true).lookupClass();
                    ((Runnable) hidden.getDeclaredConstructor().newInstance()).run();
                    new Hidden().run();
                    System.out.println("computed " + sum + " " + refused + " " + calls + " " + hidden.isHidden());
                    Thread endless = new Thread(() -> {
                        while (true) {
                            Kernel.twice(calls);
                        }
                    });
                    endless.setDaemon(true);
                    endless.start();
                    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                        for (int i = 0; i < 100_000; i++) {
                            new Point(i, 0).norm();
                        }
                    }));
                }
            }
            """;

    @Test
    void weavesEveryShapeOfClassAndLetsThreadsGoOnAtTheEnd() throws IOException {
        ProcessResult result = run("app.Shapes", SHAPES, """
                bricks:
                  - in: app.Shapes$Kernel.run
                    brick: default
                    category: OTHER
                  - in: app.Shapes$Kernel.twice
                    brick: static
                    category: OTHER
                  - in: app.Shapes$Point.<init>
                    brick: constructor
                    category: OTHER
                    elements: call.arg0
                  - in: app.Shapes$Point.<init>
                    brick: record
                    category: OTHER
                  - in: app.Shapes$Kind$1.of
                    brick: constant
                    category: OTHER
                    elements: arg0
                  - in: app.Shapes$Hidden.run
                    brick: not hidden
                    category: OTHER
                """);

        assertThat(result.out()).isEqualTo("computed 22077 2 2 true" + System.lineSeparator());
        assertThat(result.err())
                .contains(
                        "'call.arg0' is known only where a span begins before a call",
                        "brick agent: 5 of 6 rules apply")
                .doesNotContain("Exception in", "calls of the profiler failed");
        assertThat(recorded()).contains("constant=8/28", "default=8/8", "not hidden=1/1");
    }

    /** Hands tasks over to a pool of the JDK. */
    private static final String POOL = """
            package app;

            import java.util.concurrent.CountDownLatch;
            import java.util.concurrent.ExecutorService;
            import java.util.concurrent.Executors;

            public final class Pool {
                static long head(int n) {
                    return n;
                }

                static void layer(ExecutorService pool) throws InterruptedException {
                    CountDownLatch latch = new CountDownLatch(4);
                    for (int i = 0; i < 4; i++) {
                        int n = i;
                        pool.execute(() -> {
                            head(n);
                            latch.countDown();
                        });
                    }
                    latch.await();
                }

                public static void main(String[] args) throws Exception {
                    ExecutorService pool = Executors.newFixedThreadPool(2);
                    for (int i = 0; i < 3; i++) {
                        layer(pool);
                    }
                    pool.shutdown();
                }
            }
            """;

    @Test
    void handsTheLayerOnToAPoolOfTheJdk() throws IOException {
        ProcessResult result = run("app.Pool", POOL, """
                layer:
                  in: app.Pool.layer
                tasks:
                  - in: java.util.concurrent.ThreadPoolExecutor.execute
                bricks:
                  - in: app.Pool.head
                    brick: ATTENTION_SCORE
                """);

        assertThat(result.err()).contains("brick agent: 3 of 3 rules apply").doesNotContain("know no layer");
        assertThat(AgentIT.byLayer(folder.resolve("t.json"), "AttentionScore")).isEqualTo(Map.of(0, 4, 1, 4, 2, 4));
    }

    /** Chooses a manager of its own for {@code java.util.logging}, as application servers do. */
    private static final String LOGGING = """
            package app;

            import java.util.logging.LogManager;
            import java.util.logging.Logger;

            public final class Logging {
                public static final class Manager extends LogManager {}

                static void step() {}

                public static void main(String[] args) {
                    System.setProperty("java.util.logging.manager", Manager.class.getName());
                    for (int i = 0; i < 3; i++) {
                        step();
                    }
                    Logger.getLogger("app").info("the application's own message");
                    System.out.println(LogManager.getLogManager().getClass().getName());
                }
            }
            """;

    /** The library warns at the start, because a setting has an invalid value. */
    @ParameterizedTest
    @ValueSource(strings = {"on", "maybe"})
    void theApplicationChoosesTheManagerOfItsLogging(String setting) throws IOException {
        ProcessResult result = run(Map.of("BRICK_PROFILER", setting), "app.Logging", LOGGING, """
                bricks:
                  - in: app.Logging.step
                    brick: SAMPLING
                """);

        assertThat(result.out()).contains("app.Logging$Manager");
        assertThat(result.err()).contains("INFO: the application's own message").satisfies(err -> assertThat(
                        err.contains("brick agent: environment variable BRICK_PROFILER=maybe is"
                                + " neither true, on, 1 nor false, off, 0: ignored"))
                .isEqualTo(setting.equals("maybe")));
        assertThat(recorded()).isEqualTo("{Sampling=3/3}");
    }
}
