package org.brickprofiler.agent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.internal.record.SettingAction;
import org.brickprofiler.internal.setting.Settings;
import org.jspecify.annotations.Nullable;

/**
 * The text after the agent's jar: {@code rules=bricks.yaml,out=run.json}. Immutable.
 *
 * @param files the files by option: {@code rules}, {@code out} for the profile, {@code html} for the page,
 *     {@code trace} for the timeline, {@code slow} for the timeline of the slowest steps, and {@code snapshot}, to
 *     which an agent that is already running writes the profile or the timeline up to now
 * @param port the local port of the live report, 0 for any free one; empty for no live report
 * @param metrics the address of the page of metrics; empty for none
 * @param ab the seed of the random order in which recording is switched on and off; empty to keep it on
 * @param warmup the number of steps of the warm-up; empty for the number that the rules state
 * @param spans the provider, in the terms of OpenTelemetry's conventions, of requests that are exported as spans by the
 *     application's OpenTelemetry; empty for no spans
 * @param lines whether the stacks that the virtual machine samples are joined with the bricks
 * @param asyncProfiler whether bricks are spans of the application's async-profiler
 * @param sources the roots of the sources to which the lines of a page lead; empty for no links
 * @param recording whether an agent that is already running switches recording on or off; empty for neither
 */
record AgentOptions(
        Map<String, Path> files,
        OptionalInt port,
        Optional<MetricsListener.Place> metrics,
        OptionalLong ab,
        OptionalInt warmup,
        Optional<String> spans,
        boolean lines,
        boolean asyncProfiler,
        List<String> sources,
        Optional<Boolean> recording) {

    /** The variable by which {@code brick run} names the file to which a run writes its profile. */
    static final String OUT_VARIABLE = "BRICK_PROFILER_OUT";

    private static final String OUT = "out";
    private static final String HTML = "html";
    private static final String TRACE = "trace";
    private static final String SLOW = "slow";
    private static final String SNAPSHOT = "snapshot";
    private static final List<String> FILES = List.of("rules", OUT, HTML, TRACE, SLOW, SNAPSHOT);

    private static final String PORT = "port";
    private static final String METRICS = "metrics";
    private static final String AB = "ab";
    private static final String WARMUP = "warmup";
    private static final String SPANS = "spans";
    private static final String LINES = "lines";
    private static final String ASYNC_PROFILER = "async-profiler";
    private static final String SOURCES = "sources";
    private static final String RECORDING = "recording";
    private static final List<String> VALUES =
            List.of(PORT, METRICS, AB, WARMUP, SPANS, LINES, ASYNC_PROFILER, SOURCES, RECORDING);

    /** Examples of the values that are no numbers. */
    private static final Map<String, String> EXAMPLES =
            Map.of(SPANS, "acme", LINES, "on", ASYNC_PROFILER, "on", SOURCES, "src/main/java", RECORDING, "on");

    private static final Map<String, Boolean> SWITCH = Map.of("on", true, "off", false);

    static final int LAST_PORT = 65_535;

    private static final List<String> PROFILE_ENDINGS = List.of(".json");
    private static final List<String> PAGE_ENDINGS = List.of(".html", ".htm");

    private static final List<String> TIMELINE_ENDINGS = List.of(".pftrace", ".perfetto-trace");

    /** The endings of files that are no profile and no page. */
    private static final List<String> OTHER_ENDINGS = List.of(".gz", ".csv", ".txt", ".jfr", ".yaml", ".yml");

    /**
     * Reads options.
     *
     * @param text keys and values, separated by commas
     * @param environment the variables of the environment
     * @throws IllegalArgumentException when a key is unknown or given twice, or its value is missing or invalid
     */
    static AgentOptions parse(String text, Map<String, String> environment) {
        Map<String, Path> files = new LinkedHashMap<>();
        Map<String, String> values = new HashMap<>();
        for (String option : text.isBlank() ? new String[0] : text.split(",", -1)) {
            int equals = option.indexOf('=');
            String key = equals < 0 ? option : option.substring(0, equals);
            if (!FILES.contains(key) && !VALUES.contains(key)) {
                throw new IllegalArgumentException("there is no option '" + key + "'; there are "
                        + Stream.concat(FILES.stream(), VALUES.stream()).collect(Collectors.joining(", ")));
            }
            if (equals < 0 || equals == option.length() - 1) {
                throw new IllegalArgumentException("the option '" + key + "' needs a value, as in " + key + "="
                        + (VALUES.contains(key) ? EXAMPLES.getOrDefault(key, "1") : "FILE"));
            }
            String value = option.substring(equals + 1);
            boolean isNew =
                    FILES.contains(key) ? files.put(key, Path.of(value)) == null : values.put(key, value) == null;
            if (!isNew) {
                throw new IllegalArgumentException("the option '" + key + "' is given twice");
            }
        }
        if (files.containsKey(TRACE) && files.containsKey(SLOW)) {
            throw new IllegalArgumentException(
                    "the option 'slow' excludes 'trace': a timeline holds chosen steps, or all");
        }
        Path runFile = runFile(environment);
        refuseSameFile(files, runFile);
        requireFormats(files);
        if (runFile != null) {
            files.putIfAbsent(OUT, runFile);
        }
        String port = values.get(PORT);
        String metrics = values.get(METRICS);
        String seed = values.get(AB);
        String warmup = values.get(WARMUP);
        boolean lines = onOrOff(LINES, values).orElseGet(SettingAction::wantsLines);
        String sources = values.get(SOURCES);
        if (sources != null && !lines) {
            throw new IllegalArgumentException(
                    "sources=" + sources + " makes lines into links: it needs lines=on, and a page");
        }
        return new AgentOptions(
                Map.copyOf(files),
                port == null ? OptionalInt.empty() : OptionalInt.of((int) number(PORT, port, LAST_PORT)),
                metrics == null ? Optional.empty() : Optional.of(MetricsListener.Place.parse(metrics)),
                seed == null ? OptionalLong.empty() : OptionalLong.of(number(AB, seed, Long.MAX_VALUE)),
                warmup == null ? OptionalInt.empty() : OptionalInt.of((int) number(WARMUP, warmup, Integer.MAX_VALUE)),
                Optional.ofNullable(values.get(SPANS)).map(AgentOptions::provider),
                lines,
                onOrOff(ASYNC_PROFILER, values).orElse(false),
                sources == null ? List.of() : List.of(sources.split(";", -1)),
                onOrOff(RECORDING, values));
    }

    private static Optional<Boolean> onOrOff(String key, Map<String, String> values) {
        String value = values.get(key);
        if (value != null && !SWITCH.containsKey(value)) {
            throw new IllegalArgumentException(key + "=" + value + " is neither on nor off");
        }
        return Optional.ofNullable(value).map(SWITCH::get);
    }

    private static String provider(String value) {
        if (!value.matches("[\\w.-]{1,64}") || value.matches("(?i)on|off|yes|no|true|false|[01]")) {
            throw new IllegalArgumentException(SPANS + "=" + value
                    + " names no provider: write the gen_ai.provider.name of the spans, in letters, digits, '.', '_'"
                    + " and '-', as in " + SPANS + "=acme");
        }
        return value;
    }

    /** Returns the file of rules; null if it is not given. */
    @Nullable
    Path rules() {
        return files.get("rules");
    }

    /** Returns the file for the profile, as JSON; null for none. */
    @Nullable
    Path out() {
        return files.get(OUT);
    }

    /** Returns the file for the page; null for none. */
    @Nullable
    Path html() {
        return files.get(HTML);
    }

    /** Returns the file for the timeline of the slowest steps; null for none. */
    @Nullable
    Path slow() {
        return files.get(SLOW);
    }

    /** Returns the file to which a running agent writes what it has recorded up to now; null for none. */
    @Nullable
    Path snapshot() {
        return files.get(SNAPSHOT);
    }

    /** Returns the file for the timeline, of all steps or of the slowest; null without one. */
    @Nullable
    Path timeline() {
        return files.getOrDefault(TRACE, slow());
    }

    /** Returns whether an option asks for what a flight recording knows: slow steps, why requests waited, and lines. */
    boolean asksForRecording() {
        return slow() != null || port.isPresent() || metrics.isPresent() || lines;
    }

    /** Returns whether a file that was given as {@code snapshot=} is a page. */
    static boolean isPage(Path snapshot) {
        return endsIn(snapshot, PAGE_ENDINGS);
    }

    /** Returns whether a file that was given as {@code snapshot=} is a timeline. */
    static boolean isTimeline(Path snapshot) {
        return endsIn(snapshot, TIMELINE_ENDINGS);
    }

    /**
     * Refuses a file for the profile up to now that is one of the files of these options, which belong to the running
     * agent.
     *
     * @throws IllegalArgumentException when it is; the message names both
     */
    void requireOther(Path snapshot, Map<String, String> environment) {
        Map<String, Path> all = new LinkedHashMap<>(files);
        all.put(SNAPSHOT, snapshot);
        refuseSameFile(all, runFile(environment));
    }

    /** Returns the file in which {@code brick run} expects the profile, beside {@code out}; null without it. */
    static @Nullable Path runFile(Map<String, String> environment) {
        String variable = Settings.value(environment::get, OUT_VARIABLE);
        return variable == null ? null : Path.of(variable);
    }

    /** Refuses a file whose ending names another format than the one that would be written to it. */
    private static void requireFormats(Map<String, Path> files) {
        Path snapshot = files.get(SNAPSHOT);
        if (snapshot != null && !endsIn(snapshot, PROFILE_ENDINGS) && !isPage(snapshot) && !isTimeline(snapshot)) {
            throw new IllegalArgumentException(SNAPSHOT + "=" + snapshot
                    + " ends in none of .json, for the profile, .html, for the page, and .pftrace, for the timeline");
        }
        requireFormat(OUT, files.get(OUT), PAGE_ENDINGS, "the profile as JSON: name it NAME.json");
        requireFormat(HTML, files.get(HTML), PROFILE_ENDINGS, "a page: name it NAME.html");
    }

    private static void requireFormat(String key, @Nullable Path file, List<String> excluded, String content) {
        if (file != null && (endsIn(file, excluded) || isTimeline(file) || endsIn(file, OTHER_ENDINGS))) {
            throw new IllegalArgumentException(
                    key + "=" + file + " has the ending of another format, and would be " + content);
        }
    }

    private static boolean endsIn(Path file, List<String> endings) {
        return endings.stream().anyMatch(file.toString().toLowerCase(Locale.ROOT)::endsWith);
    }

    /** Refuses two options with the same file: the report written last would overwrite the other one, or the rules. */
    private static void refuseSameFile(Map<String, Path> files, @Nullable Path runFile) {
        Map<Path, String> names = new HashMap<>();
        Path out = files.get(OUT);
        if (runFile != null && (out == null || !real(out).equals(real(runFile)))) {
            names.put(real(runFile), OUT_VARIABLE + "=" + runFile);
        }
        files.forEach((key, file) -> {
            String name = key + "=" + file;
            String other = names.put(real(file), name);
            if (other != null) {
                throw new IllegalArgumentException(
                        other + " and " + name + " are one file; each needs a file of its own");
            }
        });
    }

    /** Returns the real path of a file, so that two paths to the same file are equal. */
    private static Path real(Path file) {
        Path path = file.toAbsolutePath().normalize();
        Path folder = path.getParent();
        try {
            if (Files.exists(path)) {
                return path.toRealPath();
            }
            return folder != null && Files.exists(folder) ? folder.toRealPath().resolve(path.getFileName()) : path;
        } catch (IOException unknown) {
            return path;
        }
    }

    private static long number(String key, String value, long largest) {
        if (value.matches("\\d{1,18}") && Long.parseLong(value) <= largest) {
            return Long.parseLong(value);
        }
        throw new IllegalArgumentException(
                key + "=" + value + " is not a whole number" + (largest == LAST_PORT ? " from 0 to " + largest : ""));
    }
}
