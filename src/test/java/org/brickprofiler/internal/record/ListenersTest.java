package org.brickprofiler.internal.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A listener may be added several times, each time with or without bricks. */
final class ListenersTest {

    private final Listeners<List<String>> listeners = new Listeners<>();
    private final List<String> heard = new ArrayList<>();

    private List<String> heard() {
        heard.clear();
        listeners.ofStep(each -> each.add("step"));
        listeners.ofBrick(each -> each.add("brick"));
        return List.copyOf(heard);
    }

    @Spec("21.1")
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void removingOneRegistrationKeepsTheOther(boolean bricksFirst) {
        List<String> listener = new ArrayList<>() {
            @Override
            public boolean add(String call) {
                return heard.add(call);
            }
        };
        listeners.add(listener, bricksFirst);
        listeners.add(listener, !bricksFirst);
        assertThat(heard()).containsExactly("step", "step", "brick");

        listeners.remove(listener);
        assertThat(heard()).isEqualTo(bricksFirst ? List.of("step") : List.of("step", "brick"));
        assertThat(listeners.wantBricks()).isEqualTo(!bricksFirst);

        listeners.remove(listener);
        assertThat(heard()).isEmpty();
        assertThat(listeners.isEmpty()).isTrue();
        assertThat(listeners.wantBricks()).isFalse();
    }
}
