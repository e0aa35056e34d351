package org.brickprofiler.internal.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.testing.Collected;
import org.junit.jupiter.api.Test;

/** Actions are done once, and those of objects that are gone take no room. */
class CloseActionsTest {

    private final CloseActions actions = new CloseActions();
    private final List<String> done = new ArrayList<>();

    @Test
    void everyActionIsDoneOnceWhateverAnotherThrows() {
        Object kept = new Object();
        actions.add(() -> {
            throw new IllegalStateException("thrown on purpose");
        });
        actions.add(() -> done.add("plain"));
        actions.add(CloseActions.unlessForgotten(kept, object -> done.add("kept")));
        actions.run();
        actions.run();
        assertThat(done).containsExactly("plain", "kept");
        assertThat(actions.size()).isZero();
        assertThat(kept).isNotNull();
    }

    @Test
    void actionsOfForgottenObjectsTakeNoRoom() {
        actions.add(() -> done.add("plain"));
        for (int i = 0; i < 1_000; i++) {
            actions.add(CloseActions.unlessForgotten(new Object(), object -> done.add("forgotten")));
        }
        Collected.until(() -> {
            actions.add(CloseActions.unlessForgotten(new Object(), object -> {}));
            return actions.size() < 10;
        });
        assertThat(actions.size()).isLessThan(10);
    }
}
