package org.brickprofiler;

import java.util.List;
import org.brickprofiler.record.NameTable;
import org.brickprofiler.record.SpanNames;

/** Which keys the known bricks have, and how a category is kept with a key. Stateless; any thread. */
final class BrickNames {

    /** Keys below this are the known bricks, and after them the one for names past the bound. */
    static final int FIXED = BrickId.all().size() + 1;

    private static final List<BrickCategory> CATEGORIES = List.of(BrickCategory.values());

    private BrickNames() {}

    /** A table with every display name and alias, which knows the other spellings too. */
    static NameTable newTable() {
        List<BrickId> known = BrickId.all();
        NameTable names = new NameTable(
                known.stream().map(BrickId::displayName).toList(),
                known.stream().map(id -> tag(id.category())).toList(),
                BrickTimers.OTHER_NAMES,
                tag(BrickCategory.OTHER),
                BrickNames::keyOfSpelling);
        for (BrickId id : known) {
            id.aliases().forEach(alias -> names.addAlias(alias, id.index()));
        }
        return names;
    }

    private static int keyOfSpelling(String name) {
        BrickId id = BrickSpellings.find(name);
        return id == null ? NameTable.NONE : id.index();
    }

    static int tag(BrickCategory category) {
        return category.index();
    }

    static BrickCategory category(int tag) {
        return CATEGORIES.get(tag);
    }

    /** What the keys of a table mean to whoever shows spans. */
    static SpanNames spanNames(NameTable names) {
        return new SpanNames() {
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
