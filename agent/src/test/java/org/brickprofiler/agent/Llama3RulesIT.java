package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.assertj.core.groups.Tuple;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepStats;
import org.brickprofiler.Steps;
import org.brickprofiler.Work;
import org.brickprofiler.WorkModel;
import org.brickprofiler.WorkModel.LlamaConfig;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The rules that come with the agent for Llama3.java, on a program with its names, calls and parts of prompts. */
@Timeout(120)
class Llama3RulesIT {

    /** Computes nothing: a product sleeps, so that all parts of a prompt take measurably longer than the last one. */
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

            enum GGMLType {
                F32,
                Q8_0
            }

            final class Configuration {
                public final int dim = 64;
                public final int hiddenDim = 128;
                public final int numberOfLayers = Llama.LAYERS;
                public final int numberOfHeads = Llama.HEADS;
                public final int numberOfKeyValueHeads = 1;
                public final int vocabularySize = 256;
                public final int headSize = 32;
            }

            final class Weights {
                public final Tensor token_embedding_table = Llama.W;
            }

            final class Tensor {
                int softmaxes;

                GGMLType type() {
                    return GGMLType.Q8_0;
                }

                void matmul(Tensor x, Tensor out, int rows, int columns) {
                    matmul(1, null, null, rows, columns);
                }

                void matmul(int vectors, Tensor[] x, Tensor[] out, int rows, int columns) {
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

                Configuration configuration() {
                    return new Configuration();
                }

                Weights weights() {
                    return new Weights();
                }

                static Tensor forward(Llama model, Tensor state, int[] tokens, int position, boolean computeLogits) {
                    int n = tokens.length;
                    IntConsumer nothing = i -> { };
                    Parallel.parallelFor(0, n, i -> { });
                    for (int layer = 0; layer < LAYERS; layer++) {
                        Parallel.parallelFor(0, n, i -> { });
                        W.matmul(n, null, null, 64, 64);
                        W.matmul(n, null, null, 32, 64);
                        W.matmul(n, null, null, 32, 64);
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
                        W.matmul(n, null, null, 64, 64);
                        Parallel.parallelFor(0, n, i -> { });
                        Parallel.parallelFor(0, n, i -> { });
                        W.matmul(n, null, null, 128, 64);
                        W.matmul(n, null, null, 128, 64);
                        Parallel.parallelFor(0, n, i -> { });
                        Parallel.parallelFor(0, n, i -> { });
                        W.matmul(n, null, null, 64, 128);
                        Parallel.parallelFor(0, n, i -> { });
                    }
                    Parallel.parallelFor(0, n, i -> { });
                    W.matmul(null, null, 256, 64);
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
        Path classes = WovenApplication.compile(folder, "com/llama4j/Llama.java", ENGINE);
        return ChildProcess.java()
                .jvmOptions(List.of("-javaagent:" + WovenApplication.JAR + "=rules=llama3,out=run.json"))
                .jvmOptions(List.of("-cp", classes.toString(), "com.llama4j.Llama"))
                .arguments(List.of(arguments))
                .without(AgentOptions.OUT_VARIABLE)
                .in(folder)
                .run()
                .assertSucceeded();
    }

    /** A prompt of 33 tokens in parts of 16, 16 and 1, and three more tokens after the first one. */
    @Test
    void countsOneFirstTokenForAPromptInParts() throws IOException {
        ProcessResult result = run();

        assertThat(result.err()).contains("brick agent: 26 of 26 rules apply");
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
        // Two parts of ten products and one of fifteen, of 2 ms each; at most 10 % more than the engine's own clock.
        long firstUs = Long.parseLong(result.out().strip());
        assertThat(steps.timeToFirstToken().percentileNs(50) / 1_000).isBetween(65_000L, firstUs * 11 / 10);
        double tokens = profile.facts().tokensPerSec().orElseThrow() * (prefill.totalNs() + decode.totalNs()) / 1e9;
        assertThat(tokens)
                .as("tokens in the time of the steps, which nearly fill the wall time")
                .isBetween(2.0, 4.001);
    }

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

    /**
     * A prompt of 33 tokens in three parts, of which the first two end in the last layer, and three more tokens.
     * Weights of Q8_0 take 34 bytes for 32.
     */
    @Test
    void statesTheWorkOfEachBrick() throws IOException {
        run();
        ProfileSnapshot profile = JsonReport.read(folder.resolve("run.json"));
        Map<String, Work> prefill = profile.bricks(StepInfo.Phase.PREFILL).stream()
                .collect(Collectors.toMap(BrickStats::name, BrickStats::work));
        Map<String, Work> decode = profile.bricks(StepInfo.Phase.DECODE).stream()
                .collect(Collectors.toMap(BrickStats::name, BrickStats::work));
        long query = 64 * 128;
        long down = 64 * 128;
        assertThat(work(prefill, "QkvProjection").flops()).isEqualTo(2 * 2 * 33 * query);
        assertThat(work(prefill, "DownProjection").flops()).isEqualTo(2 * (2 * 33 - 32) * down);
        assertThat(work(decode, "DownProjection").bytes()).isEqualTo(3 * 2 * (down * 34 / 32 + (64 + 128) * 4));
        // The weights of a step: queries, keys and values, output, gate, up, down in two layers, and the head.
        assertThat(work(decode, "DownProjection").workingSetBytes())
                .isEqualTo((2 * (query + 64 * 64 + 3 * down) + 256 * 64) * 34 / 32);
        WorkModel model =
                WorkModel.llama(LlamaConfig.dense(2, 64, 2, 1, 128, 256).withBits(8.5, 32, 32));
        long parts = work(model.prefill(1, 16), BrickId.ATTENTION_SCORE).flops() / 2
                + work(model.prefill(1, 16, 16), BrickId.ATTENTION_SCORE).flops() / 2
                + work(model.prefill(1, 1, 32), BrickId.ATTENTION_SCORE).flops();
        assertThat(work(prefill, "AttentionScore").flops()).isEqualTo(parts);
        assertThat(work(decode, "Activation").flops())
                .isEqualTo(3 * work(model.decode(1, 34), BrickId.ACTIVATION).flops());
        assertThat(profile.facts().disturbances()).isEmpty();
    }

    private static <K> Work work(Map<K, Work> works, K brick) {
        return Objects.requireNonNull(works.get(brick), "no such brick");
    }
}
