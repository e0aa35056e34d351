package org.brickprofiler.internal.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.brickprofiler.testing.Crew;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SpanBufferTest {

    private static final long PLENTY = 1 << 20;

    private static SpanBuffer buffer(int capacity, boolean keepsNewest) {
        return new SpanStore(capacity, keepsNewest, new AtomicLong(PLENTY)).newBuffer(Thread.currentThread());
    }

    private static void add(SpanBuffer buffer, long from, long count) {
        for (long i = from; i < from + count; i++) {
            buffer.add(SpanKind.SPAN, (int) (i % 4_000), i, 2 * i, 3 * i);
        }
    }

    private static void assertHolds(SpanCopy copy, long from, long count) {
        assertThat(copy.size()).isEqualTo((int) count);
        for (int i = 0; i < count; i++) {
            long expected = from + i;
            assertThat(copy.startNs(i)).isEqualTo(expected);
            assertThat(copy.endNs(i)).isEqualTo(3 * expected);
            assertThat(copy.value(i)).isEqualTo(3 * expected);
            assertThat(copy.key(i)).isEqualTo((int) (expected % 4_000));
        }
    }

    @Test
    void anEntryComesBackAsItWentIn() {
        SpanBuffer buffer = buffer(SpanKind.values().length, true);
        for (SpanKind kind : SpanKind.values()) {
            buffer.add(kind, TimerToken.MAX_KEY, Long.MIN_VALUE, SpanBuffer.MAX_SHORT_NS, -1);
        }

        SpanCopy copy = buffer.copy();

        assertThat(copy.size()).isEqualTo(SpanKind.values().length);
        for (SpanKind kind : SpanKind.values()) {
            int entry = kind.index();
            assertThat(copy.kind(entry)).isEqualTo(kind);
            assertThat(copy.key(entry)).isEqualTo(TimerToken.MAX_KEY);
            assertThat(copy.startNs(entry)).isEqualTo(Long.MIN_VALUE);
            assertThat(copy.endNs(entry)).isEqualTo(Long.MIN_VALUE + SpanBuffer.MAX_SHORT_NS);
            assertThat(copy.value(entry)).isEqualTo(-1);
        }
        assertThat(copy.threadId()).isEqualTo(Thread.currentThread().getId());
        assertThat(copy.threadName()).isEqualTo(Thread.currentThread().getName());
    }

    /** Durations and values around each limit; entries are read one by one, and as those after a moment. */
    @ParameterizedTest
    @ValueSource(longs = {0, -1, 1, 4_711, (1L << 45) - 1, -(1L << 45)})
    void aDurationOfAnyLengthComesBackBesideAUsualValue(long value) {
        long[] durations = {
            0, 1, SpanBuffer.MAX_SHORT_NS, SpanBuffer.MAX_SHORT_NS + 1, 1_400_000_000_000_000L, Long.MAX_VALUE
        };
        SpanBuffer buffer = buffer(durations.length, true);
        for (long elapsedNs : durations) {
            assertThat(buffer.add(SpanKind.DEVICE_SAMPLE, 4_000, 0, elapsedNs, value))
                    .isTrue();
        }

        for (SpanCopy copy : List.of(buffer.copy(), buffer.copyAfter(0))) {
            assertThat(copy.size()).isEqualTo(durations.length);
            for (int entry = 0; entry < durations.length; entry++) {
                assertThat(copy.endNs(entry)).isEqualTo(durations[entry]);
                assertThat(copy.value(entry)).isEqualTo(value);
                assertThat(copy.kind(entry)).isEqualTo(SpanKind.DEVICE_SAMPLE);
                assertThat(copy.key(entry)).isEqualTo(4_000);
            }
            assertThat(copy.dropped()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1L << 45, -(1L << 45) - 1, Long.MAX_VALUE})
    void anEntryWhoseDurationAndValueAreTooLargeIsRefusedAndCounted(long value) {
        SpanBuffer buffer = buffer(2, true);

        assertThat(buffer.add(SpanKind.SPAN, 5, 0, SpanBuffer.MAX_SHORT_NS, value))
                .isTrue();
        assertThat(buffer.add(SpanKind.SPAN, 5, 0, SpanBuffer.MAX_SHORT_NS + 1, value))
                .isFalse();
        assertThat(buffer.copy().size()).isOne();
        assertThat(buffer.copy().value(0)).isEqualTo(value);
        assertThat(buffer.copy().dropped()).isOne();
    }

    @Test
    void theNewestAreKeptAndTheOthersCounted() {
        SpanBuffer buffer = buffer(1_000, true);

        add(buffer, 0, 1_000);
        assertHolds(buffer.copy(), 0, 1_000);
        assertThat(buffer.copy().dropped()).isZero();

        add(buffer, 1_000, 2_345);
        assertHolds(buffer.copy(), 2_345, 1_000);
        assertThat(buffer.copy().dropped()).isEqualTo(2_345);
    }

    @Test
    void theFirstAreKeptAndTheOthersCounted() {
        SpanBuffer buffer = buffer(1_000, false);

        add(buffer, 0, 3_000);

        assertHolds(buffer.copy(), 0, 1_000);
        assertThat(buffer.copy().dropped()).isEqualTo(2_000);
    }

    @Property(tries = 300)
    void whateverIsWrittenAndForgottenTheRightEntriesAreThere(
            @ForAll @IntRange(min = 1, max = 600) int capacity,
            @ForAll boolean keepsNewest,
            @ForAll @Size(max = 6) List<@IntRange(max = 900) Integer> batches) {
        SpanStore store = new SpanStore(capacity, keepsNewest, new AtomicLong(PLENTY));
        SpanBuffer buffer = store.newBuffer(Thread.currentThread());
        long written = 0;
        for (int batch : batches) {
            store.clear();
            add(buffer, written, batch);

            SpanCopy copy = buffer.copy();

            int kept = Math.min(capacity, batch);
            assertThat(copy.dropped()).isEqualTo(batch - kept);
            assertThat(copy.size()).isEqualTo(kept);
            long first = keepsNewest ? written + batch - kept : written;
            for (int i = 0; i < kept; i++) {
                assertThat(copy.startNs(i)).isEqualTo(first + i);
            }
            written += batch;
        }
    }

    @Test
    void aCopyMadeWhileTheRingIsOverwrittenHoldsWholeEntriesInOrder() throws Exception {
        SpanStore store = new SpanStore(300, true, new AtomicLong(PLENTY));
        AtomicBoolean done = new AtomicBoolean();
        Crew crew = new Crew();
        crew.run(() -> {
            SpanBuffer buffer = store.newBuffer(Thread.currentThread());
            for (long i = 0; !done.get(); i++) {
                buffer.add(SpanKind.SPAN, (int) (i % 4_000), i, 2 * i, 3 * i);
            }
        });
        boolean full = false;
        for (int i = 0; i < 20_000 || !full; i++) {
            for (SpanCopy copy : store.copies()) {
                if (copy.size() > 0) {
                    assertHolds(copy, copy.startNs(0), copy.size());
                }
                full |= copy.size() == 300;
            }
        }
        done.set(true);
        crew.join();

        assertThat(store.copies().get(0).size()).isEqualTo(300);
    }

    @Test
    void aBufferDoesNotGrowOnceTheCommonBudgetIsSpent() {
        SpanStore store = new SpanStore(1_000, true, new AtomicLong(300));
        SpanBuffer first = store.newBuffer(Thread.currentThread());
        SpanBuffer second = store.newBuffer(Thread.currentThread());
        add(first, 0, 1_000);
        add(second, 0, 5);

        assertHolds(first.copy(), 1_000 - 299, 299);
        assertThat(first.copy().dropped()).isEqualTo(701);
        assertThat(second.copy().size()).isZero();
        assertThat(second.copy().dropped()).isEqualTo(5);
    }

    @Test
    void whatAnEndedThreadWroteStaysUntilItIsForgottenAndItsRoomComesBack() throws Exception {
        AtomicLong budget = new AtomicLong(PLENTY);
        SpanStore store = new SpanStore(1_000, true, budget);
        Crew.runOnNewThread(() -> add(store.newBuffer(Thread.currentThread()), 0, 700));

        assertHolds(store.copies().get(0), 0, 700);
        assertThat(budget).hasValue(PLENTY - 1_001);

        store.clear();
        assertThat(store.copies()).isEmpty();
        assertThat(budget).hasValue(PLENTY);
    }

    @Test
    void theEntriesThatAreKeptAreCountedWithoutACopy() {
        SpanStore store = new SpanStore(300, true, new AtomicLong(PLENTY));
        assertThat(store.contents().entryCount()).isZero();
        SpanBuffer first = store.newBuffer(Thread.currentThread());
        SpanBuffer second = store.newBuffer(null);
        assertThat(store.contents().entryCount()).isZero();
        add(first, 0, 5);
        assertThat(store.contents().entryCount()).isEqualTo(5);
        add(first, 5, 300);
        add(second, 0, 7);
        assertThat(store.contents().entryCount()).isEqualTo(307);

        store.clear();
        add(first, 0, 3);
        assertThat(store.contents().entryCount()).isEqualTo(3);
    }

    @Test
    void whatIsLeftOfWritersThatAreGoneTakesNoMoreRoomThanItsEntries() {
        AtomicLong budget = new AtomicLong(256 + 601);
        SpanStore store = new SpanStore(600, true, budget);
        SpanBuffer used = store.newBuffer(Thread.currentThread());
        SpanBuffer overfull = store.newBuffer(null);
        SpanBuffer refused = store.newBuffer(null);
        add(used, 0, 20);
        add(overfull, 0, 2_000);
        add(refused, 0, 4);

        SpanContents contents = store.contents();
        long lostWithoutTrace = contents.end();

        assertThat(lostWithoutTrace).as("of the buffer that found no room").isEqualTo(4);
        assertThat(contents.copies()).hasSize(2);
        assertHolds(contents.copies().get(0), 0, 20);
        assertHolds(contents.copies().get(1), 1_400, 600);
        assertThat(contents.copies().get(1).dropped()).isEqualTo(1_400);
        assertThat(contents.entryCount()).isEqualTo(620);
        assertThat(budget).hasValue(256 + 601 - 620);

        contents.clear();
        assertThat(contents.copies()).isEmpty();
        assertThat(contents.entryCount()).isZero();
        assertThat(budget).hasValue(256 + 601);
    }

    @Test
    void whatALiveThreadWroteIsForgottenAndItGoesOn() {
        SpanStore store = new SpanStore(10, false, new AtomicLong(PLENTY));
        SpanBuffer buffer = store.newBuffer(Thread.currentThread());
        add(buffer, 0, 25);
        assertThat(buffer.copy().dropped()).isEqualTo(15);

        store.clear();
        assertThat(buffer.copy().size()).isZero();
        assertThat(buffer.copy().dropped()).isZero();

        add(buffer, 100, 12);
        assertHolds(buffer.copy(), 100, 10);
        assertThat(buffer.copy().dropped()).isEqualTo(2);
    }

    @Property(tries = 100)
    void theThreadsOfASharedBufferAreKnownByEntry(
            @ForAll @IntRange(min = 1, max = 600) int capacity, @ForAll @IntRange(min = 1, max = 2_000) int count) {
        SpanBuffer buffer = new SpanStore(capacity, true, new AtomicLong(PLENTY)).newBuffer(null);
        for (int i = 0; i < count; i++) {
            buffer.addBy(1_000 + i, SpanKind.SPAN, 0, i, 0, 0);
        }

        for (SpanCopy copy : List.of(buffer.copy(), buffer.copyAfter(count - 5))) {
            SpanCopy even = copy.select(entry -> entry % 2 == 0);
            for (int i = 0; i < copy.size(); i++) {
                assertThat(copy.writer(i)).isEqualTo(1_000 + copy.startNs(i));
                assertThat(even.writer(i / 2)).isEqualTo(copy.writer(i - i % 2));
            }
            assertThat(copy.size()).isPositive();
            assertThat(copy.threadId()).isNegative();
        }
    }

    @Test
    void theThreadOfAnEntryIsTheOwnerOfItsBuffer() {
        SpanBuffer own = buffer(10, true);
        SpanBuffer ofDevice = new SpanStore(10, true, new AtomicLong(PLENTY)).newBuffer(null);
        add(own, 0, 1);
        add(ofDevice, 0, 1);

        assertThat(own.copy().writer(0)).isEqualTo(Thread.currentThread().getId());
        assertThat(ofDevice.copy().writer(0)).as("no thread").isNegative();
    }

    @Test
    void aRefusedEntryLeavesTheThreadsOfOthers() {
        SpanBuffer buffer = new SpanStore(1, false, new AtomicLong(PLENTY)).newBuffer(null);
        buffer.addBy(71, SpanKind.SPAN, 0, 1, 0, 0);
        buffer.addBy(72, SpanKind.SPAN, 0, 2, 0, 0);
        buffer.addBy(73, SpanKind.SPAN, 0, 3, SpanBuffer.MAX_SHORT_NS + 1, Long.MAX_VALUE);

        assertThat(buffer.copy().size()).isOne();
        assertThat(buffer.copy().writer(0)).isEqualTo(71);
        assertThat(buffer.copy().dropped()).isEqualTo(2);
    }

    @Test
    void sharedBuffersHaveNamesAndIdsOfTheirOwn() {
        SpanStore store = new SpanStore(10, false, new AtomicLong(PLENTY));
        List<SpanBuffer> shared = new ArrayList<>();
        shared.add(store.newBuffer(null));
        shared.add(store.newBuffer(null));

        assertThat(store.copies())
                .extracting(SpanCopy::threadName)
                .containsExactly("virtual threads 1", "virtual threads 2");
        assertThat(store.copies()).extracting(SpanCopy::threadId).containsExactly(-1L, -2L);
        assertThat(shared).noneMatch(SpanBuffer::isAbandoned);
    }
}
