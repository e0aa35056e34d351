package org.brickprofiler;

import java.util.List;
import java.util.function.ToIntFunction;
import org.brickprofiler.internal.record.NameTable;
import org.brickprofiler.internal.record.SpanSink;

/** Which keys the known bricks have, and how a category is kept with a key. Stateless; any thread. */
final class BrickNames {

    /** Keys below this are the known bricks, and after them the one for names past the bound. */
    static final int FIXED = BrickId.all().size() + 1;

    private static final List<BrickCategory> CATEGORIES = List.of(BrickCategory.values());

    private BrickNames() {}

    /** A table with every display name and alias, which knows the other spellings too. */
    static NameTable newTable() {
        List<BrickId> known = BrickId.all();
        String[] fixed = new String[known.size()];
        int[] tags = new int[known.size()];
        for (BrickId id : known) {
            fixed[id.index()] = id.displayName();
            tags[id.index()] = tag(id.category());
        }
        NameTable names =
                new NameTable(fixed, tags, BrickProfiler.OTHER_NAMES, tag(BrickCategory.OTHER), new Spellings());
        for (BrickId id : known) {
            for (String alias : id.aliases()) {
                names.addAlias(alias, id.index());
            }
        }
        return names;
    }

    /** A named class: the first lambda of a virtual machine takes longer to make than a profiler. */
    private static final class Spellings implements ToIntFunction<String> {
        @Override
        public int applyAsInt(String name) {
            BrickId id = BrickSpellings.find(name);
            return id == null ? NameTable.NONE : id.index();
        }
    }

    static int tag(BrickCategory category) {
        return category.index();
    }

    static BrickCategory category(int tag) {
        return CATEGORIES.get(tag);
    }

    /** What the keys of a table mean to whoever shows spans. */
    static SpanSink.Names spanNames(NameTable names) {
        return new SpanSink.Names() {
            @Override
            public int size() {
                return names.size();
            }

            @Override
            public String name(int key) {
                return names.name(key);
            }

            @Override
            public String category(int key) {
                return BrickNames.category(names.tag(key)).displayName();
            }
        };
    }
}
