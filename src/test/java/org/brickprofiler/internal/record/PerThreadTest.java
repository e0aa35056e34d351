package org.brickprofiler.internal.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.brickprofiler.testing.AllocatedBytes;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.VirtualThreadStarter;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

class PerThreadTest {

    /** Something that knows whose it is. */
    private static final class Own extends PerThread.Owned {
        Own(@Nullable Thread owner) {
            super(owner);
        }
    }

    private final PerThread<Own, @Nullable Void> things = new PerThread<>(Own::new, null, false);

    @Test
    void eachThreadHasItsOwnAndFindsItAgain() throws Exception {
        assertThat(things.mineOrNull()).isNull();
        Own mine = things.mine();
        Own other = Crew.onNewThread(() -> {
            Own made = things.mine();
            assertThat(things.mine()).isSameAs(made);
            return made;
        });

        assertThat(things.mine()).isSameAs(mine).isNotSameAs(other);
        assertThat(things.mineOrNull()).isSameAs(mine);
        assertThat(mine.owner()).isSameAs(Thread.currentThread());
    }

    static boolean hasCommonPool() {
        return ForkJoinPool.getCommonPoolParallelism() > 0;
    }

    /** The common pool clears the thread-locals of its workers whenever they run out of work. */
    @Test
    @EnabledIf("hasCommonPool")
    void aWorkerOfTheCommonPoolKeepsItsOwn() throws Exception {
        Set<Thread> workers = new HashSet<>();
        Set<Own> found = new HashSet<>();
        for (int i = 0; i < 200; i++) {
            CountDownLatch done = new CountDownLatch(1);
            ForkJoinPool.commonPool().execute(() -> {
                workers.add(Thread.currentThread());
                found.add(things.mine());
                done.countDown();
            });
            done.await();
        }

        assertThat(found).hasSameSizeAs(workers);
    }

    @Test
    void endedThreadsAreLetGo() throws Exception {
        Own mine = things.mine();
        for (int i = 0; i < 500; i++) {
            Crew.runOnNewThread(things::mine);
        }
        assertThat(things.count()).as("swept while they came").isLessThan(50);
        things.sweep();

        assertThat(things.count()).isEqualTo(1);
        assertThat(things.mine()).isSameAs(mine);
    }

    @Test
    void manyThreadsAtOnceFindTheirOwn() throws Exception {
        int threads = 100;
        CountDownLatch all = new CountDownLatch(threads);
        Crew crew = new Crew();
        for (int i = 0; i < threads; i++) {
            crew.run(() -> {
                Own mine = things.mine();
                all.countDown();
                all.await();
                for (int turn = 0; turn < 1_000; turn++) {
                    assertThat(things.mine() == mine).isTrue();
                }
            });
        }
        crew.join();
    }

    @Test
    void aThreadWhoseIdChangesFindsItsOwn() throws Exception {
        AtomicLong ids = new AtomicLong(1_000);
        List<Own> found = new ArrayList<>();
        Thread odd = new Thread(() -> Stream.generate(things::mine).limit(20).forEach(found::add)) {
            @Override
            public long getId() {
                return ids.incrementAndGet();
            }
        };
        odd.start();
        odd.join();

        assertThat(new HashSet<>(found)).hasSize(1);
    }

    @Test
    void virtualThreadsHaveTheirOwnAndLeaveNothing() throws Exception {
        VirtualThreadStarter starter = VirtualThreadStarter.orSkip();
        Set<Own> found = new HashSet<>();
        for (int i = 0; i < 50; i++) {
            starter.start(() -> {
                        Own made = things.mine();
                        assertThat(things.mine()).isSameAs(made);
                        found.add(made);
                    })
                    .join();
        }

        assertThat(found).hasSize(50);
        assertThat(things.count()).isZero();
    }

    @Test
    void findingAllocatesNothing() {
        things.mine();
        long bytes = AllocatedBytes.of(() -> {
            for (int i = 0; i < 10_000; i++) {
                things.mine();
            }
        });

        assertThat(bytes).isZero();
    }
}
