package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.tools.ToolProvider;
import org.brickprofiler.BrickStats;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.ChildProcess;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/**
 * An application that knows nothing of the agent, compiled anew, in virtual machines of their own with the agent's jar.
 */
abstract class WovenApplication {

    static final Path JAR = Path.of(System.getProperty("agent.jar")).toAbsolutePath();

    static final String APPLICATION = """
            package app;

            import java.util.function.IntConsumer;
            import java.util.stream.IntStream;

            public final class Main {
                final int dim = 8;
                int[] late;

                static double product(int n) {
                    double sum = 0;
                    for (int i = 0; i < n; i++) {
                        sum += Math.sqrt(i);
                    }
                    return sum;
                }

                double forward(int[] tokens) {
                    double x = 0;
                    for (int layer = 0; layer < 3; layer++) {
                        x += product(dim);
                        parallel(16, head -> {
                            product(head);
                            softmax();
                        });
                        x += product(tokens.length);
                    }
                    return x;
                }

                static void parallel(int count, IntConsumer task) {
                    IntStream.range(0, count).parallel().forEach(task);
                }

                static void softmax() {}

                static void rmsNorm(float[] x) {
                    for (int i = 0; i < x.length; i++) {
                        x[i] *= 0.5f;
                    }
                }

                int tree(int depth) {
                    return depth == 0 ? 1 : tree(depth - 1) + tree(depth - 1);
                }

                static void each(int count, Runnable task) throws Exception {
                    Thread[] threads = new Thread[count];
                    for (int i = 0; i < count; i++) {
                        threads[i] = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
                    }
                    for (Thread thread : threads) {
                        thread.join();
                    }
                }

                public static void main(String[] args) throws Exception {
                    Main main = new Main();
                    double x = 0;
                    for (int i = 0; i < 12; i++) {
                        main.late = i < 2 ? null : new int[3];
                        x += main.forward(new int[5]);
                        rmsNorm(new float[8]);
                    }
                    main.tree(3);
                    System.out.println("computed " + (long) x + " in module " + Main.class.getModule().getName());
                    switch (args.length == 0 ? "" : args[0]) {
                        case "exit" -> System.exit(3);
                        case "throw" -> throw new IllegalStateException("on purpose");
                        case "virtual" -> each(1_000, () -> main.tree(1));
                        case "decode" -> {
                            for (int i = 0; i < 200; i++) {
                                main.forward(new int[1]);
                            }
                        }
                        case "wait" -> {
                            System.out.flush();
                            java.nio.file.Files.writeString(java.nio.file.Path.of("ready"), "");
                            while (!java.nio.file.Files.exists(java.nio.file.Path.of("go"))) {
                                Thread.sleep(20);
                            }
                            for (int i = 0; i < 7; i++) {
                                main.forward(new int[5]);
                            }
                            java.nio.file.Files.writeString(java.nio.file.Path.of("done"), "");
                            while (!java.nio.file.Files.exists(java.nio.file.Path.of("end"))) {
                                Thread.sleep(20);
                            }
                        }
                        default -> { }
                    }
                }
            }
            """;

    static final String RULES = """
            step:
              in: app.Main.forward
              tokens: tokens.length
              kv: this.dim
              warmup: 2
            layer:
              in: app.Main.forward
              from: before product 1
              to: after product 2
            tasks:
              - in: app.Main.parallel
            bricks:
              - in: app.Main.forward
                call: product 1
                brick: QKV_PROJECTION
                elements: this.dim
              - in: app.Main.forward
                lambda: parallel 1
                from: entry
                to: before softmax
                brick: ATTENTION_SCORE
              - in: app.Main.forward
                from: after parallel
                to: exit
                brick: the rest
                category: FFN
                elements: tokens.length
              - in: app.Main.tree
                brick: SAMPLING
            """;

    /** Twelve steps less two of warm-up, of three layers with sixteen heads; a tree of 15 nodes. */
    static final String RECORDED = "{AttentionScore=480/480, QkvProjection=30/240, Sampling=15/15, the rest=30/150}";

    @TempDir
    Path folder;

    Path classes = Path.of("");

    @BeforeEach
    void compileApplication() throws IOException {
        classes = compile(folder, "app/Main.java", APPLICATION);
        Files.writeString(folder.resolve("bricks.yaml"), RULES);
    }

    /** Compiles a program in a folder, and returns the folder of its classes. */
    static Path compile(Path folder, String name, String source) throws IOException {
        Path file = folder.resolve("src").resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, source);
        Path to = folder.resolve("classes");
        int exit = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        null,
                        null,
                        "-g",
                        "--release",
                        "17",
                        "-cp",
                        to.toString(),
                        "-d",
                        to.toString(),
                        file.toString());
        assertThat(exit).as("compiling " + name).isZero();
        return to;
    }

    ChildProcess application(String agentOptions, String... arguments) {
        return ChildProcess.java()
                .jvmOptions(List.of("-javaagent:" + JAR + "=" + agentOptions))
                .jvmOptions(List.of("-cp", classes.toString(), "app.Main"))
                .arguments(List.of(arguments))
                .without(AgentOptions.OUT_VARIABLE)
                .in(folder);
    }

    String recorded(String file) throws IOException {
        return JsonReport.read(folder.resolve(file)).bricks().stream()
                .collect(Collectors.toMap(
                        BrickStats::name, each -> each.count() + "/" + each.totalElements(), (a, b) -> a, TreeMap::new))
                .toString();
    }

    void await(String file) throws InterruptedException {
        for (int i = 0; i < 2_000 && !Files.exists(folder.resolve(file)); i++) {
            Thread.sleep(20);
        }
        assertThat(folder.resolve(file)).exists();
    }
}
