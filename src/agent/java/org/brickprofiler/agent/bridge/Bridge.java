package org.brickprofiler.agent.bridge;

import java.lang.reflect.Array;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * What woven code calls, and the only class of the agent that an application's loaders see. It passes each call on to the
 * {@link Sink}, which lies in a loader of its own with everything that it needs.
 *
 * <p>The sink is a constant of the virtual machine from the first call on, so that compilers see through the bridge. Every
 * method may be called from any thread; none allocates, but for the {@code carry} methods, which make one object where the
 * calling thread is in a layer.
 */
public final class Bridge {

    private static @Nullable Sink installed;

    /** What woven code is recorded by. Any thread; no method throws. */
    public interface Sink {

        /**
         * Starts a brick.
         *
         * @param key the brick's key
         * @return its timer; 0 where it is not timed
         */
        long startBrick(int key);

        /**
         * Stops a brick.
         *
         * @param timer what starting it returned; nothing happens for 0
         * @param elements elements that it processed
         */
        void stopBrick(long timer, long elements);

        /**
         * Begins a layer.
         *
         * @return not 0
         */
        long startLayer();

        /**
         * Ends a layer.
         *
         * @param layer what beginning it returned; nothing happens for 0
         */
        void endLayer(long layer);

        /**
         * Begins a step, a forward pass.
         *
         * @param tokens tokens that it processes
         * @param kvLength positions that its key-value cache holds
         * @return not 0
         */
        long startStep(long tokens, long kvLength);

        /**
         * Ends a step.
         *
         * @param step what beginning it returned; nothing happens for 0
         */
        void endStep(long step);

        /**
         * Which layer the calling thread works for.
         *
         * @return its token, 0 for none
         */
        long layerToken();

        /**
         * Makes the calling thread work for a layer.
         *
         * @param layer the layer's token, 0 for none
         * @return the token of the layer that it worked for before
         */
        long workFor(long layer);
    }

    private static final class Holder {
        static final Sink SINK = Objects.requireNonNull(installed, "no sink is installed");
    }

    private Bridge() {}

    /**
     * Says what records. Before the first class is woven, and once.
     *
     * @param sink what records from now on
     */
    public static void install(Sink sink) {
        if (installed != null) {
            throw new IllegalStateException("a sink is installed already: " + installed);
        }
        installed = sink;
    }

    /**
     * Starts a brick.
     *
     * @param key the brick's key
     * @return its timer
     */
    public static long startBrick(int key) {
        return Holder.SINK.startBrick(key);
    }

    /**
     * Stops a brick.
     *
     * @param timer what starting it returned
     * @param elements elements that it processed
     */
    public static void stopBrick(long timer, long elements) {
        Holder.SINK.stopBrick(timer, elements);
    }

    /**
     * Begins a layer.
     *
     * @return what ends it
     */
    public static long startLayer() {
        return Holder.SINK.startLayer();
    }

    /**
     * Ends a layer.
     *
     * @param layer what beginning it returned
     */
    public static void endLayer(long layer) {
        Holder.SINK.endLayer(layer);
    }

    /**
     * Begins a step.
     *
     * @param tokens tokens that it processes
     * @param kvLength positions that its key-value cache holds
     * @return what ends it
     */
    public static long startStep(long tokens, long kvLength) {
        return Holder.SINK.startStep(tokens, kvLength);
    }

    /**
     * Ends a step.
     *
     * @param step what beginning it returned
     */
    public static void endStep(long step) {
        Holder.SINK.endStep(step);
    }

    /**
     * The length of an array of any type.
     *
     * @param array the array
     * @return its length, 0 for null
     */
    public static int length(@Nullable Object array) {
        return array == null ? 0 : Array.getLength(array);
    }

    /**
     * A task that works for the layer of the calling thread, wherever it runs.
     *
     * @param task the task
     * @return it, or what runs it
     */
    public static @Nullable Runnable carryRunnable(@Nullable Runnable task) {
        long layer = Holder.SINK.layerToken();
        if (layer == 0 || task == null) {
            return task;
        }
        return () -> {
            long before = Holder.SINK.workFor(layer);
            try {
                task.run();
            } finally {
                Holder.SINK.workFor(before);
            }
        };
    }

    /**
     * A task that works for the layer of the calling thread, wherever it runs.
     *
     * @param <T> its result
     * @param task the task
     * @return it, or what runs it
     */
    public static <T> @Nullable Callable<T> carryCallable(@Nullable Callable<T> task) {
        long layer = Holder.SINK.layerToken();
        if (layer == 0 || task == null) {
            return task;
        }
        return () -> {
            long before = Holder.SINK.workFor(layer);
            try {
                return task.call();
            } finally {
                Holder.SINK.workFor(before);
            }
        };
    }

    /**
     * A task that works for the layer of the calling thread, wherever it runs.
     *
     * @param <T> what it takes
     * @param task the task
     * @return it, or what runs it
     */
    public static <T> @Nullable Consumer<T> carryConsumer(@Nullable Consumer<T> task) {
        long layer = Holder.SINK.layerToken();
        if (layer == 0 || task == null) {
            return task;
        }
        return value -> {
            long before = Holder.SINK.workFor(layer);
            try {
                task.accept(value);
            } finally {
                Holder.SINK.workFor(before);
            }
        };
    }

    /**
     * A task that works for the layer of the calling thread, wherever it runs.
     *
     * @param task the task
     * @return it, or what runs it
     */
    public static @Nullable IntConsumer carryIntConsumer(@Nullable IntConsumer task) {
        long layer = Holder.SINK.layerToken();
        if (layer == 0 || task == null) {
            return task;
        }
        return value -> {
            long before = Holder.SINK.workFor(layer);
            try {
                task.accept(value);
            } finally {
                Holder.SINK.workFor(before);
            }
        };
    }

    /**
     * A task that works for the layer of the calling thread, wherever it runs.
     *
     * @param task the task
     * @return it, or what runs it
     */
    public static @Nullable LongConsumer carryLongConsumer(@Nullable LongConsumer task) {
        long layer = Holder.SINK.layerToken();
        if (layer == 0 || task == null) {
            return task;
        }
        return value -> {
            long before = Holder.SINK.workFor(layer);
            try {
                task.accept(value);
            } finally {
                Holder.SINK.workFor(before);
            }
        };
    }
}
