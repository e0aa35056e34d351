package org.brickprofiler;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.slf4j.LoggerFactory;

/** The listeners of a profiler. Any thread. */
final class Listeners {

    private final List<ProfilerListener> all = new CopyOnWriteArrayList<>();
    private final List<ProfilerListener> ofBricks = new CopyOnWriteArrayList<>();

    void add(ProfilerListener listener) {
        all.add(listener);
        if (listener.wantsBricks()) {
            ofBricks.add(listener);
        }
    }

    void remove(ProfilerListener listener) {
        all.remove(listener);
        ofBricks.remove(listener);
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    boolean wantBricks() {
        return !ofBricks.isEmpty();
    }

    void brickRecorded(String brick, BrickCategory category, long endNs, long elapsedNs, long elements) {
        for (ProfilerListener listener : ofBricks) {
            call(listener, each -> each.brickRecorded(brick, category, endNs, elapsedNs, elements));
        }
    }

    void stepBegan(StepInfo info) {
        for (ProfilerListener listener : all) {
            call(listener, each -> each.stepBegan(info));
        }
    }

    void stepEnded(Step step) {
        for (ProfilerListener listener : all) {
            call(listener, each -> each.stepEnded(step));
        }
    }

    /** What a listener throws must not reach the code that is timed. */
    private void call(ProfilerListener listener, Consumer<ProfilerListener> call) {
        try {
            call.accept(listener);
        } catch (RuntimeException thrown) {
            remove(listener);
            LoggerFactory.getLogger(Listeners.class).warn("a listener has failed and is removed: {}", listener, thrown);
        }
    }
}
