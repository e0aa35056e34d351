package org.brickprofiler.tile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.FutureTask;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class TileProfilerTest {

    private final FakeClock clock = new FakeClock(500);
    private final TileProfiler tiles = new TileProfiler(clock);

    TileProfilerTest() {
        tiles.enable();
    }

    private void tile(TileLevel level, int row, int col, long ns) {
        long timer = tiles.start(level, row, col);
        clock.advance(ns);
        tiles.stop(timer, 10, 40);
    }

    private void requireNothingRecorded() {
        assertThat(tiles.all())
                .containsExactly(
                        TileStats.empty(TileLevel.MACRO),
                        TileStats.empty(TileLevel.MIDI),
                        TileStats.empty(TileLevel.MICRO));
    }

    // ---- the switch ----

    @Test
    void isOffAtFirst() {
        TileProfiler off = new TileProfiler(clock);
        assertThat(off.isEnabled()).isFalse();
        off.enable();
        assertThat(off.isEnabled()).isTrue();
        off.disable();
        assertThat(off.isEnabled()).isFalse();
    }

    @Spec("7.1")
    @Test
    void isANoOpWhileOff() {
        tiles.disable();
        long reads = clock.reads();
        assertThat(tiles.start(TileLevel.MACRO, 0, 0)).isZero();
        tiles.stop(0, 1, 1);
        tiles.record(TileLevel.MACRO, 0, 0, 1, 1, 1);

        assertThat(clock.reads()).isEqualTo(reads);
        requireNothingRecorded();
    }

    @Test
    void aTimerAcrossTheSwitchRecordsNothing() {
        long on = tiles.start(TileLevel.MACRO, 0, 0);
        tiles.disable();
        tiles.stop(on, 1, 1);
        long off = tiles.start(TileLevel.MACRO, 0, 0);
        tiles.enable();
        tiles.stop(off, 1, 1);

        requireNothingRecorded();
    }

    // ---- timing ----

    @Spec("7.1")
    @Test
    void timesTilesByLevel() {
        tile(TileLevel.MACRO, 0, 0, 300);
        tile(TileLevel.MIDI, 1, 2, 200);
        tile(TileLevel.MIDI, 3, 4, 700);
        tile(TileLevel.MIDI, 5, 6, 100);

        assertThat(tiles.stats(TileLevel.MACRO))
                .isEqualTo(TileStats.builder(TileLevel.MACRO)
                        .samples(1, 300, 300, 300)
                        .work(10, 40)
                        .slowest(0, 0)
                        .build());
        assertThat(tiles.stats(TileLevel.MIDI))
                .isEqualTo(TileStats.builder(TileLevel.MIDI)
                        .samples(3, 1_000, 100, 700)
                        .work(30, 120)
                        .slowest(3, 4)
                        .build());
        assertThat(tiles.stats(TileLevel.MICRO)).isEqualTo(TileStats.empty(TileLevel.MICRO));
        assertThat(tiles.all())
                .containsExactly(
                        tiles.stats(TileLevel.MACRO), tiles.stats(TileLevel.MIDI), tiles.stats(TileLevel.MICRO));
    }

    @Spec("7.2")
    @Test
    void recordsTilesTimedElsewhere() {
        tiles.record(TileLevel.MICRO, 100_000, Integer.MAX_VALUE, 60_000_000_000L, 5, 7);

        assertThat(tiles.stats(TileLevel.MICRO))
                .isEqualTo(TileStats.builder(TileLevel.MICRO)
                        .samples(1, 60_000_000_000L, 60_000_000_000L, 60_000_000_000L)
                        .work(5, 7)
                        .slowest(100_000, Integer.MAX_VALUE)
                        .build());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, -77_000_000_000L, (1L << 36) - 5, Long.MAX_VALUE - 3, Long.MIN_VALUE})
    void theOriginOfTheClockDoesNotMatter(long originNs) {
        clock.set(originNs);
        tile(TileLevel.MICRO, 8_191, 8_191, 33_000_000_000L);
        tile(TileLevel.MACRO, 0, 0, 1);

        assertThat(tiles.stats(TileLevel.MICRO).totalNs()).isEqualTo(33_000_000_000L);
        assertThat(tiles.stats(TileLevel.MICRO).slowestRow()).isEqualTo(8_191);
        assertThat(tiles.stats(TileLevel.MICRO).slowestCol()).isEqualTo(8_191);
        assertThat(tiles.stats(TileLevel.MACRO).totalNs()).isEqualTo(1);
    }

    @Spec("7.2")
    @Test
    void aTimerTellsRowsAndColumnsUpToALargestOne() {
        tile(TileLevel.MACRO, 1_000_000, 8_192, 5);

        assertThat(tiles.stats(TileLevel.MACRO).slowestRow()).isEqualTo(TileProfiler.LARGEST_TIMED_INDEX);
        assertThat(tiles.stats(TileLevel.MACRO).slowestCol()).isEqualTo(TileProfiler.LARGEST_TIMED_INDEX);
    }

    @Test
    void aTileOfZeroNsIsASample() {
        tile(TileLevel.MACRO, 2, 3, 0);

        assertThat(tiles.stats(TileLevel.MACRO))
                .isEqualTo(TileStats.builder(TileLevel.MACRO)
                        .samples(1, 0, 0, 0)
                        .work(10, 40)
                        .slowest(2, 3)
                        .build());
    }

    @Test
    void aClockThatRanBackwardsCountsAsZero() {
        tile(TileLevel.MACRO, 2, 3, -400);

        assertThat(tiles.stats(TileLevel.MACRO).count()).isEqualTo(1);
        assertThat(tiles.stats(TileLevel.MACRO).totalNs()).isZero();
    }

    @Spec("7.2")
    @ParameterizedTest
    @CsvSource({
        "0, 0, 3600000000000",
        "63, 63, 3600000000000",
        "63, 0, 17592186044416",
        "5, 7, 34000000000",
        "5, 7, 40000000000",
        "64, 0, 33000000000",
        "0, 64, 33000000000",
        "8191, 8191, 33000000000"
    })
    void aTimerHoldsItsTime(int row, int col, long ns) {
        tile(TileLevel.MIDI, row, col, ns);

        assertThat(tiles.stats(TileLevel.MIDI))
                .isEqualTo(TileStats.builder(TileLevel.MIDI)
                        .samples(1, ns, ns, ns)
                        .work(10, 40)
                        .slowest(row, col)
                        .build());
    }

    @Spec("7.2")
    @ParameterizedTest
    @CsvSource({
        "64, 0, 34000000000",
        "0, 100, 33500000000",
        "8191, 8191, 34000000000",
        "63, 63, 17592186044417",
        "0, 0, 35000000000000",
        "7, 100, -2000000"
    })
    void aLongerTimeIsUnresolvedAndCounted(int row, int col, long ns) {
        tiles.recordPlaces(128, 128);
        tile(TileLevel.MICRO, row, col, ns);
        tile(TileLevel.MICRO, row, col, 5);

        TileStats stats = tiles.stats(TileLevel.MICRO);
        assertThat(stats.unresolved()).isEqualTo(1);
        assertThat(stats.count()).isEqualTo(1);
        assertThat(stats.totalNs()).isEqualTo(5);
        assertThat(tiles.places())
                .singleElement()
                .satisfies(place -> assertThat(place.stats().unresolved()).isEqualTo(1));
        assertThat(tiles.summary()).contains("micro 1 tiles are unresolved");
        assertThat(tiles.toJson()).contains(",\"unresolved\":1}");
        assertThat(tiles.snapshotAndReset().levels().get(2)).isEqualTo(stats);
        assertThat(tiles.all()).allMatch(level -> level.unresolved() == 0);
        assertThat(tiles.places()).isEmpty();
    }

    @Test
    void aTimerIsAValue() {
        long timer = tiles.start(TileLevel.MACRO, 0, 0);
        clock.advance(5);
        tiles.stop(timer, 1, 1);
        tiles.stop(timer, 1, 1);

        assertThat(tiles.stats(TileLevel.MACRO).count()).isEqualTo(2);
    }

    @Test
    void garbageAsATimerCorruptsNothing() {
        Random random = new Random(42);
        for (int i = 0; i < 10_000; i++) {
            tiles.stop(random.nextLong(), 1, 1);
        }
        tiles.stop(Long.MIN_VALUE, 1, 1);

        assertThat(tiles.all()).allSatisfy(stats -> {
            assertThat(stats.totalElements()).isEqualTo(stats.count());
            assertThat(stats.minNs()).isNotNegative();
        });
        tiles.reset();
        tile(TileLevel.MIDI, 1, 2, 3);
        assertThat(tiles.stats(TileLevel.MIDI).totalNs()).isEqualTo(3);
    }

    @Test
    void refusesNegativeNumbers() {
        long timer = tiles.start(TileLevel.MACRO, 0, 0);
        refuses(() -> tiles.start(TileLevel.MACRO, -1, 0), "row -1");
        refuses(() -> tiles.start(TileLevel.MACRO, 0, -2), "col -2");
        refuses(() -> tiles.stop(timer, -3, 0), "elements -3");
        refuses(() -> tiles.stop(timer, 0, -4), "flops -4");
        refuses(() -> tiles.record(TileLevel.MACRO, -1, 0, 0, 0, 0), "row -1");
        refuses(() -> tiles.record(TileLevel.MACRO, 0, -2, 0, 0, 0), "col -2");
        refuses(() -> tiles.record(TileLevel.MACRO, 0, 0, -5, 0, 0), "elapsedNs -5");
        refuses(() -> tiles.record(TileLevel.MACRO, 0, 0, 0, -3, 0), "elements -3");
        refuses(() -> tiles.record(TileLevel.MACRO, 0, 0, 0, 0, -4), "flops -4");
    }

    private void refuses(ThrowingCallable call, String mentioned) {
        assertThatIllegalArgumentException().isThrownBy(call).withMessageContaining(mentioned);
        requireNothingRecorded();
    }

    // ---- resets ----

    @Test
    void aResetDiscardsRecordedTiles() {
        tile(TileLevel.MACRO, 0, 0, 5);
        tiles.reset();
        requireNothingRecorded();
        assertThat(tiles.isEnabled()).isTrue();
    }

    @Test
    void returnsTheRecordedTilesAndStartsAnew() {
        tile(TileLevel.MICRO, 1, 2, 5);
        assertThat(tiles.snapshotAndReset().levels())
                .containsExactly(
                        TileStats.empty(TileLevel.MACRO),
                        TileStats.empty(TileLevel.MIDI),
                        TileStats.builder(TileLevel.MICRO)
                                .samples(1, 5, 5, 5)
                                .work(10, 40)
                                .slowest(1, 2)
                                .build());
        requireNothingRecorded();
    }

    @Spec("7.1")
    @Test
    void tilesOfManyWorkersAreAllThere() throws Exception {
        int workers = 4;
        int each = 100_000;
        Crew crew = new Crew();
        List<FutureTask<Integer>> done = new ArrayList<>();
        for (int worker = 0; worker < workers; worker++) {
            int row = worker;
            done.add(crew.start(() -> {
                for (int n = 1; n <= each; n++) {
                    tiles.record(TileLevel.MICRO, row, n, 7L * n, n, 2L * n);
                }
                return row;
            }));
        }
        long count = 0;
        TileStats sum = TileStats.empty(TileLevel.MICRO);
        while (!done.stream().allMatch(FutureTask::isDone)) {
            TileStats part = tiles.snapshotAndReset().levels().get(2);
            assertThat(part.totalNs()).isEqualTo(7 * part.totalElements());
            assertThat(part.totalFlops()).isEqualTo(2 * part.totalElements());
            count += part.count();
            sum = sum.plus(part);
        }
        crew.join();
        sum = sum.plus(tiles.snapshotAndReset().levels().get(2));

        assertThat(sum.count()).isEqualTo((long) workers * each).isGreaterThanOrEqualTo(count);
        assertThat(sum.totalElements()).isEqualTo(workers * (each * (each + 1L) / 2));
        assertThat(sum.minNs()).isEqualTo(7);
        assertThat(sum.maxNs()).isEqualTo(7L * each);
        assertThat(sum.slowestCol()).isEqualTo(each);
    }

    // ---- text ----

    @Test
    void statesThatNothingWasRecorded() {
        assertThat(tiles.summary()).isEqualTo(String.format("no tiles recorded%n"));
    }

    @Test
    void summarisesTheLevelsThatWereRecorded() {
        tile(TileLevel.MIDI, 3, 4, 2_000);
        tile(TileLevel.MICRO, 5, 6, 1_000);

        assertThat(tiles.summary().lines())
                .containsExactly(
                        "midi  1 tiles, avg 2.00 us (min 2.00, max 2.00 at row 3, col 4), 0.02 GFLOP/s, 1.00 FLOP/B at 4 B an element",
                        "micro 1 tiles, avg 1.00 us (min 1.00, max 1.00 at row 5, col 6), 0.04 GFLOP/s, 1.00 FLOP/B at 4 B an element");
    }

    @Test
    void isJsonThatAParserReads() throws Exception {
        tile(TileLevel.MIDI, 3, 4, 2_000);
        JsonNode whole = new ObjectMapper().readTree(tiles.toJson());
        JsonNode json = whole.get("tiles");

        assertThat(whole.get("tile_profiling_enabled").asBoolean()).isTrue();
        assertThat(json.size()).isEqualTo(3);
        assertThat(json.get(0).get("level").asText()).isEqualTo("macro");
        assertThat(json.get(0).get("count").asLong()).isZero();
        assertThat(json.get(2).get("level").asText()).isEqualTo("micro");
        JsonNode midi = json.get(1);
        List<String> keys = new ArrayList<>();
        midi.fieldNames().forEachRemaining(keys::add);
        assertThat(keys)
                .contains(
                        "level",
                        "count",
                        "total_ns",
                        "avg_us",
                        "min_us",
                        "max_us",
                        "gflops",
                        "arithmetic_intensity",
                        "total_elements",
                        "total_flops");
        assertThat(midi.get("level").asText()).isEqualTo("midi");
        assertThat(midi.get("count").asLong()).isEqualTo(1);
        assertThat(midi.get("total_ns").asLong()).isEqualTo(2_000);
        assertThat(midi.get("avg_us").asDouble()).isEqualTo(2.0);
        assertThat(midi.get("min_us").asDouble()).isEqualTo(2.0);
        assertThat(midi.get("max_us").asDouble()).isEqualTo(2.0);
        assertThat(midi.get("gflops").asDouble()).isEqualTo(0.02);
        assertThat(midi.get("arithmetic_intensity").asDouble()).isEqualTo(1.0);
        assertThat(midi.get("total_elements").asLong()).isEqualTo(10);
        assertThat(midi.get("total_flops").asLong()).isEqualTo(40);
    }

    @Test
    void saysThatItsSwitchIsOff() throws Exception {
        tile(TileLevel.MIDI, 3, 4, 2_000);
        String on = tiles.summary();
        tiles.disable();

        assertThat(tiles.summary()).isEqualTo(on + "tile recording is off\n");
        assertThat(new TileProfiler(clock).summary()).isEqualTo("no tiles recorded\ntile recording is off\n");
        assertThat(new ObjectMapper()
                        .readTree(tiles.toJson())
                        .get("tile_profiling_enabled")
                        .asBoolean())
                .isFalse();
    }

    // ---- places ----

    @Test
    void knowsNoPlacesUnlessAsked() {
        tile(TileLevel.MACRO, 1, 2, 10);
        assertThat(tiles.places()).isEmpty();
    }

    @Spec("7.5")
    @Test
    void recordsTilesByTheirPlace() {
        tiles.recordPlaces(3, 2);
        tile(TileLevel.MACRO, 0, 0, 10);
        tile(TileLevel.MACRO, 0, 0, 30);
        tile(TileLevel.MACRO, 2, 1, 50);
        tile(TileLevel.MICRO, 2, 1, 5);
        tile(TileLevel.MICRO, 9, 9, 7);

        assertThat(tiles.places())
                .containsExactly(
                        new TileProfiler.Place(
                                0,
                                0,
                                0,
                                0,
                                TileStats.builder(TileLevel.MACRO)
                                        .samples(2, 40, 10, 30)
                                        .work(20, 80)
                                        .slowest(0, 0)
                                        .build()),
                        new TileProfiler.Place(
                                2,
                                2,
                                1,
                                1,
                                TileStats.builder(TileLevel.MACRO)
                                        .samples(1, 50, 50, 50)
                                        .work(10, 40)
                                        .slowest(2, 1)
                                        .build()),
                        new TileProfiler.Place(
                                2,
                                2,
                                1,
                                1,
                                TileStats.builder(TileLevel.MICRO)
                                        .samples(2, 12, 5, 7)
                                        .work(20, 80)
                                        .slowest(9, 9)
                                        .build()));
        assertThat(tiles.stats(TileLevel.MACRO).totalNs()).isEqualTo(90);
        tiles.reset();
        assertThat(tiles.places()).isEmpty();
    }

    /** Each index is in exactly one part, and the parts cover the grid in order. */
    @Spec("7.5")
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 31, 32, 33, 100, 1_000, Integer.MAX_VALUE})
    void dividesTheGridIntoFewParts(int rows) {
        tiles.recordPlaces(rows, 40);
        List<Integer> indices = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            indices.add((int) ((long) i * rows / 2_000));
        }
        indices.forEach(row -> tiles.record(TileLevel.MIDI, row, 39, 1, 0, 0));

        List<TileProfiler.Place> places = tiles.places();
        assertThat(places).hasSize(Math.min(rows, 32));
        assertThat(places.get(0).firstRow()).isZero();
        assertThat(places.get(places.size() - 1).lastRow()).isEqualTo(rows - 1);
        for (int i = 0; i < places.size(); i++) {
            TileProfiler.Place place = places.get(i);
            assertThat(place.stats().level()).isEqualTo(TileLevel.MIDI);
            assertThat(place.lastCol()).isEqualTo(39);
            assertThat(place.stats().count())
                    .isEqualTo(indices.stream()
                            .filter(row -> row >= place.firstRow() && row <= place.lastRow())
                            .count());
            if (i > 0) {
                assertThat(place.firstRow()).isEqualTo(places.get(i - 1).lastRow() + 1);
            }
        }
    }

    @Test
    void refusesAGridWithoutTiles() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> tiles.recordPlaces(0, 1))
                .withMessageContaining("rows 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> tiles.recordPlaces(1, -2))
                .withMessageContaining("cols -2");
    }
}
