package org.brickprofiler.graph;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** A list of ints behaves as a list of the JDK. */
class IntListProperties {

    @Property
    void theSameCallsLeaveTheSameValues(
            @ForAll @IntRange(max = 40) int room, @ForAll @Size(max = 200) List<@IntRange(max = 9) Integer> calls) {
        IntList list = new IntList(room);
        List<Integer> expected = new ArrayList<>();
        for (int call : calls) {
            if (call == 0 && !expected.isEmpty()) {
                assertThat(list.removeLast()).isEqualTo(expected.remove(expected.size() - 1));
            } else if (call == 1 && !expected.isEmpty()) {
                list.set(expected.size() / 2, -1);
                expected.set(expected.size() / 2, -1);
            } else if (call == 2 && expected.size() < 1_000) {
                list.addAll(list);
                expected.addAll(List.copyOf(expected));
            } else {
                list.add(call);
                expected.add(call);
            }
            assertThat(list.size()).isEqualTo(expected.size());
            assertThat(list.isEmpty()).isEqualTo(expected.isEmpty());
            if (!expected.isEmpty()) {
                assertThat(list.last()).isEqualTo(expected.get(expected.size() - 1));
                assertThat(list.get(expected.size() / 2)).isEqualTo(expected.get(expected.size() / 2));
            }
        }
        assertThat(list.stream().boxed()).isEqualTo(expected);
        assertThat(list.toArray()).hasSize(expected.size());
        list.clear();
        assertThat(list.isEmpty()).isTrue();
    }
}
