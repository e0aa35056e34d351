package org.brickprofiler.internal.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

final class MergeSortTest {

    private static final int MANY = 200_000;

    @Test
    void manyInDescendingOrder() {
        int[] values = IntStream.range(0, MANY).toArray();
        MergeSort.sort(values, (a, b) -> Integer.compare(b, a));
        assertThat(values)
                .isEqualTo(IntStream.range(0, MANY).map(i -> MANY - 1 - i).toArray());
    }

    /** Places are sorted by their content; places with equal content keep their order. */
    @Property
    void itSortsAndIsStable(@ForAll @Size(max = 40) int @IntRange(max = 7) [] held) {
        int[] places = IntStream.range(0, held.length).toArray();
        MergeSort.sort(places, (a, b) -> Integer.compare(held[a], held[b]));

        assertThat(IntStream.of(places).boxed().toList())
                .isEqualTo(IntStream.range(0, held.length)
                        .boxed()
                        .sorted((a, b) -> Integer.compare(held[a], held[b]))
                        .toList());
    }
}
