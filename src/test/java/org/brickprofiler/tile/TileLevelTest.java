package org.brickprofiler.tile;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

final class TileLevelTest {

    @Test
    void hasThePublishedNamesInOrder() {
        assertThat(TileLevel.values()).containsExactly(TileLevel.MACRO, TileLevel.MIDI, TileLevel.MICRO);
        assertThat(Arrays.stream(TileLevel.values()).map(TileLevel::displayName))
                .containsExactly("macro", "midi", "micro");
        assertThat(Arrays.stream(TileLevel.values()).map(TileLevel::index)).containsExactly(0, 1, 2);
    }
}
