package org.brickprofiler.internal.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

final class StatTableTest {

    private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(long[].class);

    private static StatTable table(int rows, boolean withBuckets) {
        return new StatTable(Thread.currentThread(), rows, withBuckets, new PendingQueue(), null, null);
    }

    // ---- contents of a row ----

    @Test
    void aNewTableIsEmpty() {
        StatTable table = table(3, false);

        assertThat(table.rowCount()).isEqualTo(3);
        assertThat(table.isWritten()).isFalse();
        assertThat(table.owner()).isSameAs(Thread.currentThread());
        assertThat(table.read(0)).isEqualTo(StatRow.EMPTY);
        assertThat(table.read(2)).isEqualTo(StatRow.EMPTY);
    }

    @Test
    void addsSamplesUp() {
        StatTable table = table(2, false);
        table.add(1, 50, 1_000, 4);
        table.add(1, 20, 1_100, 1);
        table.add(1, 30, 1_200, 2);

        assertThat(table.read(1))
                .isEqualTo(StatRow.builder()
                        .samples(3, 100, 20, 50)
                        .last(30, 1_200)
                        .elements(7)
                        .build());
        assertThat(table.read(0)).isEqualTo(StatRow.EMPTY);
        assertThat(table.isWritten()).isTrue();
    }

    @Test
    void aZeroDurationIsASample() {
        StatTable table = table(1, false);
        table.add(0, 0, 5, 0);

        assertThat(table.read(0).count()).isEqualTo(1);
        assertThat(table.read(0).minNs()).isZero();
        assertThat(table.read(0).maxNs()).isZero();
    }

    @Test
    void addsBytesUp() {
        StatTable table = table(1, false);
        table.addBytes(0, 10, 1, 1, 100, 25);
        table.addBytes(0, 10, 2, 1, 60, 15);

        assertThat(table.read(0))
                .isEqualTo(StatRow.builder()
                        .samples(2, 20, 10, 10)
                        .last(10, 2)
                        .elements(2)
                        .bytes(160, 40)
                        .build());
    }

    @Test
    void addsCyclesUpAndLeavesSamplesWithoutThemOut() {
        StatTable table = table(1, false);
        table.addCycles(0, 10, 1, 1, 900);
        table.addCycles(0, 10, 2, 1, 0);
        table.addCycles(0, 10, 3, 1, 300);

        assertThat(table.read(0))
                .isEqualTo(StatRow.builder()
                        .samples(3, 30, 10, 10)
                        .last(10, 3)
                        .elements(3)
                        .cycles(1_200, 2, 300, 900)
                        .build());
    }

    @Test
    void keepsTheTagOfTheLongestSample() {
        StatTable table = table(1, false);
        table.addWork(0, 10, 1, 1, 5, 3);
        table.addWork(0, 40, 2, 1, 5, 7);
        table.addWork(0, 20, 3, 1, 5, 9);

        assertThat(table.read(0))
                .isEqualTo(StatRow.builder()
                        .samples(3, 70, 10, 40)
                        .last(20, 3)
                        .elements(3)
                        .work(15)
                        .maxTag(7)
                        .build());
    }

    @Spec("7.3")
    @Test
    void keepsTheGreaterTagAmongEquallyLongSamplesWhicheverCameFirst() {
        StatTable table = table(2, false);
        table.addWork(0, 10, 1, 1, 5, 3);
        table.addWork(0, 10, 2, 1, 5, 8);
        table.addWork(1, 10, 1, 1, 5, 8);
        table.addWork(1, 10, 2, 1, 5, 3);

        assertThat(table.read(0).maxTag()).isEqualTo(8);
        assertThat(table.read(1).maxTag()).isEqualTo(8);
    }

    @Test
    void tagsASampleOfZeroNs() {
        StatTable table = table(1, false);
        table.addWork(0, 0, 1, 1, 5, 0);

        assertThat(table.read(0).maxTag()).isZero();
    }

    // ---- growth ----

    @Test
    void growsToARowThatIsNew() {
        StatTable table = table(2, false);
        table.add(1, 7, 1, 1);
        table.add(40, 9, 2, 1);

        assertThat(table.rowCount()).isBetween(41, TimerToken.MAX_KEY + 1);
        assertThat(table.read(1).totalNs()).isEqualTo(7);
        assertThat(table.read(40).minNs()).isEqualTo(9);
        assertThat(table.read(20)).isEqualTo(StatRow.EMPTY);
    }

    @Test
    void growsToTheLargestKey() {
        StatTable table = table(1, true);
        for (int key = 0; key <= TimerToken.MAX_KEY; key++) {
            table.add(key, key, key, key);
        }

        assertThat(table.rowCount()).isEqualTo(TimerToken.MAX_KEY + 1);
        for (int key = 0; key <= TimerToken.MAX_KEY; key++) {
            assertThat(table.read(key).totalNs()).isEqualTo(key);
        }
    }

    @Test
    void aRowPastTheEndReadsAsEmpty() {
        assertThat(RowReader.read(table(2, true), 0, 2, new long[LatencyBuckets.COUNT], false)
                        .build())
                .isEqualTo(StatRow.EMPTY);
        assertThat(table(2, true).buckets(0, 2)).isNull();
    }

    // ---- buckets ----

    @Test
    void countsDurationsInBucketsWhereAskedTo() {
        StatTable table = table(2, true);
        table.add(1, 5, 1, 1);
        table.addBytes(1, 5, 2, 1, 1, 1);
        table.addCycles(1, 100_000, 3, 1, 1);
        table.addWork(1, 0, 4, 1, 1, 1);

        long[] counts = new long[LatencyBuckets.COUNT];
        StatRow row = RowReader.read(table, 0, 1, counts, false).build();

        assertThat(row.count()).isEqualTo(4);
        assertThat(counts[5]).isEqualTo(2);
        assertThat(counts[0]).isEqualTo(1);
        assertThat(counts[LatencyBuckets.indexOf(100_000)]).isEqualTo(1);
        assertThat(Arrays.stream(counts).sum()).isEqualTo(4);
        assertThat(table.withBuckets()).isTrue();
        assertThat(table.buckets(0, 1)).isNotNull();
        assertThat(table.buckets(0, 0)).as("buckets come with the first sample").isNull();
    }

    @Test
    void bucketsSurviveGrowth() {
        StatTable table = table(1, true);
        table.add(0, 5, 1, 1);
        table.add(9, 6, 2, 1);

        long[] counts = new long[LatencyBuckets.COUNT];
        RowReader.read(table, 0, 0, counts, false);
        RowReader.read(table, 0, 9, counts, false);

        assertThat(counts[5]).isEqualTo(1);
        assertThat(counts[6]).isEqualTo(1);
    }

    @Test
    void addsItsBucketsToThoseThatAreThere() {
        StatTable table = table(1, true);
        table.add(0, 5, 1, 1);
        long[] counts = new long[LatencyBuckets.COUNT];
        counts[5] = 10;

        RowReader.read(table, 0, 0, counts, false);

        assertThat(counts[5]).isEqualTo(11);
    }

    /** The latest samples are in the row's log and the others in its buckets: a reader gets both after each sample. */
    @Test
    void everySampleIsInTheBucketsOnceWhereverItsRowKeepsIt() {
        StatTable table = table(3, true);
        table.select(0, 1);
        table.add(2, 0, 1, 1);
        long[] expected = new long[LatencyBuckets.COUNT];
        expected[0] = 1;
        Random random = new Random(1);
        for (int n = 2; n <= 5 * BucketLog.CAPACITY; n++) {
            long elapsedNs = random.nextLong() >>> random.nextInt(20, 64);
            switch (n % 4) {
                case 0 -> table.addBytes(2, elapsedNs, n, 1, 1, 1);
                case 1 -> table.addWork(2, elapsedNs, n, 1, 1, 1);
                default -> {
                    elapsedNs >>>= 14;
                    assertThat(table.addTimed(1, TimerToken.pack(2, 0), elapsedNs, 1))
                            .isTrue();
                }
            }
            expected[LatencyBuckets.indexOf(elapsedNs)]++;

            long[] counts = new long[LatencyBuckets.COUNT];
            assertThat(RowReader.read(table, 0, 2, counts, true).count()).isEqualTo(n);
            assertThat(counts).as("after %d samples", n).isEqualTo(expected);
        }
        assertThat(table.buckets(0, 1)).isNull();
    }

    /** The rows alone have no buckets for the first sample of a row, nor for one that fills its log. */
    @Test
    void theRowsOfALaneTakeTheSamplesThatNeedNoBuckets() {
        StatTable table = table(1, true);
        table.select(0, 1);
        long[] rows = table.openLane(() -> {});
        for (int n = 0; n < 4 * BucketLog.CAPACITY; n++) {
            boolean added = StatTable.addTimed(rows, true, TimerToken.pack(0, 0), 5, 1);
            assertThat(added).as("sample %d", n).isEqualTo(n > 0 && (n + 1) % BucketLog.CAPACITY != 0);
            assertThat(added || table.addTimed(1, TimerToken.pack(0, 0), 5, 1)).isTrue();
        }

        long[] counts = new long[LatencyBuckets.COUNT];
        assertThat(RowReader.read(table, 0, 0, counts, true).count()).isEqualTo(4 * BucketLog.CAPACITY);
        assertThat(counts[5]).isEqualTo(4 * BucketLog.CAPACITY);
        assertThat(StatTable.addTimed(rows, true, TimerToken.pack(1, 0), 5, 1))
                .as("a row that does not exist")
                .isFalse();
        assertThat(StatTable.addTimed(rows, true, TimerToken.pack(0, 0), 5, -1))
                .as("negative elements")
                .isFalse();
    }

    @Test
    void aLaneIsClosedOnceWhenTheRowsOrTheSelectionChange() {
        StatTable table = table(1, false);
        AtomicInteger closed = new AtomicInteger();
        table.openLane(closed::incrementAndGet);
        table.use(0);
        assertThat(closed).as("the phase that is selected").hasValue(0);
        table.use(1);
        assertThat(closed).as("another phase").hasValue(1);
        table.deselect();
        assertThat(closed).as("no lane is open").hasValue(1);
        table.openLane(closed::incrementAndGet);
        table.deselect();
        assertThat(closed).as("no phase").hasValue(2);
        table.openLane(closed::incrementAndGet);
        table.add(1, 1, 1, 1);
        assertThat(closed).as("longer rows").hasValue(3);
    }

    @Test
    void hasNoBucketsUnlessAskedTo() {
        StatTable table = table(1, false);
        table.add(0, 5, 1, 1);

        assertThat(table.withBuckets()).isFalse();
        assertThat(table.buckets(0, 0)).isNull();
    }

    /**
     * A writer can lose its processor in the middle of a sample. A reset that meets it waits, and its reading is then
     * final: buckets copied before the wait would lose that sample permanently.
     */
    @Test
    void bucketsAgreeWithTheCountWhereTheWriterPausedInTheMiddleOfASample() throws Exception {
        StatTable table = table(1, true);
        table.add(0, 5, 1, 1);
        long[] cells = field(table, "rows", long[].class);
        cells[StatTable.BEGUN] = 2;

        Crew crew = new Crew();
        AtomicReference<Thread> reader = new AtomicReference<>();
        FutureTask<long[]> read = crew.start(() -> {
            reader.set(Thread.currentThread());
            long[] counts = new long[LatencyBuckets.COUNT];
            long[] countAndSum = {RowReader.read(table, 0, 0, counts, true).count(), 0};
            countAndSum[1] = Arrays.stream(counts).sum();
            return countAndSum;
        });
        awaitPause(reader);
        BucketLog.add(cells, table.log(0), 2, 6);
        // Ends the sample as the writer does: its count is stored last.
        CELL.setRelease(cells, StatTable.COUNT, 2L);
        crew.join();

        assertThat(Crew.result(read))
                .as("count of samples, and the sum of the buckets")
                .containsExactly(2, 2);
    }

    private static void awaitPause(AtomicReference<Thread> thread) {
        Thread.State state = Thread.State.NEW;
        while (state != Thread.State.TIMED_WAITING && state != Thread.State.TERMINATED) {
            Thread.onSpinWait();
            state = thread.get() == null ? Thread.State.NEW : thread.get().getState();
        }
        assertThat(state).as("what the reader does meanwhile").isSameAs(Thread.State.TIMED_WAITING);
    }

    private static <T> T field(StatTable table, String name, Class<T> type) throws ReflectiveOperationException {
        Field field = StatTable.class.getDeclaredField(name);
        field.setAccessible(true);
        return type.cast(field.get(table));
    }

    // ---- holding, clearing, renewing ----

    @Test
    void isHeldByOneAtATime() {
        StatTable shared = new StatTable(null, 1, false, new PendingQueue(), null, null);

        assertThat(shared.tryHold()).isTrue();
        assertThat(shared.tryHold()).isFalse();
        shared.letGo();
        assertThat(shared.tryHold()).isTrue();
    }

    @Test
    void forgetsEverything() {
        StatTable table = table(2, true);
        table.add(1, 5, 1, 1);
        table.clear();

        assertThat(table.read(1)).isEqualTo(StatRow.EMPTY);
        assertThat(table.isWritten()).isFalse();
        assertThat(table.buckets(0, 1)).isNull();
        assertThat(table.withBuckets()).isTrue();
        assertThat(table.rowCount()).isEqualTo(2);
    }

    @Test
    void isRenewedForTheSameWriterWithTheSameQueue() {
        StatTable table = table(2, true);
        table.add(5, 5, 1, 1);

        StatTable renewed = table.renewed();

        assertThat(renewed.isWritten()).isFalse();
        assertThat(renewed.owner()).isSameAs(table.owner());
        assertThat(renewed.pending()).isSameAs(table.pending());
        assertThat(renewed.rowCount()).isEqualTo(table.rowCount());
        assertThat(renewed.withBuckets()).isTrue();
        assertThat(table.read(5).count()).as("the old table keeps its samples").isEqualTo(1);
    }

    // ---- reading while another thread writes ----

    @Spec("5.1")
    @Test
    void aReaderNeverSeesValuesThatDoNotBelongTogether() throws Exception {
        int samples = 5_000_000;
        Crew crew = new Crew();
        AtomicReference<StatTable> shared = new AtomicReference<>();
        FutureTask<StatTable> writer = crew.start(() -> {
            StatTable table = table(1, true);
            shared.set(table);
            for (long n = 1; n <= samples; n++) {
                int key = (int) (n % 3);
                switch (key) {
                    case 0 -> table.addBytes(key, 7 * n, 11 * n, n, 2 * n, 3 * n);
                    case 1 -> table.addCycles(key, 7 * n, 11 * n, n, 5 * n);
                    default -> table.addWork(key, 7 * n, 11 * n, n, 13 * n, n);
                }
            }
            return table;
        });
        long checked = 0;
        while (!writer.isDone()) {
            StatTable table = shared.get();
            for (int key = 0; table != null && key < 3; key++) {
                checkTogether(key, table.read(key));
                checked++;
            }
        }
        crew.join();

        StatTable table = Crew.result(writer);
        long[] counts = new long[LatencyBuckets.COUNT];
        assertThat(RowReader.read(table, 0, 0, counts, false).count()
                        + RowReader.read(table, 0, 1, counts, false).count()
                        + RowReader.read(table, 0, 2, counts, false).count())
                .isEqualTo(samples);
        assertThat(Arrays.stream(counts).sum()).isEqualTo(samples);
        assertThat(checked).isPositive();
    }

    private static void checkTogether(int key, StatRow row) {
        if (row.count() == 0) {
            return;
        }
        // The samples of a key are n = first, first + 3, ...: every column follows from the count.
        long first = key == 0 ? 3 : key;
        long last = first + 3 * (row.count() - 1);
        long sum = (first + last) * row.count() / 2;
        StatRow together = StatRow.builder()
                .samples(row.count(), 7 * sum, 7 * first, 7 * last)
                .last(7 * last, 11 * last)
                .elements(sum)
                .bytes(key == 0 ? 2 * sum : 0, key == 0 ? 3 * sum : 0)
                .cycles(
                        key == 1 ? 5 * sum : 0,
                        key == 1 ? row.count() : 0,
                        key == 1 ? 5 * first : Long.MAX_VALUE,
                        key == 1 ? 5 * last : 0)
                .work(key == 2 ? 13 * sum : 0)
                .maxTag(key == 2 ? last : StatRow.NO_TAG)
                .build();
        // Compared by hand first: the more readings, the more of them meet a write.
        if (!row.equals(together)) {
            assertThat(row).isEqualTo(together);
        }
    }
}
