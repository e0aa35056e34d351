package org.brickprofiler.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

final class ThreadTablesTest {

    /** A thread that was never started is not alive, as one that has ended. */
    private static Thread ended() {
        return new Thread(() -> {});
    }

    private static StatTable tableOf(Thread thread) {
        return new StatTable(thread, 1, false, new PendingQueue());
    }

    private static StatTable writtenTableOf(Thread thread) {
        StatTable table = tableOf(thread);
        table.add(0, 10, 1, 1);
        return table;
    }

    @Test
    void knowsNoThreadAtFirst() {
        assertThat(ThreadTables.EMPTY.of(Thread.currentThread())).isNull();
        assertThat(ThreadTables.EMPTY.live()).isEmpty();
        assertThat(ThreadTables.EMPTY.orphans()).isEmpty();
        assertThat(ThreadTables.EMPTY.retired().row(0)).isEqualTo(StatRow.EMPTY);
    }

    @Test
    void findsTheTableOfEveryThreadWhateverPlaceItsIdGives() {
        ThreadTables tables = ThreadTables.EMPTY;
        List<StatTable> added = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            StatTable table = tableOf(ended());
            added.add(table);
            tables = tables.with(table);
        }

        for (StatTable table : added) {
            assertThat(tables.of(Objects.requireNonNull(table.owner()))).isSameAs(table);
        }
        assertThat(tables.of(ended())).isNull();
        assertThat(tables.live()).hasSize(300);
    }

    @Test
    void threadsWithTheSamePlaceAreToldApart() {
        List<Thread> collide = new ArrayList<>();
        while (collide.size() < 5) {
            Thread thread = ended();
            if (thread.getId() % 16 == 15) {
                collide.add(thread);
            }
        }
        ThreadTables tables = ThreadTables.EMPTY;
        for (Thread thread : collide.subList(0, 4)) {
            tables = tables.with(tableOf(thread));
        }

        for (Thread thread : collide.subList(0, 4)) {
            assertThat(Objects.requireNonNull(tables.of(thread)).owner()).isSameAs(thread);
        }
        assertThat(tables.of(collide.get(4))).isNull();
    }

    @Test
    void foldsTheTablesOfEndedThreads() {
        StatTable mine = writtenTableOf(Thread.currentThread());
        ThreadTables tables = ThreadTables.EMPTY.with(writtenTableOf(ended())).with(mine).with(writtenTableOf(ended()));

        ThreadTables swept = tables.swept();

        assertThat(swept.live()).containsExactly(mine);
        assertThat(swept.of(Thread.currentThread())).isSameAs(mine);
        assertThat(swept.retired().row(0).count()).isEqualTo(2);
        assertThat(swept.retired().threads()).isEqualTo(2);
        assertThat(swept.orphans()).isEmpty();
        assertThat(tables.retired().row(0).count()).as("the object before is unchanged").isZero();
    }

    @Test
    void isItselfWhereThereIsNothingToSweep() {
        ThreadTables tables = ThreadTables.EMPTY.with(tableOf(Thread.currentThread()));

        assertThat(tables.swept()).isSameAs(tables);
        assertThat(ThreadTables.EMPTY.swept()).isSameAs(ThreadTables.EMPTY);
    }

    @Test
    void keepsTheQueuesOfEndedThreadsUntilTheyAreDrained() {
        StatTable left = writtenTableOf(ended());
        assertThat(left.pending().offer(0, 1, 1)).isTrue();

        ThreadTables swept = ThreadTables.EMPTY.with(left).swept();
        assertThat(swept.orphans()).containsExactly(left.pending());
        assertThat(swept.swept()).isSameAs(swept);

        left.pending().drainTo((key, startNs, elements) -> {});
        assertThat(swept.swept().orphans()).isEmpty();
    }

    @Test
    void looksForEndedThreadsAsTablesAreAdded() {
        ThreadTables tables = ThreadTables.EMPTY.with(writtenTableOf(Thread.currentThread()));
        for (int i = 0; i < 1_000; i++) {
            tables = tables.sweptIfDue().with(writtenTableOf(ended()));
            assertThat(tables.live()).hasSizeLessThanOrEqualTo(20);
        }

        assertThat(tables.swept().retired().row(0).count()).isEqualTo(1_000);
    }

    @Test
    void looksLessOftenWhileManyThreadsLive() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        List<Thread> alive = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            Thread thread = new Thread(() -> {
                try {
                    release.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            thread.setDaemon(true);
            thread.start();
            alive.add(thread);
        }
        try {
            ThreadTables tables = ThreadTables.EMPTY;
            int sweeps = 0;
            for (Thread thread : alive) {
                ThreadTables swept = tables.sweptIfDue();
                sweeps += swept == tables ? 0 : 1;
                tables = swept.with(tableOf(thread));
            }
            assertThat(sweeps).isBetween(1, 3);
            assertThat(tables.live()).hasSize(40);
        } finally {
            release.countDown();
            for (Thread thread : alive) {
                thread.join(60_000);
            }
        }
    }

    @Test
    void renewsWrittenTablesAndForgetsWhatIsRetired() {
        StatTable written = writtenTableOf(Thread.currentThread());
        StatTable empty = tableOf(new Thread(() -> {}));
        StatTable left = writtenTableOf(ended());
        assertThat(left.pending().offer(0, 1, 1)).isTrue();
        ThreadTables tables = ThreadTables.EMPTY.with(left).swept().with(written).with(empty);

        ThreadTables renewed = tables.renewed();

        assertThat(renewed.live()).hasSize(2);
        assertThat(renewed.live()[0]).isNotSameAs(written);
        assertThat(renewed.live()[0].owner()).isSameAs(written.owner());
        assertThat(renewed.live()[1]).as("an empty table stays").isSameAs(empty);
        assertThat(renewed.retired().row(0)).isEqualTo(StatRow.EMPTY);
        assertThat(renewed.orphans()).as("what is pending stays").containsExactly(left.pending());
        assertThat(tables.live()[0]).as("the object before is unchanged").isSameAs(written);
    }

    @Test
    void aWriterHasLeftItsOldTableOnceItWroteToTheNewOne() {
        StatTable old = writtenTableOf(Thread.currentThread());
        ThreadTables tables = ThreadTables.EMPTY.with(old);
        assertThat(tables.hasLeft(old)).as("it is the current one").isFalse();

        ThreadTables renewed = tables.renewed();
        assertThat(renewed.hasLeft(old)).as("a sample may be on its way").isFalse();

        renewed.live()[0].add(0, 1, 1, 1);
        assertThat(renewed.hasLeft(old)).isTrue();
    }

    @Test
    void aThreadThatEndedHasLeft() {
        assertThat(ThreadTables.EMPTY.hasLeft(tableOf(ended()))).isTrue();
        assertThat(ThreadTables.EMPTY.hasLeft(tableOf(Thread.currentThread()))).isFalse();
    }
}
