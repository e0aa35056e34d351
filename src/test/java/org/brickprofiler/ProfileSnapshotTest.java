package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.OptionalDouble;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.tile.TileStats;
import org.junit.jupiter.api.Test;

final class ProfileSnapshotTest {

    private static final BrickStats UP = Samples.brick("Up", BrickCategory.FFN, 30, 10);
    private static final BrickStats NORM = Samples.brick("RmsNorm", BrickCategory.NORM, 60);
    private static final Environment OTHER_MACHINE = new Environment("25", "VM 1", "OS 2", "arch", "cpu", 4, 10);

    private static ProfileSnapshot with(long wallNs, int threads, long overheadNs, long droppedPending) {
        return ProfileSnapshot.builder(Instant.EPOCH, Instant.EPOCH, wallNs)
                .threads(threads, false)
                .overheadNs(overheadNs)
                .deferred(droppedPending, 0, 0)
                .build();
    }

    private static ProfileSnapshot with(
            long startS, long endS, OptionalDouble rate, boolean zeroCopy, Environment where) {
        return ProfileSnapshot.builder(Instant.ofEpochSecond(startS), Instant.ofEpochSecond(endS), 10)
                .threads((int) startS, startS == 1)
                .overheadNs(3)
                .deferred(4, 0, 0)
                .l2CacheHitRate(rate)
                .zeroCopy(zeroCopy)
                .environments(List.of(where))
                .build();
    }

    @Test
    void sumsItsBricks() {
        ProfileSnapshot snapshot = Samples.snapshot(UP, NORM);

        assertThat(snapshot.totalNs()).isEqualTo(100);
        assertThat(snapshot.totalTokens()).isEqualTo(3);
        assertThat(snapshot.samples()).isEqualTo(3);
        assertThat(snapshot.totalThroughput()).isEqualTo(3e7);
        assertThat(snapshot.categories()).isInstanceOf(EnumMap.class).containsOnlyKeys(BrickCategory.values());
        assertThat(snapshot.categories().get(BrickCategory.FFN)).isEqualTo(new CategoryStats(40, 2, 2));
        assertThat(snapshot.overheadPerSampleNs()).isZero();
    }

    @Test
    void everySumIsZeroWithoutBricks() {
        ProfileSnapshot empty = Samples.snapshot();

        assertThat(empty.totalNs()).isZero();
        assertThat(empty.totalTokens()).isZero();
        assertThat(empty.samples()).isZero();
        assertThat(empty.totalThroughput()).isZero();
        assertThat(empty.overheadPerSampleNs()).isZero();
        assertThat(empty.brick("Up")).isEmpty();
        assertThat(empty.tiles())
                .containsExactly(
                        TileStats.empty(TileLevel.MACRO),
                        TileStats.empty(TileLevel.MIDI),
                        TileStats.empty(TileLevel.MICRO));
    }

    @Test
    void sortsBricksAndAddsUpThoseOfOneNameAndCategory() {
        BrickStats same = Samples.brick("Up", BrickCategory.FFN, 70);
        BrickStats tie = Samples.brick("Also", BrickCategory.OTHER, 60);
        BrickStats empty = BrickStats.empty("Nothing", BrickCategory.OTHER, Bottleneck.UNKNOWN);
        TileStats micro = TileStats.builder(TileLevel.MICRO)
                .samples(1, 5, 5, 5)
                .work(1, 1)
                .slowest(0, 0)
                .build();

        ProfileSnapshot snapshot = Samples.snapshot(List.of(NORM, UP, empty, tie, same), List.of(micro, micro));

        assertThat(snapshot.bricks()).containsExactly(UP.plus(same), tie, NORM);
        assertThat(snapshot.tiles().get(2).count()).isEqualTo(2);
        assertThat(snapshot.tiles().get(0)).isEqualTo(TileStats.empty(TileLevel.MACRO));
        assertThat(snapshot).isEqualTo(Samples.snapshot(List.of(same, tie, UP, NORM), List.of(micro, micro)));
    }

    @Test
    void findsABrickByItsNameAndNoAlias() {
        ProfileSnapshot snapshot = Samples.snapshot(UP, NORM);

        assertThat(snapshot.brick("Up")).contains(UP);
        assertThat(snapshot.brick("up")).isEmpty();
    }

    @Test
    void oneNameInTwoCategoriesIsTwoBricks() {
        BrickStats dynamic = Samples.brick("x", BrickCategory.OTHER, 10);
        BrickStats sparse = Samples.brick("x", BrickCategory.SPARSE, 20);

        ProfileSnapshot merged = Samples.snapshot(dynamic).merge(Samples.snapshot(sparse));

        assertThat(merged.bricks()).containsExactly(sparse, dynamic);
        assertThat(merged.brick("x")).contains(sparse);
    }

    @Spec("4.7")
    @Test
    void cannotBeChanged() {
        List<BrickStats> bricks = new ArrayList<>(List.of(UP));
        ProfileSnapshot snapshot = Samples.snapshot(bricks, List.of());
        bricks.clear();

        assertThat(snapshot.bricks()).hasSize(1);
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> snapshot.bricks().clear());
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> snapshot.environments().clear());
        snapshot.categories().clear();
        assertThat(snapshot.categories()).isNotEmpty();
    }

    @Test
    void refusesNegativeNumbers() {
        assertThatIllegalArgumentException().isThrownBy(() -> with(-1, 0, 0, 0)).withMessageContaining("wallNs -1");
        assertThatIllegalArgumentException().isThrownBy(() -> with(0, -2, 0, 0)).withMessageContaining("threads -2");
        assertThatIllegalArgumentException().isThrownBy(() -> with(0, 0, -3, 0)).withMessageContaining("overheadNs -3");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> with(0, 0, 0, -4))
                .withMessageContaining("droppedPending -4");
    }

    @Test
    void theOverheadIsSharedByTheSamples() {
        ProfileSnapshot snapshot = ProfileSnapshot.builder(Instant.EPOCH, Instant.EPOCH, 1)
                .threads(1, false)
                .overheadNs(90)
                .bricks(List.of(UP, NORM))
                .build();

        assertThat(snapshot.overheadPerSampleNs()).isEqualTo(30.0);
    }

    @Test
    void mergesBricksAndTiles() {
        TileStats one = TileStats.builder(TileLevel.MIDI)
                .samples(1, 5, 5, 5)
                .work(1, 1)
                .slowest(0, 0)
                .build();
        TileStats two = TileStats.builder(TileLevel.MIDI)
                .samples(1, 9, 9, 9)
                .work(1, 1)
                .slowest(4, 4)
                .build();
        BrickStats more = Samples.brick("Up", BrickCategory.FFN, 5, 90);

        ProfileSnapshot merged =
                Samples.snapshot(List.of(UP, NORM), List.of(one)).merge(Samples.snapshot(List.of(more), List.of(two)));

        BrickStats up = merged.brick("Up").orElseThrow();
        assertThat(up.count()).isEqualTo(4);
        assertThat(up.minNs()).isEqualTo(5);
        assertThat(up.maxNs()).isEqualTo(90);
        assertThat(up.percentileNs(50)).isEqualTo(10);
        assertThat(up.percentileNs(75)).isEqualTo(30);
        assertThat(merged.brick("RmsNorm")).contains(NORM);
        assertThat(merged.tiles().get(1)).isEqualTo(one.plus(two));
    }

    @Test
    void mergesTheOtherComponents() {
        ProfileSnapshot one = with(1, 5, OptionalDouble.of(0.7), true, Samples.MACHINE);
        ProfileSnapshot two = with(2, 4, OptionalDouble.of(0.4), false, OTHER_MACHINE);

        ProfileSnapshot merged = one.merge(two);

        assertThat(merged.startedAt()).isEqualTo(Instant.ofEpochSecond(1));
        assertThat(merged.endedAt()).isEqualTo(Instant.ofEpochSecond(5));
        assertThat(merged.wallNs()).isEqualTo(20);
        assertThat(merged.threads()).isEqualTo(2);
        assertThat(merged.virtualThreads()).isTrue();
        assertThat(merged.overheadNs()).isEqualTo(6);
        assertThat(merged.droppedPending()).isEqualTo(8);
        assertThat(merged.l2CacheHitRate()).hasValue(0.4);
        assertThat(merged.zeroCopy()).isFalse();
        assertThat(merged.environments()).containsExactly(Samples.MACHINE, OTHER_MACHINE);
        assertThat(one.merge(one).environments()).containsExactly(Samples.MACHINE);
        assertThat(one.merge(one).zeroCopy()).isTrue();
    }

    @Test
    void aCacheHitRateThatOnlyOneSideHasIsKept() {
        ProfileSnapshot said = with(1, 5, OptionalDouble.of(0.7), true, Samples.MACHINE);
        ProfileSnapshot silent = with(1, 5, OptionalDouble.empty(), true, Samples.MACHINE);

        assertThat(said.merge(silent).l2CacheHitRate()).hasValue(0.7);
        assertThat(silent.merge(said).l2CacheHitRate()).hasValue(0.7);
        assertThat(silent.merge(silent).l2CacheHitRate()).isEmpty();
    }
}
