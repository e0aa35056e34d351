package org.brickprofiler.trace.write;

import java.util.List;
import org.brickprofiler.trace.SpanName;
import org.eclipse.collections.api.map.primitive.MutableObjectIntMap;
import org.eclipse.collections.impl.list.mutable.primitive.IntArrayList;
import org.eclipse.collections.impl.map.mutable.primitive.ObjectIntHashMap;

/**
 * The short numbers that stand for names and categories within one sequence of packets. They are given in order of
 * first use, from 1, so that most take one byte. One thread at a time.
 */
final class InternedNames {

    private final List<SpanName> names;
    /** Of each name the place of its category among the categories. */
    private final int[] categories;

    private final Numbers nameIids;
    private final Numbers categoryIids;

    InternedNames(List<SpanName> names) {
        this.names = names;
        this.categories = new int[names.size()];
        MutableObjectIntMap<String> places = new ObjectIntHashMap<>();
        for (int name = 0; name < categories.length; name++) {
            categories[name] = places.getIfAbsentPut(names.get(name).category(), places.size());
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
