package org.brickprofiler.checksum;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.brickprofiler.testing.Crew;
import org.junit.jupiter.api.Test;

final class ChecksumLogThreadsTest {

    private static final int THREADS = 4;
    private static final int RECORDS = 20_000;

    @Test
    void noEntryIsLostAndEachThreadsOrderStays() throws Exception {
        ChecksumLog log = new ChecksumLog(ChecksumOptions.DEFAULT.withSamples(1));
        AtomicBoolean done = new AtomicBoolean();
        Crew readers = new Crew().run(() -> {
            List<ChecksumEntry> seen = new ArrayList<>();
            while (!done.get()) {
                List<ChecksumEntry> now = log.list();
                int known = seen.size();
                assertThat(now.subList(0, known).equals(seen)).isTrue();
                now.subList(known, now.size()).forEach(entry -> assertWhole(entry));
                seen = List.copyOf(now);
            }
        });
        Crew writers = new Crew();
        IntStream.range(0, THREADS)
                .forEach(thread -> writers.run(() -> {
                    for (int i = 0; i < RECORDS; i++) {
                        log.record("thread " + thread, thread, i, new float[] {i});
                    }
                }));
        writers.join();
        done.set(true);
        readers.join();

        List<ChecksumEntry> entries = log.list();
        assertThat(entries).hasSize(THREADS * RECORDS);
        for (int thread = 0; thread < THREADS; thread++) {
            int layer = thread;
            assertThat(entries.stream()
                            .filter(entry -> entry.layer() == layer)
                            .mapToInt(ChecksumEntry::position)
                            .toArray())
                    .isEqualTo(IntStream.range(0, RECORDS).toArray());
        }
    }

    private static void assertWhole(ChecksumEntry entry) {
        float[] output = {entry.position()};
        if (entry.hash() != Logs.hash(output, 1)
                || entry.samples().get(0) != output[0]
                || !entry.name().equals("thread " + entry.layer())) {
            throw new AssertionError("torn: " + entry);
        }
    }

    @Test
    void entriesBeyondTheCapacityAreCountedExactly() throws Exception {
        ChecksumLog log = new ChecksumLog(ChecksumOptions.DEFAULT.withCapacity(5000));
        Crew writers = new Crew();
        IntStream.range(0, THREADS)
                .forEach(thread -> writers.run(() -> {
                    for (int i = 0; i < RECORDS; i++) {
                        log.record("a", thread, i, new float[1]);
                    }
                }));
        writers.join();

        assertThat(log.list()).hasSize(5000);
        assertThat(log.droppedCount()).isEqualTo(THREADS * RECORDS - 5000L);
    }
}
