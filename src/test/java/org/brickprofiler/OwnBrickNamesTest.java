package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Names that stand for known bricks, and engines that mean bricks of their own by them. */
@Spec("1.7")
final class OwnBrickNamesTest {

    private final BrickProfiler profiler = BrickProfiler.enabled();

    /** An alias, another case of one, and spellings of engines. */
    @ParameterizedTest
    @ValueSource(strings = {"Head", "head", "gate", "lm_head", "rms_norm", "RMSNorm", "Softmax", "mine"})
    void aBrickOfItsOwnHasItsNameAndCategory(String name) {
        int key = profiler.ownBrickKey(name, BrickCategory.ATTENTION);
        profiler.record(key, 10, 1);
        profiler.record(name, 20, 2);
        profiler.stopBrick(profiler.startBrick(name), 3);

        assertThat(profiler.ownBrickKey(name, BrickCategory.ATTENTION)).isEqualTo(key);
        assertThat(profiler.brickKey(name)).isEqualTo(key);
        assertThat(profiler.allBrickStats()).singleElement().satisfies(brick -> {
            assertThat(brick.name()).isEqualTo(name);
            assertThat(brick.category()).isEqualTo(BrickCategory.ATTENTION);
            assertThat(brick.totalElements()).isEqualTo(6);
        });
        assertThat(profiler.stats(name)).isPresent();
    }

    @Test
    void theKnownBrickKeepsItsSamplesAndItsOtherNames() throws Exception {
        profiler.record("head", 5, 1);
        profiler.record(profiler.ownBrickKey("head", BrickCategory.ATTENTION), 10, 1);
        profiler.record("head", 10, 1);
        profiler.record("Head", 7, 1);
        profiler.record(BrickId.LM_HEAD, 9, 1);

        assertThat(profiler.brickStats(BrickId.LM_HEAD).totalNs()).isEqualTo(21);
        assertThat(profiler.stats("head").orElseThrow().totalNs()).isEqualTo(20);
        ProfileSnapshot taken = profiler.snapshot();
        ProfileSnapshot read = JsonReport.fromJson(JsonReport.toJson(taken));
        assertThat(read).isEqualTo(taken);
        assertThat(read.merge(taken).bricks()).extracting(BrickStats::name).containsExactlyInAnyOrder("LmHead", "head");
    }

    @Test
    void aDisplayNameIsRefused() {
        for (BrickId id : BrickId.all()) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> profiler.ownBrickKey(id.displayName(), BrickCategory.OTHER))
                    .withMessageContaining("'" + id.displayName() + "'")
                    .withMessageContaining("choose another name");
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> profiler.ownBrickKey(BrickProfiler.OTHER_NAMES, BrickCategory.OTHER));
        assertThatIllegalArgumentException().isThrownBy(() -> profiler.ownBrickKey("", BrickCategory.OTHER));
        assertThat(profiler.ownBrickKey("aRMS_NORM", BrickCategory.NORM)).isGreaterThanOrEqualTo(BrickId.FIXED_KEYS);
    }

    @Test
    void aCategoryThatIsNotUsedIsLoggedOnceForEachBrick() {
        try (CapturedLog log = new CapturedLog()) {
            for (int time = 0; time < 3; time++) {
                assertThat(profiler.brickKey("head", BrickCategory.ATTENTION)).isEqualTo(BrickId.LM_HEAD.index());
                profiler.brickKey("gate", BrickCategory.FFN);
                profiler.brickKey("head", BrickCategory.OTHER);
                profiler.brickKey("mine", BrickCategory.FFN);
                profiler.ownBrickKey("mine", BrickCategory.NORM);
                profiler.brickKey("mine");
                profiler.brickKey("head");
            }
            assertThat(log.linesWith("is not used")).isEqualTo(2);
            assertThat(log.linesWith(
                            "'head' is the brick LmHead of category Other, so the category Attention is not used"))
                    .isOne();
            assertThat(log.linesWith("'mine' is the brick mine of category FFN, so the category Norm is not used"))
                    .isOne();
        }
    }

    @Test
    void threadsThatRegisterTheSameNameGetOneKey() throws Exception {
        for (int round = 0; round < 200; round++) {
            BrickProfiler each = new BrickProfiler();
            ConcurrentLinkedQueue<Integer> keys = new ConcurrentLinkedQueue<>();
            Crew crew = new Crew();
            for (int thread = 0; thread < 4; thread++) {
                int first = thread;
                crew.run(() -> {
                    List<String> names = new ArrayList<>(List.of("head", "gate", "up", "down"));
                    for (int name = 0; name < 4; name++) {
                        int key = each.ownBrickKey(names.get((first + name) % 4), BrickCategory.FFN);
                        assertThat(each.brickKey(names.get((first + name) % 4))).isEqualTo(key);
                        keys.add(key);
                    }
                });
            }
            crew.join();
            assertThat(keys.stream().distinct()).hasSize(4).allMatch(key -> key >= BrickId.FIXED_KEYS);
        }
    }
}
