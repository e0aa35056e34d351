package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.assertj.core.groups.Tuple;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepStats;
import org.brickprofiler.Steps;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.testing.ChildProcess;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rules that come with the agent for GPULlama3.java, on a program with its names and its loops over a prompt. */
@Timeout(120)
class GpuLlama3RulesIT {

    /** A forward pass sleeps. */
    private static final String ENGINE = """
            package org.beehive.gpullama3.inference;

            import java.util.ArrayList;
            import java.util.List;
            import java.util.function.IntSupplier;

            final class InferenceCore {
                static void forwardJava(Object model, Object state, int token, int position) {
                    pass();
                }

                static void forwardJavaQwen3(Object model, Object state, int token, int position) {
                    pass();
                }

                static void forwardJavaPhi3(Object model, Object state, int token, int position) {
                    pass();
                }

                private static void pass() {
                    try {
                        Thread.sleep(20);
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }
            }

            public final class InferenceEngine {
                interface Forward {
                    void apply(Object model, Object state, int token, int position);
                }

                public static int generateTokensLlama(Object model, Object state, int start, List<Integer> prompt, IntSupplier sampler, int count) {
                    return generate(InferenceCore::forwardJava, model, state, start, prompt, sampler, count);
                }

                static int generateTokensPhi3(Object model, Object state, int start, List<Integer> prompt, IntSupplier sampler, int count) {
                    return generate(InferenceCore::forwardJavaPhi3, model, state, start, prompt, sampler, count);
                }

                private static int generate(Forward forward, Object model, Object state, int start, List<Integer> prompt, IntSupplier sampler, int count) {
                    int token = 1;
                    int done = 0;
                    for (int position = start, given = 0; given < count; position++) {
                        forward.apply(model, state, token, position);
                        if (done < prompt.size()) {
                            token = prompt.get(done++);
                        } else {
                            token = sampler.getAsInt();
                            given++;
                        }
                    }
                    return token;
                }

                static int generateTokensQwen3(Object model, Object state, int start, List<Integer> prompt, IntSupplier sampler, int count) {
                    int token = 1;
                    int done = 0;
                    for (int position = start, given = 0; given < count; position++) {
                        if (done < prompt.size()) {
                            InferenceCore.forwardJavaQwen3(model, state, prompt.get(done++), position);
                            if (done < prompt.size()) {
                                continue;
                            }
                        } else {
                            InferenceCore.forwardJavaQwen3(model, state, token, position);
                        }
                        token = sampler.getAsInt();
                        given++;
                    }
                    return token;
                }

                public static void main(String[] args) {
                    long startNs = System.nanoTime();
                    long[] firstNs = new long[1];
                    IntSupplier sampler = () -> {
                        if (firstNs[0] == 0) {
                            firstNs[0] = System.nanoTime() - startNs;
                        }
                        return 1;
                    };
                    List<Integer> prompt = new ArrayList<>(List.of(2, 3, 4, 5, 6));
                    if (args[0].equals("Llama")) {
                        generateTokensLlama("", "", 0, prompt, sampler, 3);
                    } else if (args[0].equals("Phi3")) {
                        generateTokensPhi3("", "", 0, prompt, sampler, 3);
                    } else {
                        generateTokensQwen3("", "", 0, prompt, sampler, 3);
                    }
                    System.out.println(firstNs[0] / 1000);
                }
            }
            """;

    /** A server whose callers wait for each other inside a lock. The second one arrives while the first is served. */
    private static final String SERVER = """
            package org.beehive.gpullama3.server;

            import java.util.List;
            import java.util.function.IntConsumer;
            import java.util.function.IntSupplier;
            import org.beehive.gpullama3.inference.InferenceEngine;

            public final class InferenceService {
                private final Object lock = new Object();

                int generate(List<Integer> prompt, IntSupplier sampler) {
                    synchronized (lock) {
                        return InferenceEngine.generateTokensLlama("", "", 0, prompt, sampler, 3);
                    }
                }

                public static void main(String[] args) throws Exception {
                    InferenceService service = new InferenceService();
                    Thread second = new Thread(() -> service.generate(List.of(2), () -> 1));
                    service.generate(List.of(2), () -> {
                        if (second.getState() == Thread.State.NEW) {
                            second.start();
                            while (second.getState() != Thread.State.BLOCKED) {
                                Thread.onSpinWait();
                            }
                        }
                        return 1;
                    });
                    second.join();
                }
            }
            """;

    /** A plan of two layers, which runs two batches of a prompt and three tokens. */
    private static final String PLAN = """
            package org.beehive.gpullama3.tornadovm;

            public final class TornadoVMMasterPlanBatchPrefillDecode {
                private int batchActivationIdx() {
                    return 0;
                }

                private int batchLayerIdx(int layer) {
                    return 1 + layer;
                }

                private int decodeActivationIdx() {
                    return 3;
                }

                private int decodeLayerIdx(int layer) {
                    return 4 + layer;
                }

                private int logitsIdx() {
                    return 6;
                }

                private void execute(int graph) {
                    Thread.onSpinWait();
                }

                public void tornadoVMForwardBatchPrefill() {
                    execute(batchActivationIdx());
                    for (int layer = 0; layer < 2; layer++) {
                        execute(batchLayerIdx(layer));
                    }
                }

                public void tornadoVMForwardDecode(int position) {
                    execute(decodeActivationIdx());
                    for (int layer = 0; layer < 2; layer++) {
                        execute(decodeLayerIdx(layer));
                    }
                    execute(logitsIdx());
                }

                public static void main(String[] args) {
                    TornadoVMMasterPlanBatchPrefillDecode plan = new TornadoVMMasterPlanBatchPrefillDecode();
                    plan.tornadoVMForwardBatchPrefill();
                    plan.tornadoVMForwardBatchPrefill();
                    for (int position = 0; position < 3; position++) {
                        plan.tornadoVMForwardDecode(position);
                    }
                }
            }
            """;

    @TempDir
    private Path folder;

    /** The elements of a brick are tokens or batches, never both. */
    @Test
    void graphsOfABatchAreBricksOfTheirOwn() throws Exception {
        String name = "org.beehive.gpullama3.tornadovm.TornadoVMMasterPlanBatchPrefillDecode";
        Path classes = WovenApplication.compile(folder, name.replace('.', '/') + ".java", PLAN);
        ChildProcess.java()
                .jvmOptions(List.of("-javaagent:" + WovenApplication.JAR + "=rules=gpullama3,out=run.json"))
                .jvmOptions(List.of("-cp", classes.toString(), name))
                .without(AgentOptions.OUT_VARIABLE)
                .in(folder)
                .run()
                .assertSucceeded();

        assertThat(JsonReport.read(folder.resolve("run.json")).bricks())
                .extracting(BrickStats::name, BrickStats::count, BrickStats::totalElements)
                .containsExactlyInAnyOrder(
                        Tuple.tuple("batch activation graph", 2L, 2L),
                        Tuple.tuple("batch layer graph", 4L, 4L),
                        Tuple.tuple("activation graph", 3L, 3L),
                        Tuple.tuple("layer graph", 6L, 6L),
                        Tuple.tuple("LmHead", 3L, 3L));
    }

    /** A prompt of five tokens and three generated ones; the loops of Llama and Phi-3 begin with one token more. */
    @ParameterizedTest
    @CsvSource({"Llama, 6", "Phi3, 6", "Qwen3, 5"})
    void thePassesOfAPromptAreOnePrompt(String loop, long passes) throws Exception {
        Path classes = WovenApplication.compile(folder, "org/beehive/gpullama3/inference/InferenceEngine.java", ENGINE);
        String out = ChildProcess.java()
                .jvmOptions(List.of("-javaagent:" + WovenApplication.JAR + "=rules=gpullama3,out=run.json"))
                .jvmOptions(List.of("-cp", classes.toString(), "org.beehive.gpullama3.inference.InferenceEngine", loop))
                .without(AgentOptions.OUT_VARIABLE)
                .in(folder)
                .run()
                .assertSucceeded()
                .out();

        ProfileSnapshot profile = JsonReport.read(folder.resolve("run.json"));
        Steps steps = profile.steps();
        StepStats prefill = steps.phase(StepInfo.Phase.PREFILL).orElseThrow();
        StepStats decode = steps.phase(StepInfo.Phase.DECODE).orElseThrow();
        assertThat(List.of(prefill.count(), prefill.prefillTokens(), prefill.outputTokens()))
                .isEqualTo(List.of(passes, passes, 1L));
        assertThat(List.of(decode.count(), decode.outputTokens())).isEqualTo(List.of(2L, 2L));
        assertThat(steps.timeToFirstToken().count()).isEqualTo(1);
        RequestStats requests = profile.requests();
        assertThat(requests.counts().finished(Outcome.COMPLETED)).isEqualTo(1);
        assertThat(requests.counts().ignoredCalls()).isZero();
        assertThat(requests.slowestFirstTokens())
                .extracting(RequestRecord::promptTokens, RequestRecord::outputTokens)
                .containsExactly(Tuple.tuple(passes, 3L));
        long firstUs = Long.parseLong(out.strip());
        assertThat(steps.timeToFirstToken().percentileNs(50) / 1_000).isBetween(passes * 20_000, firstUs * 11 / 10);
        double tokens = profile.facts().tokensPerSec().orElseThrow() * (prefill.totalNs() + decode.totalNs()) / 1e9;
        // The steps nearly fill the wall time, unless the machine is busy with something else.
        assertThat(tokens).as("tokens in the time of the steps").isPositive().isLessThan(3.001);
    }

    /** The second client waits for two passes of 20 ms, in which the first one decodes. */
    @Test
    void theWaitForTheLockOfTheServerIsTimeInTheQueue() throws Exception {
        WovenApplication.compile(folder, "org/beehive/gpullama3/inference/InferenceEngine.java", ENGINE);
        String name = "org.beehive.gpullama3.server.InferenceService";
        Path classes = WovenApplication.compile(folder, name.replace('.', '/') + ".java", SERVER);
        ChildProcess.java()
                .jvmOptions(List.of("-javaagent:" + WovenApplication.JAR + "=rules=gpullama3,out=run.json"))
                .jvmOptions(List.of("-cp", classes.toString(), name))
                .without(AgentOptions.OUT_VARIABLE)
                .in(folder)
                .run()
                .assertSucceeded();

        RequestStats requests = JsonReport.read(folder.resolve("run.json")).requests();
        assertThat(requests.counts().finished(Outcome.COMPLETED)).isEqualTo(2);
        assertThat(requests.countedFrom()).containsExactly("the call of InferenceService.generate");
        assertThat(requests.causeNs(Cause.QUEUED_BEHIND_DECODING)).isGreaterThanOrEqualTo(40_000_000);
        assertThat(JsonReport.read(folder.resolve("run.json")).facts().disturbances())
                .noneMatch(remark -> remark.contains("within another one"));
    }
}
