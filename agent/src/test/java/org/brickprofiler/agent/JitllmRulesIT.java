package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.assertj.core.groups.Tuple;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepStats;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.testing.ChildProcess;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The rules that come with the agent for jitLLM, on a stand-in with its names and its loops over a prompt. That they
 * match the names of the engine itself is the subject of {@link ListedEnginesTest}.
 */
@Timeout(120)
class JitllmRulesIT {

    /** Forward passes sleep. */
    private static final String CORE = """
            package org.beehive.jitllm.backend.cpu;

            public final class InferenceCore {
                record Configuration() {}

                record StandardWeights() {}

                record State() {}

                public static void forwardJava(Object model, Object state, int token, int position) {
                    forwardJava(new Configuration(), new StandardWeights(), new State(), token, position);
                }

                static void forwardJava(Configuration config, StandardWeights weights, State state, int token, int position) {
                    sleep();
                }

                static void sleep() {
                    try {
                        Thread.sleep(20);
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }
            }
            """;

    private static final String PARTS = """
            package org.beehive.jitllm.backend.cpu;

            public final class InferenceCoreBatchPrefillDecode {
                public static void batchForwardJavaPrefill(Object model, Object state, int[] tokens, int position, int count) {
                    InferenceCore.sleep();
                }
            }
            """;

    private static final String LOOPS = """
            package org.beehive.jitllm.inference;

            import java.util.List;
            import java.util.function.IntSupplier;
            import org.beehive.jitllm.backend.cpu.InferenceCore;
            import org.beehive.jitllm.backend.cpu.InferenceCoreBatchPrefillDecode;

            record PromptIngestion(int firstToken, int firstIndex) {
                static PromptIngestion of(int seed, List<Integer> prompt) {
                    return new PromptIngestion(seed, prompt.get(0) == seed ? 1 : 0);
                }
            }

            public final class TokenGenerationLoop {
                public static void generateTokensLlama(Object model, Object state, int start, List<Integer> prompt, IntSupplier sampler, int count) {
                    PromptIngestion ingestion = PromptIngestion.of(1, prompt);
                    int token = ingestion.firstToken();
                    int index = ingestion.firstIndex();
                    for (int position = start, given = 0; given < count; position++) {
                        InferenceCore.forwardJava(model, state, token, position);
                        if (index < prompt.size()) {
                            token = prompt.get(index++);
                        } else {
                            token = sampler.getAsInt();
                            given++;
                        }
                    }
                }

                public static void generateLlamaCpuWithBatchPrefill(Object model, Object state, int start, List<Integer> prompt, IntSupplier sampler, int count) {
                    int position = start;
                    for (; position + 2 <= prompt.size(); position += 2) {
                        InferenceCoreBatchPrefillDecode.batchForwardJavaPrefill(model, state, new int[2], position, 2);
                    }
                    for (int given = 0; given < count; given++) {
                        InferenceCore.forwardJava(model, state, 1, position++);
                        sampler.getAsInt();
                    }
                }
            }
            """;

    /** A server whose callers wait for each other inside a lock. The second one arrives while the first is served. */
    private static final String SERVER = """
            package org.beehive.jitllm.server;

            import java.util.List;
            import java.util.function.IntSupplier;
            import org.beehive.jitllm.inference.TokenGenerationLoop;

            public final class InferenceService {
                record Result(boolean stopped) {}

                private final Object lock = new Object();

                Result generate(List<Integer> prompt, IntSupplier sampler, boolean stops) {
                    synchronized (lock) {
                        TokenGenerationLoop.generateTokensLlama("", "", 0, prompt, sampler, 3);
                        return new Result(stops);
                    }
                }

                public static void main(String[] args) throws Exception {
                    InferenceService service = new InferenceService();
                    Thread second = new Thread(() -> service.generate(List.of(3, 4, 5), () -> 1, true));
                    service.generate(List.of(1, 3, 4, 5, 6), () -> {
                        if (second.getState() == Thread.State.NEW) {
                            second.start();
                            while (second.getState() != Thread.State.BLOCKED) {
                                Thread.onSpinWait();
                            }
                        }
                        return 1;
                    }, false);
                    second.join();
                    TokenGenerationLoop.generateLlamaCpuWithBatchPrefill("", "", 0, List.of(1, 2, 3, 4), () -> 1, 2);
                }
            }
            """;

    @TempDir
    private Path folder;

    private ChildProcess engine(String rules) throws IOException {
        WovenApplication.compile(folder, "org/beehive/jitllm/backend/cpu/InferenceCore.java", CORE);
        WovenApplication.compile(folder, "org/beehive/jitllm/backend/cpu/InferenceCoreBatchPrefillDecode.java", PARTS);
        WovenApplication.compile(folder, "org/beehive/jitllm/inference/TokenGenerationLoop.java", LOOPS);
        Path classes = WovenApplication.compile(folder, "org/beehive/jitllm/server/InferenceService.java", SERVER);
        return ChildProcess.java()
                .jvmOptions(List.of("-javaagent:" + WovenApplication.JAR + "=rules=" + rules + ",out=run.json"))
                .jvmOptions(List.of("-cp", classes.toString(), "org.beehive.jitllm.server.InferenceService"))
                .without(AgentOptions.OUT_VARIABLE)
                .in(folder);
    }

    /**
     * A prompt of five tokens that begins with the token of the state takes five passes, and one of three tokens
     * without it four. One of four tokens takes two parts, and a pass that computes the logits of its last token again.
     * Three tokens are generated for the first two, two for the last.
     */
    @Test
    void countsPromptsByTheirLoops() throws IOException {
        WovenApplication.compile(
                folder,
                "org/beehive/gpullama3/inference/InferenceCore.java",
                "package org.beehive.gpullama3.inference; final class InferenceCore {}");
        assertThat(engine("jitllm").run().assertSucceeded().err())
                .contains("rules of jitllm found no place: they are written for jitLLM 1.0.0 and 1.0.1")
                .contains("the class path also has GPULlama3.java 1.0.0, see rules=gpullama3, of which the rules jitllm"
                        + " record nothing");

        ProfileSnapshot profile = JsonReport.read(folder.resolve("run.json"));
        StepStats prefill = profile.steps().phase(StepInfo.Phase.PREFILL).orElseThrow();
        StepStats decode = profile.steps().phase(StepInfo.Phase.DECODE).orElseThrow();
        assertThat(List.of(prefill.count(), prefill.prefillTokens(), prefill.outputTokens()))
                .isEqualTo(List.of(5L + 4 + 3, 5L + 4 + 5, 3L));
        assertThat(List.of(decode.count(), decode.outputTokens())).isEqualTo(List.of(2L + 2 + 1, 5L));
        RequestStats requests = profile.requests();
        assertThat(requests.counts().finished(Outcome.LENGTH)).isEqualTo(1);
        assertThat(requests.counts().finished(Outcome.COMPLETED)).isEqualTo(2);
        assertThat(requests.slowestFirstTokens())
                .extracting(RequestRecord::promptTokens, RequestRecord::outputTokens)
                .containsExactlyInAnyOrder(Tuple.tuple(5L, 3L), Tuple.tuple(4L, 3L), Tuple.tuple(5L, 2L));
        // The second client waits for two passes of 20 ms, in which the first one decodes.
        assertThat(requests.causeNs(Cause.QUEUED_BEHIND_DECODING)).isGreaterThanOrEqualTo(40_000_000);
    }

    /** The earlier engine has another package: one message instead of one for each rule. */
    @Test
    void namesTheEngineThatIsThere() throws IOException {
        assertThat(engine("gpullama3").run().assertSucceeded().err())
                .contains(
                        "the rules gpullama3 are written for GPULlama3.java 1.0.0",
                        "the class path has jitLLM 1.0.0 and 1.0.1, see rules=jitllm")
                .doesNotContain("there is no class");
    }
}
