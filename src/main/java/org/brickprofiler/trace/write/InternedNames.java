package org.brickprofiler.trace.write;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.trace.SpanName;
import org.eclipse.collections.api.map.primitive.MutableObjectIntMap;
import org.eclipse.collections.impl.list.mutable.primitive.IntArrayList;
import org.eclipse.collections.impl.map.mutable.primitive.ObjectIntHashMap;

/**
 * The short numbers that stand for names and categories within one sequence of packets. They are given in order of
 * first use, from 1, so that most take one byte. One thread at a time.
 */
final class InternedNames {

    private static final Set<String> BRICK_CATEGORIES = Arrays.stream(BrickCategory.values())
            .map(BrickCategory::displayName)
            .collect(Collectors.toUnmodifiableSet());

    private final List<SpanName> names;
    /** Of each name the place of its category among the categories. */
    private final int[] categories;
    /** Of each name whether its category is a brick's. */
    private final boolean[] bricks;

    private final Numbers nameIids;
    private final Numbers categoryIids;

    InternedNames(List<SpanName> names) {
        this.names = names;
        this.categories = new int[names.size()];
        this.bricks = new boolean[names.size()];
        MutableObjectIntMap<String> places = new ObjectIntHashMap<>();
        for (int name = 0; name < categories.length; name++) {
            String category = names.get(name).category();
            categories[name] = places.getIfAbsentPut(category, places.size());
            bricks[name] = BRICK_CATEGORIES.contains(category);
        }
        this.nameIids = new Numbers(names.size());
        this.categoryIids = new Numbers(places.size());
    }

    /** Begins another sequence. */
    void clear() {
        nameIids.clear();
        categoryIids.clear();
    }

    /** Gives the name its number; true where it is new to the sequence. */
    boolean add(int name) {
        if (!nameIids.add(checked(name))) {
            return false;
        }
        categoryIids.add(categories[name]);
        return true;
    }

    int nameIid(int name) {
        return nameIids.of(name);
    }

    int categoryIid(int name) {
        return categoryIids.of(categories[name]);
    }

    /** Whether the category of a name is that of a brick. */
    boolean isBrick(int name) {
        return bricks[name];
    }

    private int checked(int name) {
        if (name < 0 || name >= categories.length) {
            throw new IllegalArgumentException("name " + name + " of " + categories.length);
        }
        return name;
    }

    String text(int name) {
        return names.get(name).name();
    }

    String category(int name) {
        return names.get(name).category();
    }

    /** Numbers for places, by first use. */
    private static final class Numbers {

        private final int[] iids;
        private final IntArrayList used = new IntArrayList();

        Numbers(int places) {
            this.iids = new int[places];
        }

        boolean add(int place) {
            if (iids[place] != 0) {
                return false;
            }
            used.add(place);
            iids[place] = used.size();
            return true;
        }

        int of(int place) {
            return iids[place];
        }

        void clear() {
            used.forEach(place -> iids[place] = 0);
            used.clear();
        }
    }
}
