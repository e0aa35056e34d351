package org.brickprofiler.internal.base;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Actions are done once before a stream closes; those of forgotten objects are dropped. */
final class CloseActionsTest {

    private final CloseActions actions = new CloseActions();
    private final List<String> done = new ArrayList<>();

    @Test
    void doesEverythingOnceWhateverOneThrows() {
        actions.add(() -> done.add("a"));
        actions.add(() -> {
            throw new IllegalStateException("one that fails");
        });
        actions.add(CloseActions.unlessForgotten(done, list -> list.add("b")));
        actions.run();
        actions.run();
        assertThat(done).containsExactly("a", "b");
        assertThat(actions.size()).isZero();
    }

    @Test
    void anErrorDoesNotSkipTheRestAndIsThrownAfterwards() {
        Error first = new AssertionError("first");
        Error second = new AssertionError("second");
        actions.add(() -> {
            throw first;
        });
        actions.add(() -> done.add("a"));
        actions.add(() -> {
            throw second;
        });
        actions.add(() -> done.add("b"));

        assertThatThrownBy(actions::run).isSameAs(first).hasSuppressedException(second);
        assertThat(done).containsExactly("a", "b");
    }

    private void addForgotten(int count) {
        for (int i = 0; i < count; i++) {
            actions.add(CloseActions.unlessForgotten(new Object(), object -> done.add("forgotten")));
        }
    }

    /** As in a server with a profiler for each request on one stream. */
    @Test
    void doesNotCollectActionsOfForgottenObjects() {
        List<Object> kept = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            Object object = new Object();
            kept.add(object);
            actions.add(CloseActions.unlessForgotten(object, one -> done.add("kept")));
        }
        for (int round = 0; round < 10; round++) {
            addForgotten(1_000);
            System.gc();
        }
        assertThat(actions.size()).isLessThan(2_500);
        actions.run();
        assertThat(done.stream().filter("kept"::equals)).hasSize(40);
        assertThat(kept).hasSize(40);
    }
}
