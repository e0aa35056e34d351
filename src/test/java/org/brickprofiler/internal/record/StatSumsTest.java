package org.brickprofiler.internal.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.junit.jupiter.api.Test;

final class StatSumsTest {

    private static StatTable table(int rows, boolean withBuckets) {
        return new StatTable(Thread.currentThread(), rows, withBuckets, new PendingQueue(), null, null);
    }

    private static long counted(StatSums sums, int key, int ns) {
        return Objects.requireNonNull(sums.buckets(key))[ns];
    }

    @Test
    void isEmptyAtFirst() {
        StatSums sums = new StatSums();

        assertThat(sums.row(0)).isEqualTo(StatRow.EMPTY);
        assertThat(sums.row(TimerToken.MAX_KEY)).isEqualTo(StatRow.EMPTY);
        assertThat(sums.buckets(0)).isNull();
        assertThat(sums.threads()).isZero();
        assertThat(sums.virtualThreads()).isFalse();
    }

    @Test
    void addsTablesUpRowByRow() {
        StatTable one = table(2, false);
        one.add(0, 10, 1, 1);
        one.add(1, 20, 2, 2);
        StatTable two = table(50, false);
        two.add(1, 5, 3, 4);
        two.add(49, 7, 4, 8);

        StatSums sums = new StatSums();
        sums.add(one);
        sums.add(two);

        assertThat(sums.row(0)).isEqualTo(one.read(0));
        assertThat(sums.row(1)).isEqualTo(one.read(1).plus(two.read(1)));
        assertThat(sums.row(49)).isEqualTo(two.read(49));
        assertThat(sums.row(30)).isEqualTo(StatRow.EMPTY);
        assertThat(sums.buckets(1)).isNull();
        assertThat(sums.threads()).isEqualTo(2);
    }

    @Test
    void saysWhatItAdded() {
        StatTable table = table(3, false);
        table.add(1, 10, 1, 1);

        assertThat(new StatSums().add(table)[0]).containsExactly(StatRow.EMPTY, table.read(1), StatRow.EMPTY);
    }

    @Test
    void addsSomeRowsOfATable() {
        StatTable table = table(3, false);
        table.add(1, 10, 1, 1);
        table.add(2, 20, 2, 1);
        StatSums sums = new StatSums();

        sums.addLive(table, 1, 2);
        sums.addLive(table, 3, 99);

        assertThat(sums.row(1)).isEqualTo(table.read(1));
        assertThat(sums.row(2)).isEqualTo(StatRow.EMPTY);
    }

    @Test
    void addsSomeRowsOnly() {
        StatTable table = table(3, false);
        table.add(0, 10, 1, 1);
        table.add(1, 20, 1, 1);
        table.add(2, 30, 1, 1);
        StatSums all = new StatSums();
        all.add(table);
        StatSums some = new StatSums();

        some.add(all, 1, 2);

        assertThat(some.row(0)).isEqualTo(StatRow.EMPTY);
        assertThat(some.row(1)).isEqualTo(table.read(1));
        assertThat(some.row(2)).isEqualTo(StatRow.EMPTY);
    }

    @Test
    void addsBucketsUp() {
        StatTable one = table(2, true);
        one.add(1, 20, 1, 1);
        StatTable two = table(2, true);
        two.add(1, 20, 1, 1);
        two.add(1, 30, 1, 1);
        StatSums sums = new StatSums();
        sums.add(one);
        sums.add(two);

        StatSums twice = sums.copy();
        twice.add(sums);

        assertThat(sums.buckets(1)).isNotNull().hasSize(LatencyBuckets.COUNT);
        assertThat(counted(sums, 1, 20)).isEqualTo(2);
        assertThat(counted(sums, 1, 30)).isEqualTo(1);
        assertThat(sums.buckets(0)).isNull();
        assertThat(counted(twice, 1, 20)).isEqualTo(4);
        assertThat(twice.row(1).count()).isEqualTo(6);
    }

    @Test
    void aCopyIsIndependent() {
        StatTable table = table(1, true);
        table.add(0, 20, 1, 1);
        StatSums sums = new StatSums();
        sums.add(table);

        StatSums copy = sums.copy();
        copy.add(table);

        assertThat(copy.row(0).count()).isEqualTo(2);
        assertThat(sums.row(0).count()).isEqualTo(1);
        assertThat(counted(sums, 0, 20)).isEqualTo(1);
        assertThat(sums.threads()).isEqualTo(1);
    }

    @Test
    void addsASampleThatCameLate() {
        StatTable table = table(1, true);
        table.add(0, 20, 1, 3);
        StatSums with = new StatSums();
        with.addSamples(0, 4, table.read(0), true);
        StatSums without = new StatSums();
        without.addSamples(0, 4, table.read(0), false);

        assertThat(with.row(4)).isEqualTo(table.read(0));
        assertThat(counted(with, 4, 20)).isEqualTo(1);
        assertThat(without.row(4)).isEqualTo(table.read(0));
        assertThat(without.buckets(4)).isNull();
    }

    @Test
    void ofMoreSamplesThatCameLateAllButTheLastAreAtTheirMean() {
        StatTable table = table(1, true);
        table.add(0, 10, 1, 1);
        table.add(0, 30, 2, 1);
        table.add(0, 90, 3, 1);
        StatSums sums = new StatSums();
        sums.addSamples(0, 4, table.read(0), true);

        assertThat(counted(sums, 4, 90)).as("the last").isEqualTo(1);
        assertThat(counted(sums, 4, 20)).as("the mean of 10 and 30").isEqualTo(2);
        assertThat(counted(sums, 4, 10) + counted(sums, 4, 30)).isZero();
    }

    @Test
    void addsThreadsAndQueuesUp() {
        StatTable one = table(1, false);
        one.add(0, 1, 1, 1);
        StatTable shared = new StatTable(null, 1, false, new PendingQueue(), null, null);
        shared.add(0, 1, 1, 1);
        PendingQueue queue = new PendingQueue();
        queue.offer(0, 1, 1);
        queue.drainTo((key, startNs, elements) -> {});
        StatSums platform = new StatSums();
        platform.add(one);
        platform.addQueue(queue, false);
        StatSums virtual = new StatSums();
        virtual.add(shared);
        virtual.addQueue(queue, true);

        StatSums both = platform.copy();
        both.add(virtual);
        both.add(platform);

        assertThat(both.threads()).isEqualTo(2);
        assertThat(both.virtualThreads()).isTrue();
        assertThat(both.queuingThreads()).isEqualTo(2);
        assertThat(both.queuingVirtualThreads()).isTrue();
        assertThat(platform.virtualThreads() || platform.queuingVirtualThreads())
                .isFalse();
        assertThat(virtual.threads() + virtual.queuingThreads()).isZero();
    }

    /** A queue from which nothing was taken is no thread that queued. */
    @Test
    void aQueueCountsOnceForEachInterval() {
        PendingQueue queue = new PendingQueue();
        StatSums sums = new StatSums();
        sums.takeQueue(queue, false);
        queue.offer(0, 1, 1);
        sums.takeQueue(queue, false);
        assertThat(sums.queuingThreads()).isZero();

        queue.drainTo((key, startNs, elements) -> {});
        sums.takeQueue(queue, false);
        sums.takeQueue(queue, false);

        assertThat(sums.queuingThreads()).isEqualTo(1);
        assertThat(sums.queuingVirtualThreads()).isFalse();
    }

    @Test
    void countsPlatformThreadsThatRecordedAndOnlyMentionsVirtualOnes() {
        StatTable shared = new StatTable(null, 1, false, new PendingQueue(), null, null);
        StatSums sums = new StatSums();
        sums.add(table(1, false));
        sums.add(shared);
        assertThat(sums.threads()).as("an empty table is no recording thread").isZero();
        assertThat(sums.virtualThreads()).isFalse();

        shared.add(0, 1, 1, 1);
        sums.add(shared);

        assertThat(sums.threads()).isZero();
        assertThat(sums.virtualThreads()).isTrue();
    }
}
