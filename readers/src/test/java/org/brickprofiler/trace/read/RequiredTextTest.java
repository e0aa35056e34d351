package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class RequiredTextTest {

    private static final String NAME = "void my_kernel_0000000<float, 4>(float*, int)";

    private static boolean mayBeFound(String regex, int flags, String text) {
        return RequiredText.of(Pattern.compile(regex, flags)).mayBeIn(new RequiredText.Grams(text));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "gemm|gemv",
                "^(void )?nccl(Dev)?Kernel",
                "topk_?[gG]ating",
                "moe.*topk",
                "(one|two)_shot_all",
                "^Memcpy HtoD",
                "rms_+norm",
                "(?:flash|paged)_attn",
                "^(?!triton_)(gemm|matmul)",
                "(?<!fb)gemm",
                "sdpa.*(fprop|bprop)"
            })
    void aTextThatLacksAPartIsNotTried(String regex) {
        assertThat(mayBeFound(regex, 0, NAME)).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "kernel",
                "KERNEL",
                "my_(kernel|step)",
                "_(kernel|step)x?",
                "gemm|kernel",
                "(gemm)?_kernel",
                "a*b",
                "gemm?|flo?",
                "(?i)gemm",
                "(?i:gemm)",
                "(?<named>gemm)",
                "\\Qgemm\\E",
                "\\x67emm",
                "[]gemm]",
                "[[g]emm]",
                "(gemm){0}",
                "gem{0,1}",
                "(?!gemm)void"
            })
    void anyOtherTextIsTried(String regex) {
        assertThat(mayBeFound(regex, Pattern.CASE_INSENSITIVE, NAME)).isTrue();
    }

    /** A pattern with catastrophic backtracking, on a text that lacks its required end. */
    @Test
    void aPatternCostsNothingIfItCannotMatch() {
        TraceRules rules = TraceRules.parse("x <- name=/a*a*a*a*a*a*gemm$/");

        assertThatCode(() -> rules.decide(new TraceRule.Key("a".repeat(100), "kernel", Map.of(), 0)))
                .doesNotThrowAnyException();
        assertThatThrownBy(() -> rules.decide(new TraceRule.Key("a".repeat(100) + "gemm!", "kernel", Map.of(), 0)))
                .isInstanceOf(TraceRule.TooCostly.class);
    }

    @Test
    void aMatchingTextIsNeverExcluded() {
        Random random = new Random(7);
        int found = 0;
        int ruledOut = 0;
        for (int i = 0; i < 200_000; i++) {
            String regex = draw(random, "aaaabbbbccccAB|||()()?*+[]{}.^$\\dQE<!=:,12", 1 + random.nextInt(12));
            String text = draw(random, "aabbccAB1.", random.nextInt(24));
            try {
                Pattern pattern = Pattern.compile(regex, random.nextBoolean() ? Pattern.CASE_INSENSITIVE : 0);
                boolean mayBe = RequiredText.of(pattern).mayBeIn(new RequiredText.Grams(text));
                boolean isFound = pattern.matcher(text).find();
                if (isFound && !mayBe) {
                    fail("%s is in %s", regex, text);
                }
                found += isFound ? 1 : 0;
                ruledOut += mayBe ? 0 : 1;
            } catch (PatternSyntaxException malformed) {
                // Another one follows.
            }
        }
        assertThat(found).isGreaterThan(1_000);
        assertThat(ruledOut).isGreaterThan(1_000);
    }

    private static String draw(Random random, String alphabet, int length) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < length; i++) {
            text.append(alphabet.charAt(random.nextInt(alphabet.length())));
        }
        return text.toString();
    }
}
