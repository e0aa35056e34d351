package org.brickprofiler.checksum;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.eclipse.collections.impl.list.mutable.primitive.IntArrayList;
import org.eclipse.collections.impl.map.mutable.UnifiedMap;
import org.eclipse.collections.impl.map.mutable.primitive.ObjectIntHashMap;

/**
 * Which entry of one log belongs to which one of another: the n-th of a name, layer and position to the n-th of the
 * same name, layer and position. Immutable once made.
 */
final class Alignment {

    /** In place of an index, where there is no entry. */
    static final int NONE = -1;

    private final int[] toReference;
    private final int[] toHere;
    private final int[] repeatHere;
    private final int[] repeatInReference;

    private record Place(String name, int layer, int position) {
        static Place of(ChecksumEntry entry) {
            return new Place(entry.name(), entry.layer(), entry.position());
        }
    }

    /**
     * Aligns two logs.
     *
     * @param here the entries of one, in order of execution
     * @param reference the entries of the other
     */
    Alignment(List<ChecksumEntry> here, List<ChecksumEntry> reference) {
        toReference = new int[here.size()];
        repeatHere = new int[here.size()];
        toHere = new int[reference.size()];
        repeatInReference = new int[reference.size()];
        Arrays.fill(toHere, NONE);
        Map<Place, IntArrayList> inReference = UnifiedMap.newMap();
        for (int i = 0; i < toHere.length; i++) {
            IntArrayList same = inReference.computeIfAbsent(Place.of(reference.get(i)), place -> new IntArrayList(1));
            repeatInReference[i] = same.size();
            same.add(i);
        }
        align(here, inReference);
    }

    private void align(List<ChecksumEntry> here, Map<Place, IntArrayList> inReference) {
        ObjectIntHashMap<Place> seen = new ObjectIntHashMap<>();
        IntArrayList nowhere = new IntArrayList(0);
        for (int i = 0; i < toReference.length; i++) {
            Place place = Place.of(here.get(i));
            int repeat = seen.addToValue(place, 1) - 1;
            IntArrayList same = inReference.getOrDefault(place, nowhere);
            repeatHere[i] = repeat;
            toReference[i] = repeat < same.size() ? same.get(repeat) : NONE;
            if (toReference[i] != NONE) {
                toHere[toReference[i]] = i;
            }
        }
    }

    /**
     * The reference's entry.
     *
     * @param here the index of an entry here
     * @return the index of the one that belongs to it, or {@link #NONE}
     */
    int toReference(int here) {
        return toReference[here];
    }

    /**
     * The entry here.
     *
     * @param reference the index of an entry in the reference
     * @return the index of the one that belongs to it, or {@link #NONE}
     */
    int toHere(int reference) {
        return toHere[reference];
    }

    /**
     * How often an entry's place was there before.
     *
     * @param here the index of an entry here
     * @return entries of the same name, layer and position before it
     */
    int repeatHere(int here) {
        return repeatHere[here];
    }

    /**
     * How often an entry's place was there before.
     *
     * @param reference the index of an entry in the reference
     * @return entries of the same name, layer and position before it
     */
    int repeatInReference(int reference) {
        return repeatInReference[reference];
    }
}
