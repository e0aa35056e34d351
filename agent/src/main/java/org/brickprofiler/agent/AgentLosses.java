package org.brickprofiler.agent;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.brickprofiler.agent.bridge.Bridge;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.request.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * Counts the losses of a profile due to failures in woven code, which must not throw: calls that recorded nothing,
 * numbers that could not be read, and classes that could not be woven. Any thread; allocates for the first failure of a
 * kind.
 */
final class AgentLosses {

    private final Consumer<String> say;
    private final AtomicLong failures = new AtomicLong();
    private final Map<String, AtomicLong> negatives = new ConcurrentHashMap<>();
    private final Map<String, AtomicLong> unread = new ConcurrentHashMap<>();
    private final Map<String, AtomicLong> unreadAmounts = new ConcurrentHashMap<>();
    private final Map<String, AtomicLong> unknownTypes = new ConcurrentHashMap<>();
    private final Map<String, AtomicLong> unknownWork = new ConcurrentHashMap<>();
    private final Map<String, AtomicLong> unknownOutcomes = new ConcurrentHashMap<>();
    private final Map<String, Integer> leftAlone = new ConcurrentHashMap<>();
    private volatile @Nullable Throwable firstFailure;

    /**
     * Creates the counters, all at 0.
     *
     * @param say prints a message
     */
    AgentLosses(Consumer<String> say) {
        this.say = say;
    }

    /** Counts a call that recorded nothing. Prints nothing: the stack or the heap may be full. */
    void failed(Throwable failed) {
        failures.incrementAndGet();
        if (firstFailure == null) {
            firstFailure = failed;
        }
    }

    /**
     * Returns a number if it is not negative. Otherwise counts it and returns 0.
     *
     * @param what the number, for messages
     */
    long notNegative(String what, long number) {
        return number >= 0 ? number : negative(what, number);
    }

    private long negative(String what, long number) {
        count(negatives, what, " was negative, and counts as 0: " + number);
        return 0;
    }

    /** Counts a number that could not be read, and returns 0 in its place. */
    long unread(String place, Throwable failed) {
        unread.computeIfAbsent(place, first -> {
                    say.accept(first + " cannot be read, and counts as 0: " + failed);
                    return new AtomicLong();
                })
                .incrementAndGet();
        return 0;
    }

    /** Counts a number of a brick's work that could not be read, and returns {@link WovenWork#UNREAD}. */
    long unreadAmount(String place, Throwable failed) {
        count(unreadAmounts, place, " cannot be read, so this work is unknown: " + failed);
        return WovenWork.UNREAD;
    }

    /** Counts a value that names no type of numbers. */
    void unknownType(String place, String value) {
        count(
                unknownTypes,
                place,
                ": the value '" + value + "' is no known type of numbers: state its bits under bits:");
    }

    /** Counts work that is unknown, with the reason. */
    void unknownWork(String reason) {
        count(unknownWork, reason, "");
    }

    /** Increments a count, and prints the message at the first increment. */
    private void count(Map<String, AtomicLong> counts, String what, String more) {
        AtomicLong count = counts.get(what);
        if (count == null) {
            count = counts.computeIfAbsent(what, first -> {
                say.accept(first + more);
                return new AtomicLong();
            });
        }
        count.incrementAndGet();
    }

    /**
     * Counts a request whose value names no outcome, and returns the number of {@link Outcome#COMPLETED}, as which it
     * counts.
     */
    int unknownOutcome(String place, String value) {
        unknownOutcomes
                .computeIfAbsent(place, first -> {
                    say.accept(first + ": the value '" + value
                            + "' is no outcome, and counts as COMPLETED: name its outcome under outcomes:");
                    return new AtomicLong();
                })
                .incrementAndGet();
        return Outcomes.number(Outcome.COMPLETED);
    }

    /**
     * Counts a class that is not woven, once for each of its loaders.
     *
     * @param className its binary name
     * @param loader its loader
     */
    void leftAlone(String className, ClassLoader loader) {
        String name = loader.getName() == null ? "" : " '" + loader.getName() + "'";
        String of =
                loader.getClass().getName() + name + " (" + Integer.toHexString(System.identityHashCode(loader)) + ")";
        if (leftAlone.putIfAbsent(className + " of " + of, 1) == null) {
            say.accept(className + " is not woven: its loader " + of + " does not see the package "
                    + Bridge.class.getPackageName()
                    + ", which woven code calls. Let the loader ask the bootstrap loader for "
                    + "it: in OSGi, org.osgi.framework.bootdelegation=" + Bridge.class.getPackageName());
        }
    }

    /**
     * Discards the counts, together with the profile that they describe. The count of classes that are not woven
     * remains, because a later profile lacks these classes, too.
     */
    void discard() {
        failures.set(0);
        firstFailure = null;
        Bridge.discardFailures();
        List.of(negatives, unread, unreadAmounts, unknownTypes, unknownWork, unknownOutcomes)
                .forEach(Map::clear);
    }

    /** Returns a sentence for each kind of loss; none if nothing is lost. */
    List<String> summary() {
        List<String> lines = new ArrayList<>();
        if (!leftAlone.isEmpty()) {
            lines.add(Plural.of(
                    leftAlone.size(),
                    "class was not woven, since its loader does not see the agent's bridge",
                    "classes were not woven, since their loaders do not see the agent's bridge"));
        }
        if (failures.get() > 0 || Bridge.missesFailures()) {
            lines.add((Bridge.missesFailures() ? "at least " : "")
                    + Plural.of(failures.get(), "call of the profiler", "calls of the profiler")
                    + " failed and recorded nothing, the first of them with " + firstFailure);
        }
        new TreeMap<>(unread)
                .forEach((place, times) -> lines.add(
                        place + " could not be read " + Plural.of(times.get(), "time") + ", and counts as 0 there"));
        new TreeMap<>(unreadAmounts)
                .forEach((place, times) -> lines.add(place + " could not be read " + Plural.of(times.get(), "time")));
        new TreeMap<>(unknownTypes)
                .forEach((place, times) ->
                        lines.add(place + " was no known type of numbers " + Plural.of(times.get(), "time")));
        lines.addAll(new TreeMap<>(unknownWork).keySet());
        new TreeMap<>(unknownOutcomes)
                .forEach((place, times) -> lines.add(place + " was no outcome " + Plural.of(times.get(), "time")
                        + ", and these requests count as COMPLETED"));
        new TreeMap<>(negatives)
                .forEach((what, times) -> lines.add(
                        what + " was negative " + Plural.of(times.get(), "time") + ", and counts as 0 there"));
        return lines;
    }
}
