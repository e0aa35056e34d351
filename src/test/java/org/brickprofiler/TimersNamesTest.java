package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.brickprofiler.internal.record.TimerToken;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which brick a name or a key stands for. */
final class TimersNamesTest {

    private final FakeClock clock = new FakeClock(1_000);
    private final BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();

    TimersNamesTest() {
        profiler.enable();
    }

    @Spec("1.3")
    @Test
    void aKnownNameOrAliasFeedsItsBrick() {
        for (String name : new String[] {"RopeEmbedding", "Rope", "RoPE"}) {
            long timer = profiler.startBrick(name);
            clock.advance(10);
            profiler.stopBrick(timer, 1);
        }

        assertThat(profiler.brickStats(BrickId.ROPE_EMBEDDING).count()).isEqualTo(3);
        assertThat(profiler.allBrickStats()).hasSize(1);
        assertThat(profiler.brickKey("RoPE")).isEqualTo(BrickId.ROPE_EMBEDDING.index());
    }

    @Spec("1.3")
    @Test
    void anyOtherNameIsADynamicBrick() {
        long timer = profiler.startBrick("mlp");
        clock.advance(10);
        profiler.stopBrick(timer, 1);

        BrickStats stats = profiler.stats("mlp").orElseThrow();
        assertThat(stats.category()).isSameAs(BrickCategory.OTHER);
        assertThat(stats.totalNs()).isEqualTo(10);
        assertThat(profiler.brickStats(BrickId.ATTENTION_SOFTMAX).count()).isZero();
    }

    @Spec("1.3")
    @Test
    void spellingsOfEnginesFeedTheIntendedBrick() {
        String[] names = {"RMS_NORM", "rms_norm", "RMSNorm", "rmsnorm", "RmsNorm"};
        for (String name : names) {
            profiler.stopBrick(profiler.startBrick(name), 1);
            profiler.record(name, 5, 1);
            profiler.recordDeferred(name, 0, 1);
            profiler.time(name, 1, () -> {});
            profiler.setBottleneck(name, Bottleneck.MEMORY);
        }
        profiler.finalize(9);

        assertThat(profiler.brickNames()).containsExactly("RmsNorm");
        assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo(4L * names.length);
        assertThat(profiler.stats("rms_norm")).contains(profiler.brickStats(BrickId.RMS_NORM));
        assertThat(profiler.brickKey("mine")).as("no spelling took a key").isEqualTo(BrickId.FIXED_KEYS);
    }

    @Spec("1.4")
    @Test
    void aKeyStandsForItsNameForEver() {
        int key = profiler.brickKey("mine");

        assertThat(profiler.brickKey("mine")).isEqualTo(key);
        assertThat(profiler.brickKey("other")).isNotEqualTo(key);
        profiler.reset();
        assertThat(profiler.brickKey("mine")).isEqualTo(key);
        long timer = profiler.startBrick(key);
        clock.advance(10);
        profiler.stopBrick(timer, 1);
        assertThat(profiler.stats("mine").orElseThrow().totalNs()).isEqualTo(10);
        assertThat(profiler.brickNames()).containsExactly("mine");
    }

    @Spec("1.4")
    @Test
    void theFirstCategoryStays() {
        int key = profiler.brickKey("mine", BrickCategory.SPARSE);
        assertThat(profiler.brickKey("mine", BrickCategory.FFN)).isEqualTo(key);
        assertThat(profiler.brickKey("mine")).isEqualTo(key);
        profiler.record(key, 1, 1);
        assertThat(profiler.stats("mine").orElseThrow().category()).isSameAs(BrickCategory.SPARSE);

        assertThat(profiler.brickKey("Rope", BrickCategory.FFT)).isEqualTo(BrickId.ROPE_EMBEDDING.index());
        assertThat(profiler.brickStats(BrickId.ROPE_EMBEDDING).category()).isSameAs(BrickCategory.ATTENTION);
    }

    @Spec("2.5")
    @ParameterizedTest
    @ValueSource(ints = {-1, Integer.MIN_VALUE, 37, TimerToken.MAX_KEY, Integer.MAX_VALUE})
    void anUnknownKeyGivesAVoidTimer(int key) {
        assertThat(profiler.startBrick(key)).isEqualTo(TimerToken.VOID);
    }

    @Spec("1.6")
    @Test
    @SuppressWarnings("NullAway") // null is the subject of the test
    void refusesEmptyAndNullNames() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> profiler.startBrick(""))
                .withMessageContaining("empty");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> profiler.brickKey(""))
                .withMessageContaining("empty");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> profiler.brickKey("", BrickCategory.FFN))
                .withMessageContaining("empty");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> profiler.startBrick((String) null))
                .withMessageContaining("null");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> profiler.brickKey(null))
                .withMessageContaining("null");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> profiler.brickKey(null, BrickCategory.FFN))
                .withMessageContaining("null");

        assertThat(profiler.allBrickStats()).isEmpty();
    }

    @Spec("1.5")
    @Test
    void pastTheBoundFurtherNamesFeedOneBrickAndThatIsLoggedOnce() {
        int tried = 5_000;
        try (CapturedLog log = new CapturedLog()) {
            for (int i = 0; i < tried; i++) {
                profiler.stopBrick(profiler.startBrick("layer " + i), 1);
            }
            profiler.record("layer 4999", 7, 2);
            profiler.record("RoPE", 1, 1);

            assertThat(log.linesWith("(other names)")).isEqualTo(1);
        }

        BrickStats other = profiler.stats("(other names)").orElseThrow();
        assertThat(other.category()).isSameAs(BrickCategory.OTHER);
        long dynamic = profiler.brickNames().size() - 2L;
        assertThat(dynamic).isBetween(4_000L, 4_999L);
        assertThat(other.count()).isEqualTo(tried - dynamic + 1);
        assertThat(other.maxNs()).isEqualTo(7);
        assertThat(profiler.stats("layer 4999")).isEmpty();
        assertThat(profiler.stats("layer 0")).isPresent();
        assertThat(profiler.brickStats(BrickId.ROPE_EMBEDDING).count())
                .as("known names still fit")
                .isEqualTo(1);
    }
}
