package org.brickprofiler.internal.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.FutureTask;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.testing.VirtualThreadStarter;
import org.junit.jupiter.api.Test;

/** The registry under many threads. No test sleeps; each ends when its threads have. */
final class TableRegistryThreadsTest {

    private final TableRegistry registry = new TableRegistry(4, true);

    /** Sums of durations and elements must stay in this proportion, or a reader saw half a sample. */
    private static final int NS_AN_ELEMENT = 7;

    private void addSample(int key, long elements) {
        registry.add(key, NS_AN_ELEMENT * elements, 1, elements);
    }

    private static void checkTogether(StatRow row) {
        assertThat(row.totalNs()).isEqualTo(NS_AN_ELEMENT * row.elements());
        assertThat(row.maxNs()).isLessThanOrEqualTo(row.totalNs());
        assertThat(row.elements()).isGreaterThanOrEqualTo(row.count());
        assertThat(row.count() == 0).isEqualTo(row.minNs() == Long.MAX_VALUE);
    }

    private static long bucketSum(StatSums sums, int key) {
        long[] counts = sums.buckets(key);
        return counts == null ? 0 : Arrays.stream(counts).sum();
    }

    @Spec("5.2")
    @Test
    void resetsLoseNothingWhileThreadsRecordAndReadersReadConsistently() throws Exception {
        int perWriter = 2_000_000;
        int writerCount = 3;
        Crew crew = new Crew();
        List<FutureTask<Integer>> writers = new ArrayList<>();
        for (int writer = 0; writer < writerCount; writer++) {
            writers.add(crew.start(() -> {
                for (int n = 1; n <= perWriter; n++) {
                    addSample(n & 1, n % 100 + 1);
                }
                return 0;
            }));
        }
        FutureTask<Integer> reader = crew.start(() -> {
            int readings = 0;
            while (!allDone(writers)) {
                StatSums sums = registry.read();
                checkTogether(sums.row(0));
                checkTogether(sums.row(1));
                readings++;
            }
            return readings;
        });
        long[] count = new long[2];
        long[] elements = new long[2];
        long[] inBuckets = new long[2];
        int resets = 0;
        boolean last;
        do {
            last = allDone(writers);
            StatSums part = registry.readAndReset();
            for (int key = 0; key < 2; key++) {
                checkTogether(part.row(key));
                count[key] += part.row(key).count();
                elements[key] += part.row(key).elements();
                inBuckets[key] += bucketSum(part, key);
            }
            resets++;
        } while (!last);
        crew.join();

        long perKey = (long) writerCount * perWriter / 2;
        assertThat(count).containsExactly(perKey, perKey);
        assertThat(inBuckets).containsExactly(perKey, perKey);
        assertThat(elements[0] + elements[1]).isEqualTo(writerCount * elementsOf(perWriter));
        assertThat(resets).isPositive();
        assertThat(Crew.result(reader)).isPositive();
    }

    private static long elementsOf(int perWriter) {
        long elements = 0;
        for (int n = 1; n <= perWriter; n++) {
            elements += n % 100 + 1;
        }
        return elements;
    }

    private static boolean allDone(List<FutureTask<Integer>> tasks) {
        return tasks.stream().allMatch(FutureTask::isDone);
    }

    @Spec("5.4")
    @Test
    void thousandsOfShortThreadsLeaveTheirSamplesAndNoTable() throws Exception {
        int threads = 4_000;
        int atOnce = 8;
        int mostTables = 0;
        for (int started = 0; started < threads; started += atOnce) {
            List<Thread> batch = new ArrayList<>();
            for (int i = 0; i < atOnce; i++) {
                Thread thread = new Thread(() -> addSample(0, 1));
                thread.start();
                batch.add(thread);
            }
            for (Thread thread : batch) {
                thread.join(60_000);
                assertThat(thread.isAlive()).isFalse();
            }
            mostTables = started % 1_000 == 0 ? Math.max(mostTables, registry.tableCount()) : mostTables;
        }

        StatSums sums = registry.read();
        assertThat(sums.row(0).count()).isEqualTo(threads);
        assertThat(bucketSum(sums, 0)).isEqualTo(threads);
        assertThat(sums.threads()).isEqualTo(threads);
        assertThat(mostTables).isZero();
        assertThat(registry.tableCount()).isZero();
    }

    @Test
    void shortThreadsLeaveNothingBehindWhereNobodyReads() throws Exception {
        for (int i = 0; i < 2_000; i++) {
            Thread thread = new Thread(() -> addSample(0, 1));
            thread.start();
            thread.join(60_000);
        }

        assertThat(registry.tables().live())
                .as("tables of threads, most of them ended, before any reading")
                .hasSizeLessThanOrEqualTo(20);
        assertThat(registry.read().row(0).count()).isEqualTo(2_000);
    }

    /** The common pool clears the thread-locals of its threads between tasks; tables must not come and go with them. */
    @Spec("5.4")
    @Test
    void tasksOfTheCommonPoolMakeNoMoreTablesThanItHasThreads() {
        int tasks = 20_000;
        Set<Thread> seen = ConcurrentHashMap.newKeySet();
        List<ForkJoinTask<?>> submitted = new ArrayList<>();
        for (int i = 0; i < tasks; i++) {
            submitted.add(ForkJoinPool.commonPool().submit(() -> {
                seen.add(Thread.currentThread());
                addSample(0, 1);
            }));
        }
        submitted.forEach(ForkJoinTask::join);

        assertThat(registry.read().row(0).count()).isEqualTo(tasks);
        assertThat(registry.tableCount()).isLessThanOrEqualTo(seen.size());
        assertThat(seen.size()).isLessThanOrEqualTo(ForkJoinPool.getCommonPoolParallelism() + 1);
    }

    @Spec("5.5")
    @Test
    void virtualThreadsShareFewTablesAndLoseNothing() throws Exception {
        VirtualThreadStarter starter = VirtualThreadStarter.orSkip();
        int threads = 10_000;
        int perThread = 20;
        long count = 0;
        long elements = 0;
        List<FutureTask<Integer>> tasks = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            FutureTask<Integer> task = new FutureTask<>(() -> {
                for (int n = 1; n <= perThread; n++) {
                    addSample(0, n);
                }
                assertThat(registry.defer(1, 0, 1)).isTrue();
                return 0;
            });
            tasks.add(task);
            starter.start(task);
            if (i % 500 == 0) {
                StatSums part = registry.readAndReset();
                checkTogether(part.row(0));
                count += part.row(0).count();
                elements += part.row(0).elements();
            }
        }
        for (FutureTask<Integer> task : tasks) {
            assertThat(Crew.result(task)).isZero();
        }

        StatSums sums = registry.readAndReset();
        count += sums.row(0).count();
        elements += sums.row(0).elements();
        assertThat(count).isEqualTo((long) threads * perThread);
        assertThat(elements).isEqualTo(threads * (perThread * (perThread + 1L) / 2));
        assertThat(sums.threads()).isZero();
        assertThat(registry.tableCount())
                .isLessThanOrEqualTo(2 * Runtime.getRuntime().availableProcessors() + 8);
        assertThat(registry.pendingCount()).isEqualTo(threads);

        new PendingResolver(registry, false).resolve(0, 5);
        assertThat(registry.read().row(1).count()).isEqualTo(threads);
        assertThat(registry.read().virtualThreads())
                .as("resolved by this thread, which is not virtual")
                .isFalse();
    }

    @Test
    void aVirtualThreadIsMentionedAndNotCounted() throws Exception {
        VirtualThreadStarter starter = VirtualThreadStarter.orSkip();
        FutureTask<StatTable> task = new FutureTask<>(() -> {
            addSample(0, 1);
            StatTable table = registry.acquire();
            registry.release(table);
            return table;
        });
        starter.start(task);

        assertThat(Crew.result(task).owner()).isNull();
        assertThat(registry.read().virtualThreads()).isTrue();
        assertThat(registry.read().threads()).isZero();
        assertThat(registry.tableCount()).isEqualTo(1);
    }
}
