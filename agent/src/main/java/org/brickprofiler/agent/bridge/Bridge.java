package org.brickprofiler.agent.bridge;

import java.lang.invoke.CallSite;
import java.lang.invoke.ConstantCallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The class that woven code calls, and the only class of the agent that an application's loaders see. It passes each
 * call on to the {@link Sink}, which a separate class loader holds together with its dependencies.
 *
 * <p>From the first call on, the sink is a constant for the JIT compiler, which can therefore inline calls through the
 * bridge. Every method may be called from any thread. Of the bridge's own code, only the methods that link call sites
 * ({@link #carrier}, {@link #elements}, {@link #amount}, {@link #weight} and {@link #outcome}) allocate. No method that
 * woven code calls throws: an exception here would leave a method of the application that does not throw it. A failed
 * call is counted and records nothing.
 */
public final class Bridge {

    private static @Nullable Sink installed;

    /** Whether a failed call could not even be counted, for example because the stack was full. */
    private static volatile boolean missesFailures;

    /** Records the calls of woven code. Any thread; the bridge catches everything that a method throws. */
    public interface Sink {

        /**
         * Starts a brick.
         *
         * @param key the brick's key
         * @return its timer; 0 if it is not timed
         */
        long startBrick(int key);

        /**
         * Stops a brick.
         *
         * @param timer the timer that starting the brick returned; 0 does nothing
         * @param elements elements that it processed
         */
        void stopBrick(long timer, long elements);

        /**
         * Begins a layer.
         *
         * @param number its number; negative for the one after the last
         * @return a token for {@link #endLayer}; 0 if the layer is not recorded
         */
        long startLayer(long number);

        /**
         * Ends a layer.
         *
         * @param layer the token from {@link #startLayer}; 0 does nothing
         */
        void endLayer(long layer);

        /**
         * Begins a generation. Its first steps on the calling thread process a prompt, although each of them decodes.
         *
         * @param steps the number of these steps
         * @param outputTokens tokens that the last of them outputs; if 0, the next step outputs the first token
         * @return a token for {@link #endPrompt}; not 0
         */
        long startPrompt(long steps, long outputTokens);

        /**
         * Ends a generation, and discards the steps of its prompt that have not begun.
         *
         * @param prompt the token from {@link #startPrompt}; 0 does nothing
         */
        void endPrompt(long prompt);

        /**
         * Begins a step, a forward pass.
         *
         * @param tokens tokens that it processes
         * @param kvLength positions that its key-value cache holds
         * @param outputTokens tokens that it outputs
         * @param isPrompt whether it processes a prompt, or a part of one, however few tokens these are
         * @return a token for {@link #endStep} or {@link #failStep}; 0 if the step is not recorded
         */
        long startStep(long tokens, long kvLength, long outputTokens, boolean isPrompt);

        /**
         * Ends a step.
         *
         * @param step the token from {@code startStep}; 0 does nothing
         */
        void endStep(long step);

        /**
         * Ends a step that an exception leaves. It outputs nothing.
         *
         * @param step the token from {@code startStep}; 0 does nothing
         */
        void failStep(long step);

        /**
         * Records that a request arrives and begins to be served: until its end, the steps of the calling thread belong
         * to it.
         *
         * @param promptTokens tokens of its prompt; {@link Long#MIN_VALUE} if only its steps report them
         * @param from the place from which it counts
         * @return a token for {@link #endRequest}; 0 if the request is not recorded
         */
        long startRequest(long promptTokens, String from);

        /**
         * Begins to serve a request that has arrived: until its end, the steps of the calling thread belong to it.
         *
         * @param key the object that identifies it
         * @param promptTokens tokens of its prompt; {@link Long#MIN_VALUE} if its arrival or its steps report them
         * @return a token for {@link #endRequest}; 0 if the request is not recorded
         */
        long serveArrived(@Nullable Object key, long promptTokens);

        /**
         * Records that the calling thread has finished serving a request.
         *
         * @param outcome the number of its outcome
         * @param request the token from {@link #startRequest} or {@link #serveArrived}; 0 does nothing
         */
        void endRequest(int outcome, long request);

        /**
         * Records that a request arrives.
         *
         * @param key the object that identifies it
         * @param promptTokens tokens of its prompt; {@link Long#MIN_VALUE} if only its steps report them
         * @param from the place from which it counts
         * @return the request; 0 if it is not recorded
         */
        long startArrival(@Nullable Object key, long promptTokens, String from);

        /**
         * Names a request by the id that the engine has for it.
         *
         * @param request the token from {@link #startRequest}, {@link #serveArrived} or {@link #startArrival}; 0 does
         *     nothing
         * @param isServed whether the calling thread serves the request; false for an arrival
         * @param id the id; null does nothing
         */
        void nameRequest(long request, boolean isServed, @Nullable Object id);

        /**
         * Names the model that a request is for.
         *
         * @param request the token, as of {@link #nameRequest}
         * @param isServed whether the calling thread serves the request; false for an arrival
         * @param model the name of the model; null does nothing
         */
        void modelRequest(long request, boolean isServed, @Nullable Object model);

        /**
         * Begins the method within which a request ends.
         *
         * @param key the object that identifies it
         * @return the request; 0 if it is not recorded
         */
        long startFinish(@Nullable Object key);

        /**
         * Records that a request has finished.
         *
         * @param outcome the number of its outcome
         * @param request the request; 0 does nothing
         */
        void endFinish(int outcome, long request);

        /**
         * Records that the step of the calling thread works on a request.
         *
         * @param key the object that identifies it
         * @param promptTokens tokens of its prompt in this step; 0 if the step decodes it
         * @param tokens tokens that it gets; {@link Long#MIN_VALUE} for one once its prompt is complete
         */
        void inStep(@Nullable Object key, long promptTokens, long tokens);

        /**
         * Records the work of a sample that begins, of a brick that multiplies a matrix by vectors.
         *
         * @param number the number of the rule's product
         * @param rows rows of the matrix
         * @param columns columns of the matrix
         * @param vectors the number of vectors
         * @param weight the bytes of 160,000 weights
         */
        void product(int number, long rows, long columns, long vectors, long weight);

        /**
         * Sets a number of the model that the step of the calling thread runs.
         *
         * @param number the index of the number
         * @param value its value
         */
        void model(int number, long value);

        /**
         * Returns the layer that the calling thread works for.
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
         * Returns the method that wraps tasks of a type so that they work for the layer of the submitting thread.
         *
         * @param caller the woven class
         * @param task the type, an interface
         * @return a handle that maps a task to its replacement
         */
        MethodHandle carrier(MethodHandles.Lookup caller, Class<?> task);

        /**
         * Returns the code that reads a number, or another object, from an object.
         *
         * @param caller the woven class
         * @param type from the object to a {@code long} or an {@code Object}
         * @param place the rule, for messages
         * @param path the steps from the object to the number: {@code name:descriptor} of a field or of a method
         *     without parameters, or {@code length} of an array
         * @return a handle of that type, which does not throw
         */
        MethodHandle elements(MethodHandles.Lookup caller, MethodType type, String place, String... path);

        /**
         * Returns the code that reads a number of a brick's work from an object.
         *
         * @param caller the woven class
         * @param type from the object to a {@code long}
         * @param place the rule, for messages
         * @param path the steps from the object to the number, in the format of {@link #elements}
         * @return a handle of that type, which does not throw and returns {@link Long#MIN_VALUE} for an unknown number
         */
        MethodHandle amount(MethodHandles.Lookup caller, MethodType type, String place, String... path);

        /**
         * Returns the code that reads the size of weights from an object that names their type.
         *
         * @param caller the woven class
         * @param type from the object to a {@code long}, the bytes of 160,000 weights
         * @param place the rule, for messages
         * @param table the sizes of values
         * @param path the steps from the object to the value, in the format of {@link #elements}
         * @return a handle of that type, which does not throw and returns {@link Long#MIN_VALUE} for an unknown size
         */
        MethodHandle weight(MethodHandles.Lookup caller, MethodType type, String place, String table, String... path);

        /**
         * Returns the code that reads the outcome of a request from a value.
         *
         * @param caller the woven class
         * @param type from the value to an {@code int}, the number of the outcome
         * @param place the rule, for messages
         * @param table the outcomes of values
         * @param path the steps from the value to the one that decides, in the format of {@link #elements}
         * @return a handle of that type, which does not throw
         */
        MethodHandle outcome(MethodHandles.Lookup caller, MethodType type, String place, String table, String... path);

        /**
         * Counts a call that failed, and records nothing for it.
         *
         * @param failed the exception or error
         */
        void failed(Throwable failed);
    }

    private static final class Holder {
        static final Sink SINK = Objects.requireNonNull(installed, "no sink is installed");
    }

    private Bridge() {}

    /**
     * Installs the sink. Call it once, before the first class is woven.
     *
     * @param sink the sink that receives all further calls
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
        try {
            return Holder.SINK.startBrick(key);
        } catch (Throwable failed) {
            return failed(failed);
        }
    }

    /**
     * Stops a brick.
     *
     * @param timer the timer that starting the brick returned
     * @param elements elements that it processed
     */
    public static void stopBrick(long timer, long elements) {
        try {
            Holder.SINK.stopBrick(timer, elements);
        } catch (Throwable failed) {
            failed(failed);
        }
    }

    /**
     * Begins a layer.
     *
     * @param number its number; negative for the one after the last
     * @return a token for {@link #endLayer}
     */
    public static long startLayer(long number) {
        try {
            return Holder.SINK.startLayer(number);
        } catch (Throwable failed) {
            return failed(failed);
        }
    }

    /**
     * Ends a layer.
     *
     * @param layer the token from {@link #startLayer}
     */
    public static void endLayer(long layer) {
        try {
            Holder.SINK.endLayer(layer);
        } catch (Throwable failed) {
            failed(failed);
        }
    }

    /**
     * Begins a generation. Its first steps on the calling thread process a prompt.
     *
     * @param steps the number of these steps
     * @param outputTokens tokens that the last of them outputs
     * @return a token for {@link #endPrompt}
     */
    public static long startPrompt(long steps, long outputTokens) {
        try {
            return Holder.SINK.startPrompt(steps, outputTokens);
        } catch (Throwable failed) {
            return failed(failed);
        }
    }

    /**
     * Ends a generation.
     *
     * @param prompt the token from {@link #startPrompt}
     */
    public static void endPrompt(long prompt) {
        try {
            Holder.SINK.endPrompt(prompt);
        } catch (Throwable failed) {
            failed(failed);
        }
    }

    /**
     * Begins a step.
     *
     * @param tokens tokens that it processes
     * @param kvLength positions that its key-value cache holds
     * @param outputTokens tokens that it outputs
     * @param isPrompt whether it processes a prompt, or a part of one, however few tokens these are
     * @return a token for {@link #endStep} or {@link #failStep}
     */
    public static long startStep(long tokens, long kvLength, long outputTokens, boolean isPrompt) {
        try {
            return Holder.SINK.startStep(tokens, kvLength, outputTokens, isPrompt);
        } catch (Throwable failed) {
            return failed(failed);
        }
    }

    /**
     * Ends a step.
     *
     * @param step the token from {@link #startStep}
     */
    public static void endStep(long step) {
        try {
            Holder.SINK.endStep(step);
        } catch (Throwable failed) {
            failed(failed);
        }
    }

    /**
     * Ends a step that an exception leaves.
     *
     * @param step the token from {@link #startStep}
     */
    public static void failStep(long step) {
        try {
            Holder.SINK.failStep(step);
        } catch (Throwable failed) {
            failed(failed);
        }
    }

    /**
     * Records that a request arrives and that the calling thread begins to serve it.
     *
     * @param promptTokens tokens of its prompt; {@link Long#MIN_VALUE} if only its steps report them
     * @param from the place from which it counts
     * @return a token for {@link #endRequest}
     */
    public static long startRequest(long promptTokens, String from) {
        try {
            return Holder.SINK.startRequest(promptTokens, from);
        } catch (Throwable failed) {
            return failed(failed);
        }
    }

    /**
     * Begins to serve a request that has arrived.
     *
     * @param key the object that identifies it
     * @param promptTokens tokens of its prompt; {@link Long#MIN_VALUE} if its arrival or its steps report them
     * @return a token for {@link #endRequest}
     */
    public static long serveArrived(@Nullable Object key, long promptTokens) {
        try {
            return Holder.SINK.serveArrived(key, promptTokens);
        } catch (Throwable failed) {
            return failed(failed);
        }
    }

    /**
     * Records that the calling thread has finished serving a request.
     *
     * @param outcome the number of its outcome
     * @param request the token from {@link #startRequest} or {@link #serveArrived}
     */
    public static void endRequest(int outcome, long request) {
        try {
            Holder.SINK.endRequest(outcome, request);
        } catch (Throwable failed) {
            failed(failed);
        }
    }

    /**
     * Records that a request arrives.
     *
     * @param key the object that identifies it
     * @param promptTokens tokens of its prompt; {@link Long#MIN_VALUE} if only its steps report them
     * @param from the place from which it counts
     * @return the request
     */
    public static long startArrival(@Nullable Object key, long promptTokens, String from) {
        try {
            return Holder.SINK.startArrival(key, promptTokens, from);
        } catch (Throwable failed) {
            return failed(failed);
        }
    }

    /**
     * Names a request by the id that the engine has for it.
     *
     * @param request the token from {@link #startRequest}, {@link #serveArrived} or {@link #startArrival}
     * @param isServed whether the calling thread serves the request; false for an arrival
     * @param id the id; null does nothing
     */
    public static void nameRequest(long request, boolean isServed, @Nullable Object id) {
        try {
            Holder.SINK.nameRequest(request, isServed, id);
        } catch (Throwable failed) {
            failed(failed);
        }
    }

    /**
     * Names the model that a request is for.
     *
     * @param request the token from {@link #startRequest}, {@link #serveArrived} or {@link #startArrival}
     * @param isServed whether the calling thread serves the request; false for an arrival
     * @param model the name of the model; null does nothing
     */
    public static void modelRequest(long request, boolean isServed, @Nullable Object model) {
        try {
            Holder.SINK.modelRequest(request, isServed, model);
        } catch (Throwable failed) {
            failed(failed);
        }
    }

    /**
     * Begins the method within which a request ends.
     *
     * @param key the object that identifies it
     * @return the request
     */
    public static long startFinish(@Nullable Object key) {
        try {
            return Holder.SINK.startFinish(key);
        } catch (Throwable failed) {
            return failed(failed);
        }
    }

    /**
     * Records that a request has finished.
     *
     * @param outcome the number of its outcome
     * @param request the request
     */
    public static void endFinish(int outcome, long request) {
        try {
            Holder.SINK.endFinish(outcome, request);
        } catch (Throwable failed) {
            failed(failed);
        }
    }

    /**
     * Records that the step of the calling thread works on a request.
     *
     * @param key the object that identifies it
     * @param promptTokens tokens of its prompt in this step
     * @param tokens tokens that it gets; {@link Long#MIN_VALUE} for one once its prompt is complete
     */
    public static void inStep(@Nullable Object key, long promptTokens, long tokens) {
        try {
            Holder.SINK.inStep(key, promptTokens, tokens);
        } catch (Throwable failed) {
            failed(failed);
        }
    }

    /**
     * Records the work of a sample that begins, of a brick that multiplies a matrix by vectors.
     *
     * @param number the number of the rule's product
     * @param rows rows of the matrix
     * @param columns columns of the matrix
     * @param vectors the number of vectors
     * @param weight the bytes of 160,000 weights
     */
    public static void product(int number, long rows, long columns, long vectors, long weight) {
        try {
            Holder.SINK.product(number, rows, columns, vectors, weight);
        } catch (Throwable failed) {
            failed(failed);
        }
    }

    /**
     * Sets a number of the model that the step of the calling thread runs.
     *
     * @param number the index of the number
     * @param value its value
     */
    public static void model(int number, long value) {
        try {
            Holder.SINK.model(number, value);
        } catch (Throwable failed) {
            failed(failed);
        }
    }

    /**
     * Returns the layer that the calling thread works for.
     *
     * @return its token, 0 for none
     */
    public static long layerToken() {
        try {
            return Holder.SINK.layerToken();
        } catch (Throwable failed) {
            return failed(failed);
        }
    }

    /**
     * Makes the calling thread work for a layer.
     *
     * @param layer the layer's token, 0 for none
     * @return the token of the layer that it worked for before
     */
    public static long workFor(long layer) {
        try {
            return Holder.SINK.workFor(layer);
        } catch (Throwable failed) {
            return failed(failed);
        }
    }

    /**
     * Links a call in woven code that passes a task on.
     *
     * @param caller the woven class
     * @param name ignored
     * @param type from the task's type, an interface, to itself
     * @return a call site that replaces a task by one that runs for the layer of the calling thread, on any thread
     */
    public static CallSite carrier(MethodHandles.Lookup caller, String name, MethodType type) {
        Class<?> task = type.returnType();
        try {
            JdkBridge.enter();
            try {
                return new ConstantCallSite(Holder.SINK.carrier(caller, task));
            } finally {
                JdkBridge.leave();
            }
        } catch (Throwable failed) {
            failed(failed);
            return new ConstantCallSite(MethodHandles.identity(task));
        }
    }

    /**
     * Links a place in woven code that reads a number, or the object of a request, from an object.
     *
     * @param caller the woven class
     * @param name ignored
     * @param type from the object to a {@code long} or an {@code Object}
     * @param place the rule, for messages
     * @param path the steps from the object to the value, see {@link Sink#elements}
     * @return the code that reads the value; 0 or null if it cannot be read
     */
    public static CallSite elements(
            MethodHandles.Lookup caller, String name, MethodType type, String place, String... path) {
        try {
            JdkBridge.enter();
            try {
                return new ConstantCallSite(Holder.SINK.elements(caller, type, place, path));
            } finally {
                JdkBridge.leave();
            }
        } catch (Throwable failed) {
            failed(failed);
            return zero(type);
        }
    }

    /**
     * Links a place in woven code that reads a number of a brick's work from an object.
     *
     * @param caller the woven class
     * @param name ignored
     * @param type from the object to a {@code long}
     * @param place the rule, for messages
     * @param path the steps from the object to the value, see {@link Sink#elements}
     * @return the code that reads the value; {@link Long#MIN_VALUE} if it cannot be read
     */
    public static CallSite amount(
            MethodHandles.Lookup caller, String name, MethodType type, String place, String... path) {
        try {
            JdkBridge.enter();
            try {
                return new ConstantCallSite(Holder.SINK.amount(caller, type, place, path));
            } finally {
                JdkBridge.leave();
            }
        } catch (Throwable failed) {
            failed(failed);
            return unknown(type);
        }
    }

    /**
     * Links a place in woven code that reads the size of weights.
     *
     * @param caller the woven class
     * @param name ignored
     * @param type from the object to a {@code long}
     * @param place the rule, for messages
     * @param tableAndPath the sizes of values, and the steps from the object to the value
     * @return the code that reads the bytes of 160,000 weights; {@link Long#MIN_VALUE} if they are unknown
     */
    public static CallSite weight(
            MethodHandles.Lookup caller, String name, MethodType type, String place, String... tableAndPath) {
        try {
            JdkBridge.enter();
            try {
                String[] path = Arrays.copyOfRange(tableAndPath, 1, tableAndPath.length);
                return new ConstantCallSite(Holder.SINK.weight(caller, type, place, tableAndPath[0], path));
            } finally {
                JdkBridge.leave();
            }
        } catch (Throwable failed) {
            failed(failed);
            return unknown(type);
        }
    }

    private static CallSite zero(MethodType type) {
        return new ConstantCallSite(
                MethodHandles.dropArguments(MethodHandles.zero(type.returnType()), 0, type.parameterType(0)));
    }

    private static CallSite unknown(MethodType type) {
        return new ConstantCallSite(MethodHandles.dropArguments(
                MethodHandles.constant(long.class, Long.MIN_VALUE), 0, type.parameterType(0)));
    }

    /**
     * Links a place in woven code that reads the outcome of a request.
     *
     * @param caller the woven class
     * @param name ignored
     * @param type from the value to an {@code int}
     * @param place the rule, for messages
     * @param tableAndPath the outcomes of values, and the steps from the value to the one that decides
     * @return the code that reads the number of the outcome; 0 if it cannot be linked
     */
    public static CallSite outcome(
            MethodHandles.Lookup caller, String name, MethodType type, String place, String... tableAndPath) {
        try {
            JdkBridge.enter();
            try {
                String[] path = Arrays.copyOfRange(tableAndPath, 1, tableAndPath.length);
                return new ConstantCallSite(Holder.SINK.outcome(caller, type, place, tableAndPath[0], path));
            } finally {
                JdkBridge.leave();
            }
        } catch (Throwable failed) {
            failed(failed);
            return zero(type);
        }
    }

    /**
     * Returns whether a failed call could not be counted, so that the sink's count is too low.
     *
     * @return true if a call could not be counted
     */
    public static boolean missesFailures() {
        return missesFailures;
    }

    /** Discards the information that failed calls could not be counted; the sink discards its count itself. */
    public static void discardFailures() {
        missesFailures = false;
    }

    /** Counts a failed call, and returns the void timer. If the stack or the heap is full, counting may fail, too. */
    static long failed(Throwable failed) {
        try {
            Holder.SINK.failed(failed);
        } catch (Throwable again) {
            missesFailures = true;
        }
        return 0;
    }
}
