package org.brickprofiler.tile;

import java.util.List;
import org.brickprofiler.record.SpanNames;

/** What the rows of a {@link TileProfiler} mean to whoever shows spans. Stateless; any thread. */
final class TileNames implements SpanNames {

    static final TileNames INSTANCE = new TileNames();

    private static final List<String> NAMES =
            List.of(TileLevel.values()).stream().map(level -> level.displayName() + " tile").toList();

    private TileNames() {}

    @Override
    public int size() {
        return NAMES.size();
    }

    @Override
    public String name(int key) {
        return NAMES.get(key);
    }

    @Override
    public String category(int key) {
        return "Tile";
    }
}
