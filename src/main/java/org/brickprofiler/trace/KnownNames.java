package org.brickprofiler.trace;

import java.util.List;
import org.brickprofiler.record.SpanCopy;
import org.brickprofiler.record.SpanNames;

/**
 * The names of those keys that entries have, when no further entry can come: a profiler's table of names is much larger,
 * and keeps what nobody needs. Immutable; any thread.
 */
final class KnownNames implements SpanNames {

    private final String[] names;
    private final String[] categories;

    KnownNames(List<SpanCopy> copies, SpanNames all) {
        int size = 0;
        for (SpanCopy copy : copies) {
            for (int entry = 0; entry < copy.size(); entry++) {
                size = Math.max(size, copy.key(entry) + 1);
            }
        }
        names = new String[size];
        categories = new String[size];
        for (SpanCopy copy : copies) {
            for (int entry = 0; entry < copy.size(); entry++) {
                int key = copy.key(entry);
                names[key] = all.name(key);
                categories[key] = all.category(key);
            }
        }
        fillGaps();
    }

    /** A key that no entry has is never asked for, but a timeline makes a name of each: one that is there anyway. */
    private void fillGaps() {
        for (int key = names.length - 2; key >= 0; key--) {
            if (names[key] == null) {
                names[key] = names[key + 1];
                categories[key] = categories[key + 1];
            }
        }
    }

    @Override
    public int size() {
        return names.length;
    }

    @Override
    public String name(int key) {
        return names[key];
    }

    @Override
    public String category(int key) {
        return categories[key];
    }
}
