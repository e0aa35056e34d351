package org.brickprofiler.tile;

/** The size class of a tile. */
public enum TileLevel {
    /** Sized for the last-level cache or main memory. */
    MACRO("macro"),
    /** Sized for the L2 cache. */
    MIDI("midi"),
    /** Sized for the L1 cache or the registers. */
    MICRO("micro");

    private final String displayName;

    TileLevel(String displayName) {
        this.displayName = displayName;
    }

    /**
     * Returns the name in reports.
     *
     * @return for example {@code "macro"}
     */
    public String displayName() {
        return displayName;
    }

    /** Returns the row of this level; this method alone reads the ordinal. */
    @SuppressWarnings("EnumOrdinal") // this method wraps the ordinal
    int index() {
        return ordinal();
    }
}
