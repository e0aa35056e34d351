package org.brickprofiler.trace.read;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.jfr.consumer.RecordedEvent;
import org.brickprofiler.trace.jfr.internal.CompiledLoops;

/** The settings of a flight recording that say how often samples were taken, and which waits. One thread. */
final class RecordedSettings {

    private static final Pattern PERIOD = Pattern.compile("(\\d{1,9}) ?(ns|us|ms|s)");
    private static final Pattern NUMBER = Pattern.compile("[1-9]\\d{0,17}");
    private static final Map<String, TimeUnit> UNITS = Map.of(
            "ns", TimeUnit.NANOSECONDS,
            "us", TimeUnit.MICROSECONDS,
            "ms", TimeUnit.MILLISECONDS,
            "s", TimeUnit.SECONDS);

    /** The shortest period that the settings of an event have had, ns, by the number of its type. */
    private final Map<Long, Long> periods = new HashMap<>();

    /** The longest threshold that the settings of an event have had, ns, by the number of its type. */
    private final Map<Long, Long> thresholds = new HashMap<>();

    /** The periods of async-profiler by their names, ns. */
    private final Map<String, Long> asyncPeriods = new HashMap<>();

    /** The flags of the virtual machine that say whether samples show the methods in which threads stood. */
    private final Map<String, String> flags = new HashMap<>();

    private String asyncEngine = "";
    private String asyncEvent = "";
    private String asyncVersion = "";

    /** Notes a setting of a type of events, or of async-profiler. */
    void add(RecordedEvent recorded) {
        String name = String.valueOf(recorded.getString("name"));
        String value = String.valueOf(recorded.getString("value"));
        long id = recorded.getLong("id");
        switch (name) {
            case "period" -> duration(value).ifPresent(ns -> periods.merge(id, ns, Math::min));
            case "threshold" -> duration(value).ifPresent(ns -> thresholds.merge(id, ns, Math::max));
            case "interval", "wall" -> {
                if (NUMBER.matcher(value).matches()) {
                    asyncPeriods.put(name, Long.parseLong(value));
                }
            }
            case "lock" -> {
                // async-profiler's threshold of waits.
                if (NUMBER.matcher(value).matches()) {
                    thresholds.merge(id, Long.parseLong(value), Math::max);
                }
            }
            case "engine" -> asyncEngine = value;
            case "event" -> asyncEvent = value;
            case "version" -> asyncVersion = value;
            default -> {
                // It says nothing about samples.
            }
        }
    }

    /** Notes a flag of the virtual machine. */
    void addFlag(RecordedEvent recorded) {
        String name = String.valueOf(recorded.getString("name"));
        if (CompiledLoops.isFlag(name)) {
            Object value = recorded.getValue("value");
            flags.put(name, String.valueOf(value));
        }
    }

    /** Returns why methods and lines of samples may be wrong ones; async-profiler finds them without safepoints. */
    Optional<String> doubt() {
        return asyncEngine.isEmpty() ? CompiledLoops.doubt(flags) : Optional.empty();
    }

    private static OptionalLong duration(String value) {
        Matcher duration = PERIOD.matcher(value);
        return duration.matches()
                ? OptionalLong.of(UNITS.getOrDefault(duration.group(2), TimeUnit.SECONDS)
                        .toNanos(Long.parseLong(duration.group(1))))
                : OptionalLong.empty();
    }

    /** Returns the period of samples of a type, ns; 0 if it is unknown. */
    long periodNs(long type) {
        return periods.getOrDefault(type, 0L);
    }

    /** Returns the duration from which on all waits of a type were recorded, ns; 0 if it is unknown. */
    long thresholdNs(long type) {
        return thresholds.getOrDefault(type, 0L);
    }

    /** Returns async-profiler with its version; empty if the recording is of the JDK. */
    Optional<String> asyncProfiler() {
        return asyncEngine.isEmpty()
                ? Optional.empty()
                : Optional.of("async-profiler" + (asyncVersion.isEmpty() ? "" : " " + asyncVersion));
    }

    /** Returns whether async-profiler took samples by the clock alone. */
    boolean isOfWallClock() {
        return asyncEngine.equals("wall");
    }

    /** Returns what async-profiler's samples of threads that run are of; empty if the recording is of the JDK. */
    Optional<String> asyncMode() {
        if (asyncEngine.equals("ctimer") || asyncEngine.equals("itimer") || asyncEvent.equals("cpu")) {
            return Optional.of("processor time");
        }
        return asyncEngine.isEmpty()
                ? Optional.empty()
                : Optional.of("the event " + (asyncEvent.isEmpty() ? asyncEngine : asyncEvent));
    }

    /** Returns the period of async-profiler's samples, ns; 0 if it is unknown. */
    long asyncPeriodNs(boolean isWallClock) {
        return asyncPeriods.getOrDefault(isWallClock && asyncPeriods.containsKey("wall") ? "wall" : "interval", 0L);
    }
}
