package org.brickprofiler.internal.mark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.testing.Crew;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class MarkPoolTest {

    private final List<String> made = new ArrayList<>();

    private MarkPool pool(int first, int bound) {
        return new MarkPool(first, bound, (from, to) -> {
            made.add(from + "-" + to);
            return to;
        });
    }

    private static List<Integer> takeAll(MarkPool pool) {
        List<Integer> taken = new ArrayList<>();
        for (int number = pool.take(); number != DeviceStream.NO_MARK; number = pool.take()) {
            taken.add(number);
        }
        return taken;
    }

    @Test
    void theFirstNumbersAreMadeBeforeTheyAreNeeded() {
        MarkPool pool = pool(3, 10);
        assertThat(made).containsExactly("0-3");
        assertThat(pool.made()).isEqualTo(3);
        assertThat(pool.free()).isEqualTo(3);
        assertThat(pool.bound()).isEqualTo(10);
    }

    @Test
    void itGrowsByChunksUpToTheBound() {
        MarkPool pool = pool(5, 1_500);
        assertThat(takeAll(pool)).doesNotHaveDuplicates().hasSize(1_500).allMatch(number -> number < 1_500);
        assertThat(made).containsExactly("0-5", "5-1029", "1029-1500");
        assertThat(pool.free()).isZero();
    }

    @Test
    void whatIsGivenBackIsTakenAgain() {
        MarkPool pool = pool(2, 2);
        takeAll(pool);
        pool.give(1);
        assertThat(pool.free()).isEqualTo(1);
        assertThat(takeAll(pool)).containsExactly(1);
        pool.give(1);
        pool.give(0);
        assertThat(takeAll(pool)).containsExactly(0, 1);
    }

    @Test
    void whereNoMoreCanBeMadeItStaysAsItIs() {
        int[] calls = {0};
        MarkPool pool = new MarkPool(4, 100, (from, to) -> {
            calls[0]++;
            return Math.min(to, 10);
        });
        assertThat(takeAll(pool)).hasSize(10);
        takeAll(pool);
        assertThat(calls[0]).isEqualTo(2);
    }

    @Test
    void aPoolThatCouldNotGrowTriesOnceForEachTryAgainIfANumberWasMissing() {
        int[] calls = {0};
        int[] most = {10};
        MarkPool pool = new MarkPool(4, 2_000, (from, to) -> {
            calls[0]++;
            return Math.min(to, most[0]);
        });
        assertThat(takeAll(pool)).hasSize(10);
        assertThat(pool.bound()).isEqualTo(2_000);

        pool.tryAgain();
        pool.tryAgain();
        takeAll(pool);
        takeAll(pool);
        assertThat(calls[0]).isEqualTo(3);

        most[0] = 5_000;
        takeAll(pool);
        assertThat(calls[0]).isEqualTo(3);
        pool.tryAgain();
        pool.take();
        assertThat(calls[0]).isEqualTo(4);
        assertThat(pool.free()).isEqualTo(1_023);
        pool.tryAgain();
        assertThat(calls[0]).isEqualTo(4);
        assertThat(takeAll(pool)).doesNotHaveDuplicates().hasSize(1_989);
    }

    @Test
    void aPoolThatCouldNotMakeItsFirstNumbersGetsThemLater() {
        int[] most = {1};
        MarkPool pool = new MarkPool(8, 100, (from, to) -> Math.min(to, most[0]));
        assertThat(takeAll(pool)).containsExactly(0);

        most[0] = 100;
        assertThat(pool.take()).isEqualTo(DeviceStream.NO_MARK);
        pool.tryAgain();
        assertThat(takeAll(pool)).hasSize(99);
    }

    @Test
    void aPoolThatNobodyMissedANumberOfIsLeftAlone() {
        int[] calls = {0};
        MarkPool pool = new MarkPool(8, 100, (from, to) -> {
            calls[0]++;
            return 4;
        });
        pool.give(pool.take());
        pool.tryAgain();
        assertThat(calls[0]).isOne();
    }

    @Test
    void aPoolMayBeEmptyFromTheBeginning() {
        MarkPool pool = new MarkPool(4, 100, (from, to) -> from);
        assertThat(pool.take()).isEqualTo(DeviceStream.NO_MARK);
        assertThat(pool.made()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"1, 0", "1, -1", "1, 1048576", "0, 5", "6, 5", "-1, 5"})
    void badSizesAreRefused(int first, int bound) {
        int bad = bound >= 1 && bound <= MarkPool.MAX_BOUND ? first : bound;
        assertThatThrownBy(() -> pool(first, bound))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(String.valueOf(bad));
    }

    @Test
    void numbersThatAreInUseAreReleasedTogetherAndOnceEach() {
        MarkPool pool = new MarkPool(8, 8, (from, to) -> to);
        int[] taken = takeAll(pool).stream().mapToInt(Integer::intValue).toArray();
        for (int number : taken) {
            if (number != 3) {
                pool.set(number);
            }
        }
        pool.release(new int[0], 0);
        assertThat(pool.free()).isZero();
        // One number twice, one that is not marked as in use, and one behind the count.
        pool.release(new int[] {5, 2, 5, 3, 7, 1}, 5);
        assertThat(pool.free()).isEqualTo(3);
        pool.release(new int[] {2, 7}, 2);
        assertThat(takeAll(pool)).containsExactlyInAnyOrder(2, 5, 7);
    }

    @Test
    void threadsReleaseNumbersTogetherWhileOthersTakeThem() throws Exception {
        int bound = 64;
        MarkPool pool = new MarkPool(1, bound, (from, to) -> to);
        AtomicIntegerArray holders = new AtomicIntegerArray(bound);
        Crew crew = new Crew();
        for (int thread = 0; thread < 4; thread++) {
            crew.run(() -> {
                int[] numbers = new int[5];
                for (int i = 0; i < 20_000; i++) {
                    for (int at = 0; at < numbers.length; at++) {
                        numbers[at] = pool.take();
                        assertThat(holders.incrementAndGet(numbers[at])).isEqualTo(1);
                        pool.set(numbers[at]);
                    }
                    for (int number : numbers) {
                        holders.decrementAndGet(number);
                    }
                    pool.release(numbers, numbers.length);
                }
            });
        }
        crew.join();
        assertThat(pool.free()).isEqualTo(pool.made());
        assertThat(takeAll(pool)).hasSize(bound).doesNotHaveDuplicates();
    }

    @Test
    void threadsNeverHoldTheSameNumber() throws Exception {
        int bound = 40;
        MarkPool pool = new MarkPool(1, bound, (from, to) -> to);
        AtomicIntegerArray holders = new AtomicIntegerArray(bound);
        Crew crew = new Crew();
        for (int thread = 0; thread < 4; thread++) {
            crew.run(() -> {
                for (int i = 0; i < 50_000; i++) {
                    int one = pool.take();
                    int two = pool.take();
                    assertThat(holders.incrementAndGet(one)).isEqualTo(1);
                    assertThat(holders.incrementAndGet(two)).isEqualTo(1);
                    holders.decrementAndGet(one);
                    pool.give(one);
                    holders.decrementAndGet(two);
                    pool.give(two);
                }
            });
        }
        crew.join();
        assertThat(pool.free()).isEqualTo(pool.made());
        assertThat(takeAll(pool)).hasSize(bound).doesNotHaveDuplicates();
    }
}
