package org.brickprofiler.trace.read;

import org.eclipse.collections.impl.map.mutable.primitive.LongObjectHashMap;

/** The texts that numbers stand for within one sequence of packets. One thread. */
final class PerfettoNames {

    /** What all of a trace may take at a time, in characters. */
    static final int MOST = 1 << 22;

    private static final int ENTRY = 32;

    private final Supply supply;
    private final LongObjectHashMap<String> categories = new LongObjectHashMap<>();
    private final LongObjectHashMap<String> names = new LongObjectHashMap<>();
    private final LongObjectHashMap<String> annotationNames = new LongObjectHashMap<>();
    private int taken;

    /** What is left for all sequences of a trace. */
    static final class Supply {
        private int left = MOST;
    }

    PerfettoNames(Supply supply) {
        this.supply = supply;
    }

    /** What keeping a text takes, in characters. */
    static int costOf(String text) {
        return ENTRY + text.length();
    }

    /**
     * Keeps a text; one that was told before for the same number is replaced.
     *
     * @return false where there is no room left
     */
    boolean add(PerfettoPacket.Interned interned) {
        LongObjectHashMap<String> texts =
                switch (interned.kind()) {
                    case PerfettoFields.INTERNED_CATEGORIES -> categories;
                    case PerfettoFields.INTERNED_NAMES -> names;
                    default -> annotationNames;
                };
        String before = texts.put(interned.iid(), interned.text());
        int cost = costOf(interned.text()) - (before == null ? 0 : costOf(before));
        taken += cost;
        supply.left -= cost;
        return supply.left >= 0;
    }

    void clear() {
        categories.clear();
        names.clear();
        annotationNames.clear();
        supply.left += taken;
        taken = 0;
    }

    /** Empty where it is not known. */
    String category(long iid) {
        return categories.getIfAbsent(iid, () -> "");
    }

    /** Empty where it is not known. */
    String name(long iid) {
        return names.getIfAbsent(iid, () -> "");
    }

    /** Empty where it is not known. */
    String annotationName(long iid) {
        return annotationNames.getIfAbsent(iid, () -> "");
    }
}
