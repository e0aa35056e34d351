package org.brickprofiler.device;

import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What is to be done before a {@link DeviceStream} closes. Any thread. */
public final class CloseActions {

    private static final Logger LOG = LoggerFactory.getLogger(CloseActions.class);

    /** Guarded by itself. */
    private final List<Runnable> actions = new ArrayList<>();

    /** Nothing to do so far. */
    public CloseActions() {}

    /**
     * Adds an action.
     *
     * @param action what to do
     */
    public void add(Runnable action) {
        synchronized (actions) {
            actions.add(action);
        }
    }

    /** Does everything that was added since the last call, whatever an action throws: that is logged. */
    public void run() {
        List<Runnable> due;
        synchronized (actions) {
            due = List.copyOf(actions);
            actions.clear();
        }
        for (Runnable action : due) {
            try {
                action.run();
            } catch (RuntimeException e) {
                LOG.warn("what was to be done before a stream closes failed", e);
            }
        }
    }
}
