package org.brickprofiler.agent.suggest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.agent.AppliedRules;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rules from the samples of one run and the times of another, both made up. */
class RunSuggestionsTest {

    private static final Pattern CANDIDATE =
            Pattern.compile("in: '(?<in>[^']+)', call: '(?<call>[^']+)', brick: (?<name>candidate \\d+)");

    /** An engine whose names do not show what its methods do. */
    static final class Machine {
        private final float[] one = {1};
        private final float[] two = {2};
        private final float[] three = {3};

        int produce(int[] given, int count) {
            int position = consume(given, 0);
            int last = 0;
            for (int i = 0; i < count; i++) {
                last = advance(last, position + i);
                pick(last);
            }
            return last;
        }

        int consume(int[] given, int from) {
            for (int i = 0; i < given.length; i++) {
                stage(from + i);
            }
            return given.length;
        }

        int advance(int last, int at) {
            stage(at);
            spread(4, part -> two[0] += product(one, part));
            return last + at;
        }

        private void stage(int at) {
            row(one, at);
            row(two, at);
            row(three, at);
            tidy();
        }

        private void row(float[] weights, int at) {
            for (int i = 0; i < at; i++) {
                weights[0] += product(weights, i);
            }
        }

        private static float product(float[] weights, int i) {
            float sum = 0;
            for (int k = 0; k < i; k++) {
                sum += weights[0];
            }
            return sum;
        }

        private void tidy() {
            spread(1, i -> one[0] += i);
        }

        private static int pick(int last) {
            return IntStream.range(0, last).max().orElse(0);
        }

        static void spread(int parts, IntConsumer task) {
            IntStream.range(0, parts).parallel().forEach(task);
        }
    }

    private static RunSuggestions found(String... hot) throws IOException {
        Map<String, Integer> samples = new HashMap<>();
        for (String each : hot) {
            samples.put(Machine.class.getName().replace('.', '/') + '.' + each, 100);
        }
        return RunSuggestions.of(
                List.of(AppliedRules.file(Machine.class)), new HotMethods(samples, 1_000, ""), leftOut -> {});
    }

    private static RunSuggestions found() throws IOException {
        return found(
                "product([FI)F",
                "row([FI)V",
                "stage(I)V",
                "advance(II)I",
                "consume([II)I",
                "produce([II)I",
                "pick(I)I",
                "tidy()V",
                "lambda$advance$0(I)V");
    }

    /**
     * Returns the profile of the second run, in which the name of a candidate decides the number of its calls.
     *
     * @param meanNs the ns of each call, by method and call
     */
    private static ProfileSnapshot measured(RunSuggestions found, long wallNs, ToLongFunction<String> meanNs) {
        List<BrickStats> bricks = new ArrayList<>();
        Matcher candidate = CANDIDATE.matcher(found.candidates());
        while (candidate.find()) {
            String in = candidate.group("in");
            String call = in.substring(in.lastIndexOf('.') + 1) + ' ' + candidate.group("call");
            long count = call.startsWith("row")
                    ? 20_000
                    : call.startsWith("stage")
                            ? 150
                            : call.startsWith("consume") ? 100 : call.startsWith("produce consume") ? 1 : 50;
            long ns = meanNs.applyAsLong(call);
            bricks.add(BrickStats.builder(candidate.group("name"), BrickCategory.OTHER)
                    .samples(count, count * ns, ns, ns)
                    .build());
        }
        return ProfileSnapshot.builder(Instant.EPOCH, Instant.EPOCH, wallNs)
                .bricks(bricks)
                .build();
    }

    /** Returns the ns of a call: a prompt of 100 tokens and 50 more, each with three rows of 40 us and other calls. */
    private static long usual(String call) {
        Map<String, Long> ns = Map.of(
                "produce consume 1", 12_500_000L,
                "produce advance 1", 170_000L,
                "produce pick 1", 90_000L,
                "advance stage 1", 125_000L,
                "consume stage 1", 125_000L,
                "advance spread 1", 30_000L,
                "row product 1", 80L,
                "stage tidy 1", 500L);
        return ns.getOrDefault(call, call.startsWith("stage row") ? 40_000L : 400L);
    }

    @Test
    void proposesTheDeepestCallsThatAreLongAndTheCallThatCountsWithItsLoopAsStep() throws IOException {
        RunSuggestions found = found();
        String rules = found.rules(measured(found, 10_000_000_000L, RunSuggestionsTest::usual));
        String in = "org.brickprofiler.agent.suggest.RunSuggestionsTest$Machine.";
        assertThat(rules).isEqualTo("""
                # Proposed from a run of 10.0 s. The rules cost at most some 0.0 %% of it: 550 samples at 2 us, and the steps at 15 us.
                step:
                  # 50 calls, 0.17 ms each
                  - in: %1$sadvance
                    kv: arg1
                  - in: %1$sconsume
                    tokens: arg0.length
                    kv: arg1
                bricks:
                  # 150 calls, 40.00 us each
                  - in: %1$sstage
                    call: row 1
                    brick: Machine.stage row 1
                    category: OTHER
                  # 150 calls, 40.00 us each
                  - in: %1$sstage
                    call: row 2
                    brick: Machine.stage row 2
                    category: OTHER
                  # 150 calls, 40.00 us each
                  - in: %1$sstage
                    call: row 3
                    brick: Machine.stage row 3
                    category: OTHER
                  # 50 calls, 30.00 us each
                  - in: %1$sadvance
                    call: spread 1
                    brick: Machine.advance spread 1
                    category: MATRIX_PRODUCT
                  # 50 calls, 90.00 us each
                  - in: %1$sproduce
                    call: pick 1
                    brick: Machine.produce pick 1
                    category: OTHER
                    elements: arg0.length
                """.formatted(in));
        assertThat(AppliedRules.count(rules, Machine.class)).isEqualTo(7);
    }

    /**
     * The calls that use a layer's own weights are the bricks, also if they are too short to count alone, and not the
     * product that all layers share.
     */
    @Test
    void namesTheCallsOfLayersAfterTheirFieldsAndClasses() throws IOException {
        Map<String, Integer> samples = new HashMap<>();
        for (String each : List.of("Linear", "LayerNorm", "MultiHeadAttention", "FeedForward", "Gelu")) {
            samples.put(LayeredEngine.class.getName().replace('.', '/') + '$' + each + ".forward([F)[F", 100);
        }
        for (String each : List.of(
                "$Gpt.forward([I)[F", "$Gpt.block([F)[F", ".generate([II)[I", ".product([F[F)[F", ".transpose([F)[F")) {
            samples.put(LayeredEngine.class.getName().replace('.', '/') + each, 100);
        }
        RunSuggestions found =
                RunSuggestions.of(LayeredEngine.files(), new HotMethods(samples, 1_000, ""), leftOut -> {});
        Map<String, Long> ns =
                Map.of("generate forward 1", 1_200_000L, "forward block 1", 900_000L, "generate together 1", 100L);
        String rules = found.rules(measured(
                found, 10_000_000_000L, call -> ns.getOrDefault(call, call.contains("product") ? 150_000L : 160_000L)));
        assertThat(rules).contains("""
                step:
                  # 50 calls, 1.20 ms each
                  # Each step gets an array that the loop makes. If it has all tokens so far, each step counts as a prompt, and each
                  # token as the first of a request.
                  - in: org.brickprofiler.agent.suggest.LayeredEngine$Gpt.forward
                    tokens: arg0.length
                """);
        assertThat(calls(rules))
                .containsExactly(
                        "Gpt.block forward 1 LAYER_NORM",
                        "MultiHeadAttention.forward forward 1 QKV_PROJECTION",
                        "MultiHeadAttention.forward forward 2 QKV_PROJECTION",
                        "MultiHeadAttention.forward forward 3 QKV_PROJECTION",
                        "MultiHeadAttention.forward product 1 MultiHeadAttention.forward product 1",
                        "MultiHeadAttention.forward product 2 MultiHeadAttention.forward product 2",
                        "MultiHeadAttention.forward forward 4 OUTPUT_PROJECTION",
                        "FeedForward.forward forward 1 UP_PROJECTION",
                        "FeedForward.forward forward 2 ACTIVATION",
                        "FeedForward.forward forward 3 DOWN_PROJECTION",
                        "Gpt.forward forward 1 LAYER_NORM",
                        "Gpt.forward transpose 1 Gpt.forward transpose 1",
                        "Gpt.forward product 1 LM_HEAD");
        String shortNorm = found.rules(measured(
                found,
                10_000_000_000L,
                call -> ns.getOrDefault(call, call.equals("forward forward 1") ? 1_000L : 160_000L)));
        assertThat(calls(shortNorm)).contains("Gpt.forward forward 1 LAYER_NORM");
    }

    /** Returns the class, the method, the call and the brick of each rule for a call. */
    private static List<String> calls(String rules) {
        return Pattern.compile("in: \\S+\\$(\\S+)\n +call: (.+)\n +brick: (.+)")
                .matcher(rules)
                .results()
                .map(rule -> rule.group(1) + ' ' + rule.group(2) + ' ' + rule.group(3))
                .toList();
    }

    /** Of 10 s, 300 ms are allowed; a step takes 15 us of it, and a sample 2 us. 20,000 steps take all of it. */
    @ParameterizedTest
    @CsvSource({"1, 5, true", "200, 3, true", "400, 3, false", "4000, 0, false"})
    void leavesOutTheShortestUntilTheRestCostsLittle(int times, int bricks, boolean hasSteps) throws IOException {
        RunSuggestions found = found();
        ProfileSnapshot measured = measured(found, 10_000_000_000L, RunSuggestionsTest::usual);
        ProfileSnapshot longer = measured.toBuilder()
                .bricks(measured.bricks().stream()
                        .map(each -> each.toBuilder()
                                .samples(times * each.count(), times * each.totalNs(), each.minNs(), each.maxNs())
                                .build())
                        .toList())
                .build();
        String rules = found.rules(longer);
        assertThat(rules.lines().filter(line -> line.startsWith("    brick: "))).hasSize(bricks);
        assertThat(rules)
                .startsWith(
                        bricks == 0
                                ? "# steps and calls are so short that timing them would cost more than 3 % of the run"
                                : "# Proposed from a run of 10.0 s.");
        assertThat(rules.contains("\nstep:\n")).isEqualTo(hasSteps);
        assertThat(rules.contains(
                        "\n# No step is proposed: org.brickprofiler.agent.suggest.RunSuggestionsTest$Machine.advance"
                                + " takes 170.0 us on average, so steps would cost more than 3 % of the run.\n"))
                .isEqualTo(bricks > 0 && !hasSteps);
    }

    @Test
    void refusesAShortRun() throws IOException {
        RunSuggestions found = found();
        assertThatThrownBy(() -> found.rules(measured(found, 199_999_999, RunSuggestionsTest::usual)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("only 199 ms of the second run remained");
    }

    @Test
    void proposesNothingIfEachCallIsShort() throws IOException {
        RunSuggestions found = found();
        assertThat(found.rules(measured(found, 10_000_000_000L, call -> 900)))
                .isEqualTo("# no call of hot code is long enough to be timed\n");
        assertThat(found("absent()V").isEmpty()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "false | the command ended with exit code 1: false",
                "true | the command ran no Java for as long as a sample takes: true",
            })
    void refusesCommandsThatRunNoEngine(String command, String message) {
        assertThatThrownBy(() ->
                        new SuggestionRuns(List.of(command), Path.of("agent.jar"), 60).rules(List.of(), leftOut -> {}))
                .isInstanceOf(IOException.class)
                .hasMessage(message);
    }
}
