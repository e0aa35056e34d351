package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import org.brickprofiler.internal.record.TimerToken;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.tile.TileProfiler;
import org.brickprofiler.tile.TileStats;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A tile's timer is void for bricks and a brick's is void for tiles, for every way of timing. */
final class TimersOfOtherKindsTest {

    private static final int TRIES = 20_000;
    private static final List<TileLevel> LEVELS = List.of(TileLevel.values());

    private final Random random = new Random(11);
    private final FakeClock clock = new FakeClock(1_000_000);
    private final SimulatedStream stream = new SimulatedStream("decode", clock);
    private final SimulatedStream copies = new SimulatedStream("copies", clock);

    private final BrickProfiler host = BrickProfiler.builder().clock(clock).build();
    private final BrickProfiler device = BrickProfiler.builder()
            .clock(clock)
            .deviceStream(stream)
            .deviceStream(copies)
            .build();

    @BeforeEach
    void everyKeyHasABrick() {
        for (BrickProfiler profiler : new BrickProfiler[] {host, device}) {
            profiler.enable();
            profiler.tiles().enable();
            for (int i = 0; i <= TimerToken.MAX_KEY - BrickId.FIXED_KEYS; i++) {
                profiler.brickKey("dynamic " + i);
            }
        }
    }

    private long anyTile(BrickProfiler profiler) {
        clock.set(random.nextLong());
        TileLevel level = LEVELS.get(random.nextInt(LEVELS.size()));
        int bound = random.nextBoolean() ? 40 : TileProfiler.LARGEST_TIMED_INDEX + 1;
        return profiler.tiles().start(level, random.nextInt(bound), random.nextInt(bound));
    }

    private static void requireNoBrick(BrickProfiler profiler) {
        profiler.endPass();
        assertThat(profiler.snapshot().bricks()).isEmpty();
        assertThat(profiler.pendingCount()).isZero();
    }

    private static void requireNoTile(BrickProfiler profiler) {
        assertThat(profiler.tiles().all()).allMatch(level -> level.count() == 0);
    }

    @Spec("2.5")
    @Test
    void aTilesTimerIsNoBricks() {
        for (int i = 0; i < TRIES; i++) {
            host.stopBrick(anyTile(host), 1);
        }
        requireNoBrick(host);
    }

    @ParameterizedTest
    @EnumSource(SyncMode.class)
    void aTilesTimerIsNoBricksOnADevice(SyncMode mode) {
        device.setSyncMode(mode);
        for (int i = 0; i < TRIES; i++) {
            device.stopBrick(anyTile(device), 1);
        }
        requireNoBrick(device);
    }

    @Test
    void aTilesTimerOnlyStartsTheNextLap() {
        for (int i = 0; i < TRIES; i++) {
            long timer = host.lap(anyTile(host), 1, BrickId.RMS_NORM);
            clock.advance(7);
            host.stopBrick(timer, 1);
        }
        assertThat(host.snapshot().bricks()).hasSize(1);
        assertThat(host.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(7L * TRIES);
    }

    @ParameterizedTest
    @EnumSource(SyncMode.class)
    void aTilesTimerOnlyStartsTheNextLapOnTheDefaultStream(SyncMode mode) {
        device.setSyncMode(mode);
        clock.set(1_000_000);
        for (int i = 0; i < 200; i++) {
            long tile = device.tiles().start(TileLevel.MICRO, i, random.nextInt(TileProfiler.LARGEST_TIMED_INDEX));
            clock.advance(3);
            long timer = device.lap(tile, 1, BrickId.RMS_NORM);
            stream.work(40);
            clock.advance(5);
            device.stopBrick(timer, 1);
            device.endPass();
        }
        assertThat(device.snapshot().bricks()).hasSize(1);
        assertThat(device.brickStats(BrickId.RMS_NORM).count()).isEqualTo(200);
        assertThat(device.brickStats(BrickId.RMS_NORM).totalNs())
                .isEqualTo(mode == SyncMode.NONE ? 5L * 200 : 40L * 200);
        assertThat(device.snapshot().streams())
                .filteredOn(each -> each.stream().equals("copies"))
                .allMatch(each -> each.samples() == 0);
    }

    @Spec("2.5")
    @Test
    void aBricksTimerIsNoTiles() {
        for (int i = 0; i < TRIES; i++) {
            clock.set(random.nextLong());
            host.tiles().stop(host.startBrick(random.nextInt(TimerToken.MAX_KEY)), 1, 1);
        }
        requireNoTile(host);
    }

    @ParameterizedTest
    @EnumSource(SyncMode.class)
    void aBricksTimerOnADeviceIsNoTiles(SyncMode mode) {
        device.setSyncMode(mode);
        BrickStream other = device.stream("copies");
        for (int i = 0; i < 2_000; i++) {
            long timer = i % 2 == 0
                    ? device.startBrick(random.nextInt(TimerToken.MAX_KEY))
                    : other.startBrick(random.nextInt(TimerToken.MAX_KEY));
            device.tiles().stop(timer, 1, 1);
            device.stopBrick(timer, 1);
            if (i % 50 == 0) {
                device.endPass();
            }
        }
        requireNoTile(device);
    }

    @Test
    void timersStartedWhileOffAreVoidForBoth() {
        for (BrickProfiler profiler : new BrickProfiler[] {host, device}) {
            profiler.disable();
            profiler.tiles().disable();
            long brick = profiler.startBrick(BrickId.RMS_NORM);
            long tile = profiler.tiles().start(TileLevel.MACRO, 1, 2);
            profiler.enable();
            profiler.tiles().enable();
            clock.advance(9);
            for (long timer : new long[] {brick, tile}) {
                assertThat(timer).isEqualTo(TimerToken.VOID);
                profiler.stopBrick(timer, 1);
                profiler.tiles().stop(timer, 1, 1);
            }
            requireNoBrick(profiler);
            requireNoTile(profiler);
        }
    }

    @Test
    void aTilesTimerKeepsItsPlaceAndItsTime() {
        for (TileLevel level : TileLevel.values()) {
            for (int i = 0; i < 2_000; i++) {
                host.tiles().reset();
                clock.set(random.nextLong());
                int row = random.nextInt(TileProfiler.LARGEST_TIMED_INDEX + 1);
                int col = random.nextInt(TileProfiler.LARGEST_TIMED_INDEX + 1);
                long elapsedNs = random.nextLong(33_000_000_000L);
                long timer = host.tiles().start(level, row, col);
                clock.advance(elapsedNs);
                host.tiles().stop(timer, 3, 5);
                assertThat(host.tiles().stats(level))
                        .isEqualTo(TileStats.builder(level)
                                .samples(1, elapsedNs, elapsedNs, elapsedNs)
                                .work(3, 5)
                                .slowest(row, col)
                                .build());
            }
        }
    }
}
