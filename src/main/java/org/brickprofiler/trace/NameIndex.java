package org.brickprofiler.trace;

import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.record.SpanNames;
import org.eclipse.collections.api.factory.primitive.ObjectIntMaps;
import org.eclipse.collections.api.map.primitive.MutableObjectIntMap;

/** Gives each name of a timeline its index. One thread. */
final class NameIndex {

    private final List<SpanName> names = new ArrayList<>();
    private final MutableObjectIntMap<SpanName> places = ObjectIntMaps.mutable.empty();

    int of(String name, String category) {
        return places.getIfAbsentPut(new SpanName(name, category), () -> {
            names.add(new SpanName(name, category));
            return names.size() - 1;
        });
    }

    /** The index of each key in use. */
    int[] of(SpanNames source) {
        int[] indices = new int[source.size()];
        for (int key = 0; key < indices.length; key++) {
            indices[key] = of(source.name(key), source.category(key));
        }
        return indices;
    }

    List<SpanName> names() {
        return List.copyOf(names);
    }
}
