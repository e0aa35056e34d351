package org.brickprofiler.agent;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecorder;
import org.jspecify.annotations.Nullable;

/**
 * Records the requests that rules name: those that a thread serves from the beginning to the end of a span, and those
 * that objects of the engine identify. Counts the calls that could not be recorded. Any thread.
 *
 * <p>Strings, numbers and UUIDs identify a request by {@code equals}. Any other object does so by its identity, and is
 * not kept in memory. At most {@value #MOST} objects are remembered, which is also the number of live requests that the
 * recorder can follow.
 */
final class WovenRequests {

    private static final int MOST = 1 << 16;

    /** Stands for a number of tokens that only the engine's steps report. */
    static final long UNKNOWN = WeaveRule.Elements.UNKNOWN.constant();

    private static final long NONE = 0;

    /** Facts of a served request, which only the first call within it states: its id, and its model. */
    private static final int NAMED = 1;

    private static final int MODELLED = 2;

    private volatile @Nullable RequestRecorder recorder;
    private final AgentLosses losses;
    private final ThreadLocal<Served> served = ThreadLocal.withInitial(Served::new);
    private final Live live = new Live();
    private final AtomicLong nested = new AtomicLong();
    private final AtomicLong unknown = new AtomicLong();
    private final AtomicLong repeated = new AtomicLong();
    private final AtomicLong forgotten = new AtomicLong();
    private final AtomicLong cut = new AtomicLong();
    private final AtomicLong unnamed = new AtomicLong();

    /** The number of times that everything recorded was discarded, for example after the warm-up. */
    private final AtomicLong epoch = new AtomicLong();

    /** A request that has not finished. Guarded by itself. */
    private static final class Request {
        private long handle;

        Request(long handle) {
            this.handle = handle;
        }

        synchronized long handle() {
            return handle;
        }

        /** Voids the request; returns whether it was valid before. */
        synchronized boolean discard() {
            boolean was = handle != NONE;
            handle = NONE;
            return was;
        }
    }

    /** The request that a thread serves. Used by that thread only. */
    private static final class Served {
        private int depth;
        private long epoch;
        private @Nullable Request request;
        private RequestRecorder.@Nullable Scope scope;

        /** Whether only steps report the tokens of the request's prompt so far. */
        private boolean lacksPrompt;

        /** What calls within the request have stated: {@link #NAMED}, {@link #MODELLED}. */
        private int stated;

        /** The place from which the request counts; empty if it had arrived before. */
        private String from = "";

        /** How many further calls began within the request. */
        private long parts;

        /** Whether the step that is beginning belongs to the request. */
        private boolean inStep;

        private long handle() {
            return request == null ? NONE : request.handle();
        }

        private void stop() {
            if (scope != null) {
                scope.close();
            }
            scope = null;
            request = null;
            inStep = false;
        }
    }

    /** Identifies an object by its identity, through a weak reference that does not keep the object in memory. */
    private static final class Identity extends WeakReference<Object> {
        private final int hash;

        Identity(Object object, @Nullable ReferenceQueue<Object> queue) {
            super(object, queue);
            hash = System.identityHashCode(object);
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            Object mine = get();
            return this == other || (other instanceof Identity identity && mine != null && mine == identity.get());
        }
    }

    /** The requests by their objects. Guarded by itself. */
    private static final class Live {
        private final Map<Object, Request> requests = new LinkedHashMap<>();
        private final ReferenceQueue<Object> collected = new ReferenceQueue<>();

        private static Object key(Object object, @Nullable ReferenceQueue<Object> queue) {
            boolean isValue = object instanceof String || object instanceof Number || object instanceof UUID;
            return isValue && object.getClass().getModule() == Object.class.getModule()
                    ? object
                    : new Identity(object, queue);
        }

        /** Adds a request; returns the earlier request of the same object, or null. */
        synchronized @Nullable Request put(Object object, Request request) {
            Request earlier = requests.remove(key(object, null));
            requests.put(key(object, collected), request);
            return earlier;
        }

        /**
         * Removes and returns the requests whose objects were garbage-collected, and the oldest if there is no room for
         * another.
         */
        synchronized List<Request> removeForgotten() {
            List<Request> gone = new ArrayList<>();
            for (Reference<?> each = collected.poll(); each != null; each = collected.poll()) {
                Request request = requests.remove(each);
                if (request != null) {
                    gone.add(request);
                }
            }
            if (requests.size() >= MOST) {
                Iterator<Request> oldest = requests.values().iterator();
                gone.add(oldest.next());
                oldest.remove();
            }
            return gone;
        }

        synchronized @Nullable Request find(Object object) {
            return requests.get(key(object, null));
        }

        synchronized @Nullable Request remove(Object object) {
            return requests.remove(key(object, null));
        }

        synchronized void remove(long handle) {
            requests.values().removeIf(each -> each.handle() == handle);
        }

        /** Voids all requests; returns how many were valid before. */
        synchronized long discard() {
            return requests.values().stream().filter(Request::discard).count();
        }
    }

    /**
     * Creates a recorder of the agent's requests.
     *
     * @param recorder the recorder of the requests; null to record none
     * @param losses counts numbers that are negative
     */
    WovenRequests(@Nullable RequestRecorder recorder, AgentLosses losses) {
        this.recorder = recorder;
        this.losses = losses;
    }

    /** Records the requests of rules that are woven from now on. */
    void record(RequestRecorder requests) {
        recorder = requests;
    }

    private long tokens(long number) {
        return number == UNKNOWN ? 0 : losses.notNegative("a number of tokens of a request", number);
    }

    /**
     * Discards the losses, since everything recorded is discarded. The requests under way become void; later calls for
     * them are no losses.
     */
    void discard() {
        epoch.incrementAndGet();
        List.of(nested, unknown, repeated, forgotten, unnamed).forEach(number -> number.set(0));
        cut.set(live.discard());
    }

    // ---- a thread serves a request ----

    /**
     * Records that a request arrives and that the calling thread begins to serve it. If the thread already serves a
     * request, it continues to serve the earlier one: the call is a part of it, such as the method that generates
     * within the method in which a server waits for its turn. The first call of another place reports the tokens of the
     * prompt if the request does not know them. A further one, and one of the same place, is counted as a loss, because
     * it may be a request.
     *
     * @param promptTokens tokens of its prompt; {@link #UNKNOWN} if only its steps report them
     * @param from the place from which it counts
     * @return a token for {@link #endRequest}; 0 if requests are not recorded
     */
    long startRequest(long promptTokens, String from) {
        RequestRecorder requests = recorder;
        if (requests == null) {
            return NONE;
        }
        Served mine = served.get();
        if (mine.depth > 0) {
            startPart(mine, promptTokens, from, requests);
        } else {
            mine.from = from;
            serve(mine, new Request(arrive(promptTokens, from, requests)), promptTokens == UNKNOWN, requests);
        }
        return ++mine.depth;
    }

    private void startPart(Served mine, long promptTokens, String from, RequestRecorder requests) {
        if (mine.parts++ >= mine.depth || from.equals(mine.from)) {
            nested.incrementAndGet();
        } else if (mine.request != null && mine.lacksPrompt && promptTokens != UNKNOWN) {
            mine.lacksPrompt = false;
            requests.tokenized(mine.request.handle(), tokens(promptTokens));
        }
    }

    private long arrive(long promptTokens, String from, RequestRecorder requests) {
        long handle = requests.arrived(tokens(promptTokens), from);
        if (promptTokens == UNKNOWN && handle != NONE) {
            requests.promptOfSteps(handle);
        }
        return handle;
    }

    /**
     * Records that the calling thread begins to serve a request that has arrived. If the thread already serves a
     * request, it continues to serve the earlier one.
     *
     * @param key the object that identifies it
     * @param promptTokens tokens of its prompt; {@link #UNKNOWN} if its arrival or its steps report them
     * @return a token for {@link #endRequest}; 0 if requests are not recorded
     */
    long serveArrived(@Nullable Object key, long promptTokens) {
        RequestRecorder requests = recorder;
        if (requests == null) {
            return NONE;
        }
        Served mine = served.get();
        if (mine.depth > 0) {
            nested.incrementAndGet();
        } else {
            Request request = key == null ? null : live.remove(key);
            if (request == null) {
                unknown.incrementAndGet();
            } else {
                if (promptTokens != UNKNOWN && request.handle() != NONE) {
                    requests.tokenized(request.handle(), tokens(promptTokens));
                }
                mine.from = "";
                serve(mine, request, false, requests);
            }
        }
        return ++mine.depth;
    }

    private void serve(Served mine, Request request, boolean lacksPrompt, RequestRecorder requests) {
        mine.epoch = epoch.get();
        mine.lacksPrompt = lacksPrompt;
        mine.stated = 0;
        mine.parts = 0;
        long handle = request.handle();
        if (handle != NONE) {
            mine.request = request;
            mine.scope = requests.serve(handle);
        }
    }

    /**
     * Names a request by the id that the engine has for it. A call within the request of the calling thread names this
     * request unless another call has.
     *
     * @param token the token from {@link #startRequest} or {@link #serveArrived}, or the request from {@link #arrived};
     *     0 does nothing
     * @param isServed whether it is the token of a served request
     * @param id the id; null does nothing. A string, a number or a UUID; any other object is counted as a loss, since
     *     its text may be of any length, and take any time
     */
    void name(long token, boolean isServed, @Nullable Object id) {
        RequestRecorder requests = recorder;
        if (requests != null && id != null) {
            long handle = handle(token, isServed, NAMED);
            if (handle != NONE && isText(id)) {
                requests.named(handle, id.toString());
            }
        }
    }

    /**
     * Names the model that a request is for, as {@link #name} names the request.
     *
     * @param token the token, as of {@link #name}
     * @param isServed whether it is the token of a served request
     * @param model the name of the model, of the same types as an id
     */
    void model(long token, boolean isServed, @Nullable Object model) {
        RequestRecorder requests = recorder;
        if (requests != null && model != null) {
            long handle = handle(token, isServed, MODELLED);
            if (handle != NONE && isText(model)) {
                requests.model(handle, model.toString());
            }
        }
    }

    /** Returns the request of a token, of which a call states a fact; {@link #NONE} if a call within it has done so. */
    private long handle(long token, boolean isServed, int fact) {
        if (token == NONE || !isServed) {
            return token;
        }
        Served mine = served.get();
        long handle = (mine.stated & fact) == 0 ? mine.handle() : NONE;
        mine.stated |= handle == NONE ? 0 : fact;
        return handle;
    }

    /** Returns whether an object is a short text; counts others. */
    private boolean isText(Object name) {
        boolean isText = name instanceof String || name instanceof Number || name instanceof UUID;
        if (!isText) {
            unnamed.incrementAndGet();
        }
        return isText;
    }

    /**
     * Records that the calling thread has finished serving a request.
     *
     * @param outcome its outcome
     * @param depth the token from {@link #startRequest} or {@link #serveArrived}; 0 does nothing
     */
    void endRequest(Outcome outcome, long depth) {
        RequestRecorder requests = recorder;
        Served mine = served.get();
        if (depth == NONE || requests == null || depth > mine.depth) {
            return;
        }
        mine.depth = (int) depth - 1;
        Request ended = mine.request;
        if (mine.depth == 0 && ended != null) {
            boolean isCut = isCut(mine);
            mine.stop();
            if (!isCut) {
                requests.finished(ended.handle(), outcome);
            }
        }
    }

    /**
     * Returns whether everything recorded was discarded since the thread began to serve its request; if so, counts the
     * request.
     */
    private boolean isCut(Served mine) {
        boolean isCut = mine.epoch != epoch.get();
        if (isCut) {
            cut.incrementAndGet();
        }
        return isCut;
    }

    /** Notes that a step of the calling thread is about to begin. */
    void stepBegins() {
        if (recorder == null) {
            return;
        }
        Served mine = served.get();
        if (mine.request != null && isCut(mine)) {
            mine.stop();
        }
        mine.inStep = mine.request != null;
    }

    /**
     * Notes that a step of the calling thread has begun.
     *
     * @param outputTokens tokens that it outputs
     */
    void stepBegan(long outputTokens) {
        RequestRecorder requests = recorder;
        if (requests != null) {
            Served mine = served.get();
            if (mine.inStep && mine.request != null) {
                requests.gives(mine.request.handle(), outputTokens);
            }
        }
    }

    // ---- objects of the engine are requests ----

    /**
     * Records that a request arrives.
     *
     * @param key the object that identifies it
     * @param promptTokens tokens of its prompt; {@link #UNKNOWN} if only its steps report them
     * @param from the place from which it counts
     * @return the request; 0 if it is not recorded
     */
    long arrived(@Nullable Object key, long promptTokens, String from) {
        RequestRecorder requests = recorder;
        if (requests == null) {
            return NONE;
        }
        if (key == null) {
            unknown.incrementAndGet();
            return NONE;
        }
        live.removeForgotten().forEach(each -> abandon(each, forgotten, requests));
        long handle = arrive(promptTokens, from, requests);
        Request earlier = live.put(key, new Request(handle));
        if (earlier != null) {
            abandon(earlier, repeated, requests);
        }
        return handle;
    }

    private static void abandon(Request request, AtomicLong reason, RequestRecorder requests) {
        long handle = request.handle();
        if (handle != NONE) {
            reason.incrementAndGet();
            requests.abandoned(handle);
        }
    }

    /**
     * Removes and returns the request of an object; the request is about to finish.
     *
     * @param key the object
     * @return the request; 0 if it is not recorded
     */
    long take(@Nullable Object key) {
        if (recorder == null) {
            return NONE;
        }
        Request request = key == null ? null : live.remove(key);
        if (request == null) {
            unknown.incrementAndGet();
            return NONE;
        }
        return request.handle();
    }

    /**
     * Records that a request has finished.
     *
     * @param outcome its outcome
     * @param handle the request; 0 does nothing
     */
    void finished(Outcome outcome, long handle) {
        RequestRecorder requests = recorder;
        if (requests != null && handle != NONE) {
            if (outcome == Outcome.FAILED) {
                // If the arrival failed, the object is still registered.
                live.remove(handle);
            }
            requests.finished(handle, outcome);
        }
    }

    /**
     * Records that the step of the calling thread works on a request.
     *
     * @param key the object that identifies it
     * @param promptTokens tokens of its prompt in this step
     * @param givenTokens tokens that it gets; {@link #UNKNOWN} for one once its prompt is complete
     */
    void inStep(@Nullable Object key, long promptTokens, long givenTokens) {
        RequestRecorder requests = recorder;
        if (requests == null) {
            return;
        }
        Request request = key == null ? null : live.find(key);
        if (request == null) {
            unknown.incrementAndGet();
            return;
        }
        long handle = request.handle();
        if (handle != NONE) {
            requests.inStep(handle, tokens(promptTokens));
            if (givenTokens != UNKNOWN) {
                requests.gives(handle, tokens(givenTokens));
            }
        }
    }

    // ---- losses ----

    /** Returns a sentence for each kind of loss; none if nothing is lost. */
    List<String> summary() {
        RequestRecorder requests = recorder;
        List<String> lines = new ArrayList<>();
        if (requests != null) {
            say(
                    lines,
                    Plural.of(nested.get(), "request began", "requests began"),
                    nested,
                    " within another one of the same thread, and "
                            + (nested.get() == 1 ? "counts as a part" : "count as parts")
                            + " of it: name one method for each request under request:");
            say(
                    lines,
                    Plural.of(
                            unknown.get(),
                            "call changed nothing, since its object had not arrived as a request",
                            "calls changed nothing, since their objects had not arrived as requests"),
                    unknown,
                    ", or had finished");
            say(
                    lines,
                    Plural.of(
                            repeated.get(),
                            "object arrived again before it had finished, and its earlier request was",
                            "objects arrived again before they had finished, and their earlier requests were"),
                    repeated,
                    " given up");
            say(
                    lines,
                    Plural.of(forgotten.get(), "request was", "requests were"),
                    forgotten,
                    " given up without a finish: finished: misses a way in which a request ends");
            say(
                    lines,
                    Plural.of(cut.get(), "request was", "requests were"),
                    cut,
                    " under way at the end of the warm-up or at a reset, and " + (cut.get() == 1 ? "does" : "do")
                            + " not count");
            say(
                    lines,
                    Plural.of(unnamed.get(), "id or model was", "ids or models were"),
                    unnamed,
                    " no string, number or UUID, and " + (unnamed.get() == 1 ? "names" : "name") + " no request");
            long ignored = requests.stats().counts().ignoredCalls();
            say(
                    lines,
                    Plural.of(
                            ignored,
                            "call for requests changed nothing, or less than it asked for",
                            "calls for requests changed nothing, or less than they asked for"),
                    new AtomicLong(ignored),
                    "; the first of each kind is logged");
        }
        return lines;
    }

    private static void say(List<String> lines, String counted, AtomicLong number, String text) {
        if (number.get() > 0) {
            lines.add(counted + text);
        }
    }
}
