package org.brickprofiler.agent.bridge;

import java.lang.invoke.CallSite;
import java.lang.invoke.ConstantCallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What woven code calls, and the only class of the agent that an application's loaders see. It passes each call on to the
 * {@link Sink}, which lies in a loader of its own with everything that it needs.
 *
 * <p>The sink is a constant of the virtual machine from the first call on, so that compilers see through the bridge. Every
 * method may be called from any thread; none allocates but {@link #carrier}.
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
         * @param number its number; negative for the one after the last
         * @return what ends it; 0 where it is not followed
         */
        long startLayer(long number);

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
         * @param promptOnly whether it is a part of a prompt and gives no token
         * @return not 0
         */
        long startStep(long tokens, long kvLength, boolean promptOnly);

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

        /**
         * What makes tasks of a type work for the layer of the thread that hands them over.
         *
         * @param caller the class that does so
         * @param task the type, an interface
         * @return from a task to what takes its place
         */
        MethodHandle carrier(MethodHandles.Lookup caller, Class<?> task);
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
     * @param number its number; negative for the one after the last
     * @return what ends it
     */
    public static long startLayer(long number) {
        return Holder.SINK.startLayer(number);
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
     * @param promptOnly whether it is a part of a prompt and gives no token
     * @return what ends it
     */
    public static long startStep(long tokens, long kvLength, boolean promptOnly) {
        return Holder.SINK.startStep(tokens, kvLength, promptOnly);
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
     * Which layer the calling thread works for.
     *
     * @return its token, 0 for none
     */
    public static long layerToken() {
        return Holder.SINK.layerToken();
    }

    /**
     * Makes the calling thread work for a layer.
     *
     * @param layer the layer's token, 0 for none
     * @return the token of the layer that it worked for before
     */
    public static long workFor(long layer) {
        return Holder.SINK.workFor(layer);
    }

    /**
     * Links a place in woven code where a task is handed over.
     *
     * @param caller the woven class
     * @param name of no meaning
     * @param type from the task's type, an interface, to itself
     * @return what puts in the place of a task one that works for the layer of the calling thread, wherever it runs
     */
    public static CallSite carrier(MethodHandles.Lookup caller, String name, MethodType type) {
        return new ConstantCallSite(Holder.SINK.carrier(caller, type.returnType()));
    }
}
