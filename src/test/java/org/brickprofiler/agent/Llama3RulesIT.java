package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.assertj.core.groups.Tuple;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepStats;
import org.brickprofiler.Steps;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The rules that come with the agent for Llama3.java, on a program with its names, calls and parts of prompts. */
@Timeout(120)
class Llama3RulesIT {

    /** Computes nothing: a product sleeps, so that parts of a prompt take longer than the last of them. */
    private static final String ENGINE = """
            package com.llama4j;

            import java.util.Collections;
            import java.util.List;
            import java.util.function.IntConsumer;
            import java.util.function.LongConsumer;

            final class Parallel {
                static void parallelFor(int from, int to, IntConsumer task) {
                    for (int i = from; i < to; i++) {
                        task.accept(i);
                    }
                }

                static void parallelForLong(long from, long to, LongConsumer task) {
                    for (long i = from; i < to; i++) {
                        task.accept(i);
                    }
                }
            }

            final class Tensor {
                int softmaxes;

                void matmul(int rows, Tensor[] x) {
                    try {
                        Thread.sleep(2);
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }

                void softmaxInPlace(int size) {
                    softmaxes++;
                }
            }

            interface Sampler {
                int sampleToken(Tensor logits);
            }

            final class Llama {
                static final int LAYERS = 2;
                static final int HEADS = 2;
                static final int PART = 16;
                static final Tensor W = new Tensor();

                static Tensor forward(Llama model, Tensor state, int[] tokens, int position, boolean computeLogits) {
                    int n = tokens.length;
                    IntConsumer nothing = i -> { };
                    Parallel.parallelFor(0, n, i -> { });
                    for (int layer = 0; layer < LAYERS; layer++) {
                        Parallel.parallelFor(0, n, i -> { });
                        W.matmul(n, null);
                        W.matmul(n, null);
                        W.matmul(n, null);
                        Parallel.parallelFor(0, n, i -> { });
                        Parallel.parallelFor(0, n, i -> { });
                        if (!computeLogits && layer == LAYERS - 1) {
                            return null;
                        }
                        Parallel.parallelForLong(0, (long) n * HEADS, head -> {
                            nothing.accept(0);
                            state.softmaxInPlace(n);
                            nothing.accept(1);
                        });
                        W.matmul(n, null);
                        Parallel.parallelFor(0, n, i -> { });
                        Parallel.parallelFor(0, n, i -> { });
                        W.matmul(n, null);
                        W.matmul(n, null);
                        Parallel.parallelFor(0, n, i -> { });
                        Parallel.parallelFor(0, n, i -> { });
                        W.matmul(n, null);
                        Parallel.parallelFor(0, n, i -> { });
                    }
                    Parallel.parallelFor(0, n, i -> { });
                    W.matmul(n, null);
                    return W;
                }

                static int generateTokens(
                        Llama model, Tensor state, int startPosition, List<Integer> prompt, int count, Sampler sampler) {
                    int done = 0;
                    int token = 0;
                    int given = 0;
                    for (int position = startPosition; given < count; position++) {
                        if (done < prompt.size()) {
                            int n = Math.min(PART, prompt.size() - done);
                            forward(model, state, new int[n], position, done + n >= prompt.size());
                            position += n - 1;
                            done += n;
                            if (done < prompt.size()) {
                                continue;
                            }
                        } else {
                            forward(model, state, new int[] {token}, position, true);
                        }
                        token = sampler.sampleToken(W);
                        given++;
                    }
                    return given;
                }

                static void generateTogether() throws InterruptedException {
                    Thread[] threads = new Thread[2];
                    for (int i = 0; i < 2; i++) {
                        int n = i + 1;
                        threads[i] = new Thread(() -> generateTokens(
                                new Llama(), new Tensor(), 0, Collections.nCopies(20 * n, 1), 2 + n, logits -> 1));
                        threads[i].start();
                    }
                    for (Thread thread : threads) {
                        thread.join();
                    }
                }

                public static void main(String[] args) throws InterruptedException {
                    if (args.length > 0) {
                        generateTogether();
                        return;
                    }
                    long startNs = System.nanoTime();
                    long[] firstNs = new long[1];
                    generateTokens(new Llama(), W, 0, Collections.nCopies(33, 1), 4, logits -> {
                        if (firstNs[0] == 0) {
                            firstNs[0] = System.nanoTime() - startNs;
                        }
                        return 1;
                    });
                    System.out.println(firstNs[0] / 1000);
                }
            }
            """;

    @TempDir
    private Path folder;

    private ProcessResult run(String... arguments) throws IOException {
        Path classes = AgentIT.compile(folder, "com/llama4j/Llama.java", ENGINE);
        return ChildProcess.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString())
                .jvmOptions(List.of("-javaagent:" + AgentIT.JAR + "=rules=llama3,out=run.json"))
                .jvmOptions(List.of("-cp", classes.toString(), "com.llama4j.Llama"))
                .arguments(List.of(arguments))
                .without(AgentOptions.OUT_VARIABLE)
                .in(folder)
                .run()
                .assertSucceeded();
    }

    /** A prompt of 33 tokens in parts of 16, 16 and 1, and three more tokens after the first one. */
    @Spec({"22.15", "22.19"})
    @Test
    void countsOneFirstTokenForAPromptInParts() throws IOException {
        ProcessResult result = run();

        assertThat(result.err()).contains("brick agent: 25 of 25 rules apply");
        ProfileSnapshot profile = JsonReport.read(folder.resolve("run.json"));
        Steps steps = profile.steps();
        StepStats prefill = steps.phase(StepInfo.Phase.PREFILL).orElseThrow();
        StepStats decode = steps.phase(StepInfo.Phase.DECODE).orElseThrow();
        assertThat(List.of(prefill.count(), prefill.prefillTokens(), prefill.kvLength(), prefill.outputTokens()))
                .isEqualTo(List.of(3L, 33L, 0L + 16 + 32, 1L));
        assertThat(List.of(decode.count(), decode.kvLength(), decode.outputTokens()))
                .isEqualTo(List.of(3L, 33L + 34 + 35, 3L));
        assertThat(steps.timeToFirstToken().count()).isEqualTo(1);
        assertThat(steps.timePerOutputToken().count()).isEqualTo(3);
        assertThat(steps.abandoned()).isZero();
        // Two parts of ten products and one of fifteen, of 2 ms each; at most the reading of the engine's own clock.
        long firstUs = Long.parseLong(result.out().strip());
        assertThat(steps.timeToFirstToken().percentileNs(50) / 1_000).isBetween(65_000L, firstUs * 11 / 10);
        double tokens = profile.facts().tokensPerSec().orElseThrow() * (prefill.totalNs() + decode.totalNs()) / 1e9;
        assertThat(tokens).as("by the wall time, which the steps nearly fill").isBetween(2.0, 4.001);
    }

    @Spec({"22.24", "22.27"})
    @Test
    void tellsConcurrentGenerationsApart() throws IOException {
        run("together");
        RequestStats requests = JsonReport.read(folder.resolve("run.json")).requests();
        assertThat(requests.counts().arrived()).isEqualTo(2);
        assertThat(requests.counts().finished(Outcome.COMPLETED)).isEqualTo(2);
        assertThat(requests.counts().ignoredCalls()).isZero();
        assertThat(requests.slowestFirstTokens())
                .extracting(RequestRecord::promptTokens, RequestRecord::outputTokens)
                .containsExactly(Tuple.tuple(40L, 4L), Tuple.tuple(20L, 3L));
    }

    /** Parts of a prompt without logits end in the last layer, after its keys and values. */
    @Spec("22.2")
    @Test
    void countsEachBrick() throws IOException {
        run();
        int full = 4;
        int layers = full * 2 + 2;
        Map<String, Long> counts = JsonReport.read(folder.resolve("run.json")).bricks().stream()
                .collect(Collectors.toMap(BrickStats::name, BrickStats::count));
        assertThat(counts)
                .containsEntry("QkvProjection", 3L * (layers + 2))
                .containsEntry("OutputProjection", (long) layers)
                .containsEntry("AttentionSoftmax", 2L * 2 * (full + 16))
                .containsEntry("LmHead", (long) full)
                .containsEntry("Sampling", (long) full);
    }
}
