package org.brickprofiler.internal.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.brickprofiler.internal.record.PerThread.Slots;
import org.brickprofiler.internal.record.TableRegistry.Left;
import org.junit.jupiter.api.Test;

/** The fate of the tables of threads, in the slots that contain them. */
final class EndedThreadsTest {

    private static final TableRegistry.Tables TABLES = new TableRegistry.Tables(1, false, null, null, null);

    private static final Slots<StatTable, Left> EMPTY = new PerThread<>(TABLES, Left.NOTHING, true).slots();

    /** A thread that was never started is not alive, as one that has ended. */
    private static Thread ended() {
        return new Thread(() -> {});
    }

    private static StatTable tableOf(Thread thread) {
        return new StatTable(thread, 1, false, new PendingQueue(), null, null);
    }

    private static StatTable writtenTableOf(Thread thread) {
        StatTable table = tableOf(thread);
        table.add(0, 10, 1, 1);
        return table;
    }

    @Test
    void knowsNoThreadAtFirst() {
        assertThat(EMPTY.of(Thread.currentThread())).isNull();
        assertThat(EMPTY.live()).isEmpty();
        assertThat(EMPTY.left().queues()).isEmpty();
        assertThat(EMPTY.left().sums().row(0)).isEqualTo(StatRow.EMPTY);
    }

    @Test
    void findsTheTableOfEveryThreadWhateverPlaceItsIdGives() {
        Slots<StatTable, Left> tables = EMPTY;
        List<StatTable> added = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            StatTable table = tableOf(ended());
            added.add(table);
            tables = tables.and(table);
        }

        for (StatTable table : added) {
            assertThat(tables.of(Objects.requireNonNull(table.owner()))).isSameAs(table);
        }
        assertThat(tables.of(ended())).isNull();
        assertThat(tables.live()).hasSize(300);
    }

    @Test
    void threadsWithTheSamePlaceAreDistinguished() {
        List<Thread> collide = new ArrayList<>();
        while (collide.size() < 5) {
            Thread thread = ended();
            if (thread.getId() % 16 == 15) {
                collide.add(thread);
            }
        }
        Slots<StatTable, Left> tables = EMPTY;
        for (Thread thread : collide.subList(0, 4)) {
            tables = tables.and(tableOf(thread));
        }

        for (Thread thread : collide.subList(0, 4)) {
            assertThat(Objects.requireNonNull(tables.of(thread)).owner()).isSameAs(thread);
        }
        assertThat(tables.of(collide.get(4))).isNull();
    }

    @Test
    void foldsTheTablesOfEndedThreads() {
        StatTable mine = writtenTableOf(Thread.currentThread());
        Slots<StatTable, Left> tables =
                EMPTY.and(writtenTableOf(ended())).and(mine).and(writtenTableOf(ended()));

        Slots<StatTable, Left> swept = tables.swept(TABLES);

        assertThat(swept.live()).containsExactly(mine);
        assertThat(swept.of(Thread.currentThread())).isSameAs(mine);
        assertThat(swept.left().sums().row(0).count()).isEqualTo(2);
        assertThat(swept.left().sums().threads()).isEqualTo(2);
        assertThat(swept.left().queues()).isEmpty();
        assertThat(tables.left().sums().row(0).count())
                .as("the object before is unchanged")
                .isZero();
    }

    @Test
    void isItselfWhereThereIsNothingToSweep() {
        Slots<StatTable, Left> tables = EMPTY.and(tableOf(Thread.currentThread()));

        assertThat(tables.swept(TABLES)).isSameAs(tables);
        assertThat(EMPTY.swept(TABLES)).isSameAs(EMPTY);
    }

    @Test
    void keepsTheQueuesOfEndedThreadsUntilTheyAreDrained() {
        StatTable left = writtenTableOf(ended());
        assertThat(left.pending().offer(0, 1, 1)).isTrue();

        Slots<StatTable, Left> swept = EMPTY.and(left).swept(TABLES);
        assertThat(swept.left().queues()).containsExactly(left.pending());
        assertThat(swept.swept(TABLES)).isSameAs(swept);

        left.pending().drainTo((key, startNs, elements) -> {});
        assertThat(swept.swept(TABLES).left().queues()).isEmpty();
    }

    @Test
    void looksForEndedThreadsAsTablesAreAdded() {
        Slots<StatTable, Left> tables = EMPTY.and(writtenTableOf(Thread.currentThread()));
        for (int i = 0; i < 1_000; i++) {
            tables = tables.sweptIfDue(TABLES).and(writtenTableOf(ended()));
            assertThat(tables.live()).hasSizeLessThanOrEqualTo(20);
        }

        assertThat(tables.swept(TABLES).left().sums().row(0).count()).isEqualTo(1_000);
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
            Slots<StatTable, Left> tables = EMPTY;
            int sweeps = 0;
            for (Thread thread : alive) {
                Slots<StatTable, Left> swept = tables.sweptIfDue(TABLES);
                sweeps += swept == tables ? 0 : 1;
                tables = swept.and(tableOf(thread));
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
        Slots<StatTable, Left> tables =
                EMPTY.and(left).swept(TABLES).and(written).and(empty);

        Slots<StatTable, Left> renewed = TableRegistry.renewed(tables);

        assertThat(renewed.live()).hasSize(2);
        assertThat(renewed.live().get(0)).isNotSameAs(written);
        assertThat(renewed.live().get(0).owner()).isSameAs(written.owner());
        assertThat(renewed.live().get(1)).as("an empty table stays").isSameAs(empty);
        assertThat(renewed.left().sums().row(0)).isEqualTo(StatRow.EMPTY);
        assertThat(renewed.left().queues()).as("what is pending stays").containsExactly(left.pending());
        assertThat(tables.live().get(0)).as("the object before is unchanged").isSameAs(written);
    }

    @Test
    void aWriterHasLeftItsOldTableOnceItWroteToTheNewOne() {
        StatTable old = writtenTableOf(Thread.currentThread());
        Slots<StatTable, Left> tables = EMPTY.and(old);
        assertThat(LateTables.hasLeft(old, tables)).as("it is the current one").isFalse();

        Slots<StatTable, Left> renewed = TableRegistry.renewed(tables);
        assertThat(LateTables.hasLeft(old, renewed))
                .as("a sample may be on its way")
                .isFalse();

        renewed.live().get(0).add(0, 1, 1, 1);
        assertThat(LateTables.hasLeft(old, renewed)).isTrue();
    }

    @Test
    void aThreadThatEndedHasLeft() {
        assertThat(LateTables.hasLeft(tableOf(ended()), EMPTY)).isTrue();
        assertThat(LateTables.hasLeft(tableOf(Thread.currentThread()), EMPTY)).isFalse();
    }
}
