package org.brickprofiler.demo;

import java.util.List;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.SyncMode;

/** The ways to watch a pass whose costs are compared. */
public enum Watching {
    /** No call of a profiler. */
    ABSENT("profiler absent", SyncMode.NONE) {
        @Override
        public void run(BrickProfiler profiler, DevicePass pass) {
            pass.opening().forEach(step -> step.work().enqueue());
            pass.layers().forEach(layer -> layer.forEach(step -> step.work().enqueue()));
            pass.closing().forEach(step -> step.work().enqueue());
        }
    },
    /** The host's clock around each launch. */
    NONE("NONE", SyncMode.NONE),
    /** Two marks for each brick, resolved at the end of the pass. */
    DEFERRED("DEFERRED", SyncMode.DEFERRED),
    /** One mark between two bricks, resolved at the end of the pass. */
    DEFERRED_LAP("DEFERRED, lap", SyncMode.DEFERRED) {
        @Override
        void time(BrickProfiler profiler, List<DevicePass.Step> steps) {
            lap(profiler, steps);
        }
    },
    /** Two marks for each brick, resolved at the end of each layer. */
    PER_LAYER("PER_LAYER", SyncMode.PER_LAYER),
    /** A wait for the device after each brick. */
    IMMEDIATE("IMMEDIATE", SyncMode.IMMEDIATE);

    private final String title;
    private final SyncMode mode;

    Watching(String title, SyncMode mode) {
        this.title = title;
        this.mode = mode;
    }

    /**
     * Returns the way in words.
     *
     * @return short, for a table
     */
    public String title() {
        return title;
    }

    /**
     * Returns the way that a mode is meant for.
     *
     * @param mode the mode
     * @return a way with two marks for each brick, if the mode uses marks
     */
    public static Watching of(SyncMode mode) {
        return switch (mode) {
            case NONE -> NONE;
            case DEFERRED -> DEFERRED;
            case PER_LAYER -> PER_LAYER;
            case IMMEDIATE -> IMMEDIATE;
        };
    }

    /** Returns the mode that the profiler has to be in. */
    SyncMode mode() {
        return mode;
    }

    /**
     * Enqueues a pass, and ends it unless no profiler watches.
     *
     * @param profiler the profiler, in the mode of this way
     * @param pass the pass
     */
    public void run(BrickProfiler profiler, DevicePass pass) {
        time(profiler, pass.opening());
        for (List<DevicePass.Step> layer : pass.layers()) {
            profiler.startLayer();
            time(profiler, layer);
            profiler.endLayer();
        }
        time(profiler, pass.closing());
        profiler.endPass();
    }

    void time(BrickProfiler profiler, List<DevicePass.Step> steps) {
        for (DevicePass.Step step : steps) {
            long timer = profiler.startBrick(step.brick());
            step.work().enqueue();
            profiler.stopBrick(timer, step.elements());
        }
    }

    private static void lap(BrickProfiler profiler, List<DevicePass.Step> steps) {
        if (steps.isEmpty()) {
            return;
        }
        DevicePass.Step step = steps.get(0);
        long timer = profiler.startBrick(step.brick());
        step.work().enqueue();
        for (int i = 1; i < steps.size(); i++) {
            long elements = step.elements();
            step = steps.get(i);
            timer = profiler.lap(timer, elements, step.brick());
            step.work().enqueue();
        }
        profiler.stopBrick(timer, step.elements());
    }
}
