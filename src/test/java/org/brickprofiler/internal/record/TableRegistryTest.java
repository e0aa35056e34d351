package org.brickprofiler.internal.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.testing.VirtualThreadStarter;
import org.junit.jupiter.api.Test;

final class TableRegistryTest {

    private final TableRegistry registry = new TableRegistry(4, false);

    // ---- recording and reading ----

    @Test
    void isEmptyAtFirst() {
        assertThat(registry.read().row(0)).isEqualTo(StatRow.EMPTY);
        assertThat(registry.readAndReset().row(0)).isEqualTo(StatRow.EMPTY);
        assertThat(registry.tableCount()).isZero();
        assertThat(registry.pendingCount()).isZero();
    }

    /** A subclass may override Thread.getId, which is not final. */
    @Test
    void aThreadWhoseIdChangesHasOneTable() throws Exception {
        AtomicLong id = new AtomicLong();
        AtomicInteger tables = new AtomicInteger();
        Thread thread =
                new Thread(() -> {
                    for (int i = 0; i < 100; i++) {
                        registry.add(1, 10, i, 1);
                    }
                    tables.set(registry.tableCount());
                }) {
                    @Override
                    public long getId() {
                        return id.incrementAndGet() * 7;
                    }
                };
        thread.start();
        thread.join();

        assertThat(tables.get()).isEqualTo(1);
        assertThat(registry.read().row(1).count()).isEqualTo(100);
    }

    @Test
    void addsUpWhatItsThreadsRecord() throws Exception {
        registry.add(1, 10, 100, 1);
        registry.add(1, 30, 200, 2);
        Crew.runOnNewThread(() -> {
            registry.add(1, 5, 300, 4);
            registry.add(2, 7, 400, 8);
        });

        StatSums sums = registry.read();

        assertThat(sums.row(1))
                .isEqualTo(StatRow.builder()
                        .samples(3, 45, 5, 30)
                        .last(5, 300)
                        .elements(7)
                        .build());
        assertThat(sums.row(2).totalNs()).isEqualTo(7);
        assertThat(sums.row(0)).isEqualTo(StatRow.EMPTY);
        assertThat(sums.threads()).isEqualTo(2);
        assertThat(sums.virtualThreads()).isFalse();
    }

    @Test
    void readsSomeRowsOnly() {
        registry.add(1, 10, 100, 1);
        registry.add(2, 20, 200, 1);

        StatSums sums = registry.read(2, 3);

        assertThat(sums.row(1)).isEqualTo(StatRow.EMPTY);
        assertThat(sums.row(2).totalNs()).isEqualTo(20);
        assertThat(registry.read(3, 4).threads())
                .as("threads that recorded in the rows that were read")
                .isZero();
    }

    @Test
    void aThreadKeepsItsTable() {
        StatTable mine = registry.acquire();
        registry.release(mine);
        registry.add(1, 10, 100, 1);

        assertThat(registry.acquire()).isSameAs(mine);
        assertThat(mine.owner()).isSameAs(Thread.currentThread());
        assertThat(registry.tableCount()).isEqualTo(1);
    }

    @Test
    void eachThreadHasATableOfItsOwn() throws Exception {
        StatTable mine = registry.acquire();
        StatTable other = Crew.onNewThread(registry::acquire);

        assertThat(other).isNotSameAs(mine);
        assertThat(other.owner()).isNotSameAs(mine.owner());
    }

    @Test
    void countsInBucketsWhereAskedTo() throws Exception {
        TableRegistry percentiles = new TableRegistry(4, true);
        percentiles.add(1, 10, 100, 1);
        Crew.runOnNewThread(() -> {
            percentiles.add(1, 10, 100, 1);
        });

        assertThat(Objects.requireNonNull(percentiles.read().buckets(1))[10]).isEqualTo(2);
        assertThat(Objects.requireNonNull(percentiles.readAndReset().buckets(1))[10])
                .isEqualTo(2);
        assertThat(percentiles.read().buckets(1)).isNull();
    }

    // ---- threads that ended ----

    @Spec("5.3")
    @Test
    void endedThreadsLeaveTheirSamplesAndNoTable() throws Exception {
        registry.add(0, 1, 1, 1);
        for (int i = 0; i < 50; i++) {
            Crew.runOnNewThread(() -> {
                registry.add(0, 1, 1, 1);
            });
        }

        assertThat(registry.read().row(0).count()).isEqualTo(51);
        assertThat(registry.read().threads()).isEqualTo(51);
        assertThat(registry.tableCount()).isEqualTo(1);
    }

    @Test
    void aResetForgetsWhatEndedThreadsLeft() throws Exception {
        Crew.runOnNewThread(() -> {
            registry.add(0, 1, 1, 1);
        });

        assertThat(registry.readAndReset().row(0).count()).isEqualTo(1);
        assertThat(registry.read().row(0).count()).isZero();
        assertThat(registry.readAndReset().threads()).isZero();
    }

    // ---- resets ----

    @Test
    void aResetReturnsWhatWasRecordedAndBeginsAnew() {
        registry.add(1, 10, 100, 1);
        assertThat(registry.readAndReset().row(1).totalNs()).isEqualTo(10);
        assertThat(registry.read().row(1)).isEqualTo(StatRow.EMPTY);

        registry.add(1, 20, 200, 1);
        assertThat(registry.read().row(1))
                .isEqualTo(StatRow.builder()
                        .samples(1, 20, 20, 20)
                        .last(20, 200)
                        .elements(1)
                        .build());
        assertThat(registry.readAndReset().row(1).totalNs()).isEqualTo(20);
        assertThat(registry.tableCount()).isEqualTo(1);
    }

    @Test
    void aResetLeavesAnEmptyTableInItsPlace() {
        registry.add(1, 10, 100, 1);
        registry.readAndReset();
        StatTable renewed = registry.acquire();
        registry.readAndReset();

        assertThat(registry.acquire()).isSameAs(renewed);
    }

    // ---- the time of a phase ----

    /** Nearly every call finds what the call before remembered: threads come and go, and resets happen, in between. */
    @Test
    void theTimeOfAPhaseIsThatOfAllThreadsAcrossResets() throws Exception {
        Optional<VirtualThreadStarter> virtual = VirtualThreadStarter.find();
        byte[] tags = {2, 0, 2, 1};
        for (int seed = 0; seed < 40; seed++) {
            Random random = new Random(seed);
            TableRegistry each = new TableRegistry(tags.length, false);
            long[][] expected = new long[PhaseKey.PHASES][3];
            ExecutorService worker = Executors.newSingleThreadExecutor();
            for (int i = 0; i < 150; i++) {
                int phase = random.nextInt(PhaseKey.PHASES);
                int key = random.nextInt(tags.length);
                Crew.Body sample = () -> {
                    each.add(phase, key, 10, 1, 1);
                    expected[phase][tags[key]] += 10;
                };
                switch (random.nextInt(seed < 10 ? 15 : 50)) {
                    case 0 -> each.readAndReset();
                    case 1 -> Crew.runOnNewThread(each::readAndReset);
                    case 2 -> each.read();
                    case 3 -> Crew.runOnNewThread(sample);
                    case 4 -> onThreadOf(worker, each::readAndReset);
                    case 5 -> onThreadOf(worker, sample);
                    case 6 -> onVirtualThread(virtual, sample);
                    case 7 -> {
                        StatTable old = each.acquire(phase);
                        each.readAndReset();
                        each.addTotalsNs(phase, tags, new long[3], 0, 3);
                        old.add(key, 10, 1, 1);
                        expected[phase][tags[key]] += 10;
                    }
                    default -> sample.run();
                }
                for (int of = 0; of < PhaseKey.PHASES; of++) {
                    long[] totals = new long[4];
                    each.addTotalsNs(of, tags, totals, 1, 3);
                    assertThat(totals)
                            .as("phase %s after operation %s, seed %s", of, i, seed)
                            .containsExactly(0, expected[of][0], expected[of][1], expected[of][2]);
                }
            }
            worker.shutdown();
        }
    }

    private static void onThreadOf(ExecutorService worker, Crew.Body body) throws Exception {
        FutureTask<Boolean> task = Crew.task(body);
        worker.execute(task);
        Crew.result(task);
    }

    /** Before JDK 21 there is none, and nothing happens. */
    private static void onVirtualThread(Optional<VirtualThreadStarter> starter, Crew.Body body) throws Exception {
        if (starter.isPresent()) {
            FutureTask<Boolean> task = Crew.task(body);
            starter.get().start(task).join();
            Crew.result(task);
        }
    }

    @Test
    void whatIsPendingSurvivesAReset() {
        registry.add(0, 1, 1, 1);
        assertThat(registry.defer(1, 100, 1)).isTrue();
        registry.readAndReset();

        assertThat(registry.pendingCount()).isEqualTo(1);
        new PendingResolver(registry, false).resolve(0, 150);
        assertThat(registry.read().row(1).totalNs()).isEqualTo(50);
    }

    @Test
    void aSampleThatWasOnItsWayDuringAResetCountsOnceInTheNextReadings() {
        registry.add(1, 10, 100, 1);
        StatTable found = registry.acquire();
        assertThat(registry.readAndReset().row(1).count()).isEqualTo(1);

        found.addWork(1, 25, 200, 3, 5, 6);

        StatRow late = StatRow.builder()
                .samples(1, 25, 25, 25)
                .last(25, 200)
                .elements(3)
                .work(5)
                .maxTag(6)
                .build();
        assertThat(registry.read().row(1)).isEqualTo(late);
        assertThat(registry.read().row(1)).as("read again").isEqualTo(late);
        assertThat(registry.readAndReset().row(1)).isEqualTo(late);
        assertThat(registry.readAndReset().row(1)).isEqualTo(StatRow.EMPTY);
    }

    @Test
    void aSampleThatWasOnItsWayDuringAResetIsInTheNextOne() {
        registry.add(1, 10, 100, 1);
        StatTable found = registry.acquire();
        registry.readAndReset();
        found.add(2, 25, 200, 3);
        registry.add(1, 7, 300, 1);

        StatSums sums = registry.readAndReset();

        assertThat(sums.row(1).totalNs()).isEqualTo(7);
        assertThat(sums.row(2).totalNs()).isEqualTo(25);
        assertThat(registry.read().row(2)).isEqualTo(StatRow.EMPTY);
    }

    @Test
    void aSampleMayBeOnItsWayDuringSeveralResets() {
        registry.add(1, 10, 100, 1);
        StatTable found = registry.acquire();
        registry.readAndReset();
        registry.readAndReset();
        registry.readAndReset();
        found.add(1, 25, 200, 3);

        assertThat(registry.read().row(1).totalNs()).isEqualTo(25);
    }

    @Test
    void aLateSampleMayBeTheFirstOfARowThatItsTableDidNotHave() {
        TableRegistry percentiles = new TableRegistry(2, true);
        percentiles.add(1, 10, 100, 1);
        StatTable found = percentiles.acquire();
        percentiles.readAndReset();
        found.add(40, 25, 200, 3);

        StatSums sums = percentiles.read();
        assertThat(sums.row(40).totalNs()).isEqualTo(25);
        assertThat(Objects.requireNonNull(sums.buckets(40))[25]).isEqualTo(1);
    }

    @Test
    void aThreadMayEndWithASampleOnItsWay() throws Exception {
        CountDownLatch found = new CountDownLatch(1);
        CountDownLatch reset = new CountDownLatch(1);
        Crew crew = new Crew();
        crew.run(() -> {
            registry.add(1, 10, 100, 1);
            StatTable table = registry.acquire();
            found.countDown();
            reset.await();
            table.add(1, 25, 200, 3);
        });
        found.await();
        assertThat(registry.readAndReset().row(1).totalNs()).isEqualTo(10);
        reset.countDown();
        crew.join();

        assertThat(registry.readAndReset().row(1).totalNs()).isEqualTo(25);
        assertThat(registry.read().row(1)).isEqualTo(StatRow.EMPTY);
    }

    @Test
    void oldTablesAreNotKeptLongerThanNeeded() throws Exception {
        CountDownLatch read = new CountDownLatch(1);
        CountDownLatch recorded = new CountDownLatch(1);
        Crew crew = new Crew();
        crew.run(() -> {
            registry.add(1, 10, 100, 1);
            recorded.countDown();
            read.await();
        });
        recorded.await();
        registry.add(1, 10, 100, 1);
        registry.readAndReset();
        assertThat(registry.lateTableCount())
                .as("both threads may be about to finish a sample")
                .isEqualTo(2);

        registry.add(1, 10, 100, 1);
        registry.read();
        assertThat(registry.lateTableCount()).as("one has recorded since").isEqualTo(1);

        read.countDown();
        crew.join();
        registry.read();
        registry.read();
        assertThat(registry.lateTableCount()).as("the other has ended").isZero();
    }

    /** This holds also if the thread has ended and its queue is dropped because it is empty. */
    @Test
    void theThreadsWhoseMeasurementsWereTakenAreCountedOnceInEachInterval() throws Exception {
        TableRegistry.PendingConsumer nobody = (key, startNs, elements) -> {};
        assertThat(registry.defer(1, 100, 1)).isTrue();
        assertThat(Crew.onNewThread(() -> registry.defer(1, 110, 1))).isTrue();
        assertThat(registry.read().queuingThreads()).as("nothing was taken").isZero();

        registry.drainPending(nobody);
        assertThat(registry.read().queuingThreads()).isEqualTo(2);
        assertThat(registry.read().queuingThreads()).as("read again").isEqualTo(2);

        assertThat(registry.defer(1, 120, 1)).isTrue();
        registry.drainPending(nobody);
        assertThat(registry.readAndReset().queuingThreads()).isEqualTo(2);
        assertThat(registry.read().queuingThreads()).as("a new interval").isZero();

        assertThat(registry.defer(1, 130, 1)).isTrue();
        registry.drainPending(nobody);
        assertThat(registry.read().queuingThreads()).isEqualTo(1);
        assertThat(registry.read().queuingVirtualThreads()).isFalse();
    }

    @Test
    void aReplacedTableIsLetGoWhereTheIdOfItsThreadChanges() throws Exception {
        AtomicLong id = new AtomicLong();
        AtomicInteger lateTables = new AtomicInteger(-1);
        Thread thread =
                new Thread(() -> {
                    for (int i = 0; i < 10; i++) {
                        registry.add(1, 10, i, 1);
                        registry.readAndReset();
                    }
                    registry.add(1, 10, 10, 1);
                    registry.read();
                    lateTables.set(registry.lateTableCount());
                }) {
                    @Override
                    public long getId() {
                        return id.incrementAndGet() * 7;
                    }
                };
        thread.start();
        thread.join();

        assertThat(lateTables).hasValue(0);
    }

    // ---- pending measurements ----

    @Test
    void handsOverThePendingMeasurementsOfAllThreadsEndedOnesIncluded() throws Exception {
        assertThat(registry.defer(0, 1, 10)).isTrue();
        assertThat(Crew.onNewThread(() -> registry.defer(1, 2, 20) && registry.defer(2, 3, 30)))
                .isTrue();
        assertThat(registry.tableCount()).isEqualTo(1);
        assertThat(registry.pendingCount()).isEqualTo(3);

        List<Integer> keys = new ArrayList<>();
        registry.drainPending((key, startNs, elements) -> keys.add(key));

        assertThat(keys).containsExactlyInAnyOrder(0, 1, 2);
        assertThat(registry.pendingCount()).isZero();
        registry.drainPending((key, startNs, elements) -> keys.add(key));
        assertThat(keys).hasSize(3);
    }
}
