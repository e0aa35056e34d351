package org.brickprofiler.internal.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.NotEmpty;
import org.brickprofiler.testing.Crew;
import org.junit.jupiter.api.Test;

final class PendingResolverTest {

    private final TableRegistry registry = new TableRegistry(8, false);

    private void defer(int key, long startNs, long elements) {
        assertThat(registry.defer(key, startNs, elements)).isTrue();
    }

    private List<Long> totals(int keys) {
        StatSums sums = registry.read();
        return java.util.stream.IntStream.range(0, keys)
                .mapToObj(key -> sums.row(key).totalNs())
                .toList();
    }

    @Test
    void literallyEachLastsToTheCommonEnd() {
        defer(0, 100, 1);
        defer(1, 150, 2);
        defer(0, 180, 4);

        new PendingResolver(registry, false).resolve(0, 200);

        StatRow row = registry.read().row(0);
        assertThat(row.count()).isEqualTo(2);
        assertThat(row.totalNs()).isEqualTo(120);
        assertThat(row.minNs()).isEqualTo(20);
        assertThat(row.maxNs()).isEqualTo(100);
        assertThat(row.elements()).isEqualTo(5);
        assertThat(row.lastAtNs()).isEqualTo(200);
        assertThat(registry.read().row(1).totalNs()).isEqualTo(50);
        assertThat(registry.pendingCount()).isZero();
    }

    @Test
    void sequentiallyEachLastsToTheNextStart() {
        defer(0, 100, 1);
        defer(1, 150, 1);
        defer(2, 180, 1);

        new PendingResolver(registry, true).resolve(0, 200);

        assertThat(totals(3)).containsExactly(50L, 30L, 20L);
        assertThat(registry.pendingCount()).isZero();
    }

    @Test
    void sequentiallyTheOrderIsThatOfTheStarts() {
        defer(2, 180, 1);
        defer(0, 100, 1);
        defer(1, 150, 1);

        new PendingResolver(registry, true).resolve(0, 200);

        assertThat(totals(3)).containsExactly(50L, 30L, 20L);
    }

    @Test
    void sequentiallyTheOrderIsThatOfTheStartsWhereAllAreTheOtherWayRound() {
        defer(2, 180, 1);
        defer(1, 150, 1);
        defer(0, 100, 1);

        new PendingResolver(registry, true).resolve(0, 200);

        assertThat(totals(3)).containsExactly(50L, 30L, 20L);
    }

    @Test
    void sequentiallyTheStartsOfAllThreadsAreOneOrder() throws Exception {
        defer(0, 100, 1);
        defer(2, 180, 1);
        assertThat(Crew.onNewThread(() -> registry.defer(1, 150, 1))).isTrue();

        new PendingResolver(registry, true).resolve(0, 200);

        assertThat(totals(3)).containsExactly(50L, 30L, 20L);
    }

    @Test
    void aStartAfterTheEndCountsAsZero() {
        defer(0, 100, 1);
        defer(1, 250, 1);
        new PendingResolver(registry, false).resolve(0, 200);
        assertThat(totals(2)).containsExactly(100L, 0L);
        assertThat(registry.read().row(1).count()).isEqualTo(1);

        defer(2, 100, 1);
        defer(3, 250, 1);
        defer(4, 270, 1);
        new PendingResolver(registry, true).resolve(0, 200);
        assertThat(totals(5)).containsExactly(100L, 0L, 100L, 0L, 0L);
        assertThat(registry.read().row(4).count()).isEqualTo(1);
    }

    @Test
    void equalStartsShareNothing() {
        defer(0, 100, 1);
        defer(1, 100, 1);

        new PendingResolver(registry, true).resolve(0, 130);

        assertThat(totals(2)).containsExactly(0L, 30L);
    }

    @Test
    void nothingPendingIsNothingResolved() {
        new PendingResolver(registry, false).resolve(0, 200);
        new PendingResolver(registry, true).resolve(0, 200);

        assertThat(totals(8)).containsOnly(0L);
    }

    @Test
    void resolvesOnce() {
        PendingResolver resolver = new PendingResolver(registry, true);
        defer(0, 100, 1);
        resolver.resolve(0, 200);
        resolver.resolve(0, 300);

        assertThat(registry.read().row(0).count()).isEqualTo(1);
        assertThat(totals(1)).containsExactly(100L);
    }

    @Test
    void discards() {
        PendingResolver resolver = new PendingResolver(registry, false);
        defer(0, 100, 1);
        resolver.discard();
        resolver.resolve(0, 200);

        assertThat(registry.pendingCount()).isZero();
        assertThat(totals(1)).containsExactly(0L);
    }

    @Test
    void resolvesMoreThanItKeepsRoomFor() {
        PendingResolver resolver = new PendingResolver(registry, true);
        int many = 100_000;
        for (int round = 0; round < 2; round++) {
            for (int n = 0; n < many; n++) {
                defer(n % 2, 3L * n, 1);
            }
            resolver.resolve(0, 3L * many);
        }

        assertThat(totals(2)).containsExactly(3L * many, 3L * many);
        assertThat(registry.read().row(0).count()).isEqualTo(many);
    }

    @Property
    void sequentialPartsSumToTheTimeFromTheFirstStartToTheEnd(
            @ForAll @NotEmpty List<@LongRange(min = -1_000, max = 1_000) Long> starts,
            @ForAll @LongRange(min = -1_000, max = 2_000) long endNs) {
        TableRegistry fresh = new TableRegistry(1, false);
        starts.forEach(start -> assertThat(fresh.defer(0, start, 1)).isTrue());

        new PendingResolver(fresh, true).resolve(0, endNs);

        long firstNs = starts.stream().mapToLong(Long::longValue).min().orElseThrow();
        StatRow row = fresh.read().row(0);
        assertThat(row.count()).isEqualTo(starts.size());
        assertThat(row.totalNs()).isEqualTo(Math.max(0, endNs - firstNs));
    }

    @Property
    void literalPartsAreTheDistancesToTheEnd(
            @ForAll @NotEmpty List<@LongRange(min = -1_000, max = 1_000) Long> starts,
            @ForAll @LongRange(min = -1_000, max = 2_000) long endNs) {
        TableRegistry fresh = new TableRegistry(1, false);
        starts.forEach(start -> assertThat(fresh.defer(0, start, 1)).isTrue());

        new PendingResolver(fresh, false).resolve(0, endNs);

        StatRow row = fresh.read().row(0);
        assertThat(row.count()).isEqualTo(starts.size());
        assertThat(row.totalNs())
                .isEqualTo(starts.stream()
                        .mapToLong(start -> Math.max(0, endNs - start))
                        .sum());
    }
}
