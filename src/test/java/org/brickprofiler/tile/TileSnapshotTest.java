package org.brickprofiler.tile;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.FakeClock;
import org.junit.jupiter.api.Test;

final class TileSnapshotTest {

    @Test
    void cannotBeChanged() {
        List<TileStats> levels = new ArrayList<>(List.of(TileStats.empty(TileLevel.MACRO)));
        TileProfiler.Snapshot snapshot = new TileProfiler.Snapshot(levels, 1, false);
        levels.clear();

        assertThat(snapshot.levels())
                .containsExactly(TileStats.empty(TileLevel.MACRO))
                .isUnmodifiable();
    }

    @Test
    void countsTheThreadsThatRecordedTiles() throws Exception {
        TileProfiler tiles = new TileProfiler(new FakeClock());
        tiles.enable();
        assertThat(tiles.snapshot().threads()).isZero();
        tiles.record(TileLevel.MACRO, 0, 0, 1, 1, 1);
        Crew.runOnNewThread(() -> tiles.record(TileLevel.MICRO, 0, 0, 1, 1, 1));

        assertThat(tiles.snapshot()).isEqualTo(new TileProfiler.Snapshot(tiles.all(), 2, false));
        assertThat(tiles.snapshotAndReset().threads()).isEqualTo(2);
        assertThat(tiles.snapshot().threads()).isZero();
    }
}
