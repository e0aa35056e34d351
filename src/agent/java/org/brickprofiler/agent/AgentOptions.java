package org.brickprofiler.agent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.brickprofiler.internal.io.Settings;
import org.jspecify.annotations.Nullable;

/**
 * The text after the agent's jar: {@code rules=bricks.yaml,out=run.json}. Immutable.
 *
 * @param rules the rule file
 * @param out the file for the profile, as JSON; null for none
 * @param html the file for the HTML report; null for none
 * @param trace the file for the trace; null for none
 * @param slow the file for the trace of the slowest steps; null for none
 * @param snapshot the file to which an agent that is already running writes a snapshot, as JSON; null for none
 * @param port the local port of the live report, 0 for any free one; empty for no live report
 * @param ab the seed of the random order in which recording is switched on and off; empty to keep it on
 */
record AgentOptions(
        @Nullable Path rules,
        @Nullable Path out,
        @Nullable Path html,
        @Nullable Path trace,
        @Nullable Path slow,
        @Nullable Path snapshot,
        OptionalInt port,
        OptionalLong ab) {

    /** The variable by which {@code brick run} names the file to which a run writes its profile. */
    static final String OUT_VARIABLE = "BRICK_PROFILER_OUT";

    private static final String PORT = "port";
    private static final String AB = "ab";
    private static final String SLOW = "slow";
    private static final List<String> KEYS = List.of("rules", "out", "html", "trace", SLOW, "snapshot", PORT, AB);
    private static final int LAST_PORT = 65_535;

    /**
     * Reads options.
     *
     * @param text keys and values, separated by commas
     * @param environment the variables of the environment
     * @throws IllegalArgumentException when a key is unknown or given twice, or its value is missing or invalid
     */
    static AgentOptions parse(String text, Map<String, String> environment) {
        Map<String, String> values = new LinkedHashMap<>();
        for (String option : text.isBlank() ? new String[0] : text.split(",", -1)) {
            int equals = option.indexOf('=');
            String key = equals < 0 ? option : option.substring(0, equals);
            if (!KEYS.contains(key)) {
                throw new IllegalArgumentException(
                        "there is no option '" + key + "'; there are " + String.join(", ", KEYS));
            }
            if (equals < 0 || equals == option.length() - 1) {
                throw new IllegalArgumentException("the option '" + key + "' needs a value, as in " + key
                        + (key.equals(PORT) || key.equals(AB) ? "=1" : "=FILE"));
            }
            if (values.put(key, option.substring(equals + 1)) != null) {
                throw new IllegalArgumentException("the option '" + key + "' is given twice");
            }
        }
        if (values.containsKey("trace") && values.containsKey(SLOW)) {
            throw new IllegalArgumentException(
                    "the option 'slow' excludes 'trace': a timeline holds chosen steps, or all");
        }
        Path runFile = runFile(environment);
        refuseSameFile(values, runFile);
        if (runFile != null) {
            values.putIfAbsent("out", runFile.toString());
        }
        String port = values.get(PORT);
        String seed = values.get(AB);
        return new AgentOptions(
                path(values, "rules"),
                path(values, "out"),
                path(values, "html"),
                path(values, "trace"),
                path(values, SLOW),
                path(values, "snapshot"),
                port == null ? OptionalInt.empty() : OptionalInt.of((int) number(PORT, port, LAST_PORT)),
                seed == null ? OptionalLong.empty() : OptionalLong.of(number(AB, seed, Long.MAX_VALUE)));
    }

    /** Returns the file for the timeline, of all steps or of the slowest; null without one. */
    @Nullable
    Path timeline() {
        return trace == null ? slow : trace;
    }

    /** Returns the file in which {@code brick run} expects the profile, beside {@code out}; null without it. */
    static @Nullable Path runFile(Map<String, String> environment) {
        String variable = Settings.value(environment::get, OUT_VARIABLE);
        return variable == null ? null : Path.of(variable);
    }

    /** Refuses two options with the same file: the report written last would overwrite the other one, or the rules. */
    private static void refuseSameFile(Map<String, String> values, @Nullable Path runFile) {
        Map<Path, String> names = new HashMap<>();
        if (runFile != null && !values.containsKey("out")) {
            names.put(real(runFile), OUT_VARIABLE + "=" + runFile);
        }
        for (String key : List.of("rules", "out", "html", "trace", SLOW, "snapshot")) {
            String value = values.get(key);
            String name = key + "=" + value;
            String other = value == null ? null : names.put(real(Path.of(value)), name);
            if (other != null) {
                throw new IllegalArgumentException(
                        other + " and " + name + " are one file; each needs a file of its own");
            }
        }
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

    private static @Nullable Path path(Map<String, String> values, String key) {
        String value = values.get(key);
        return value == null ? null : Path.of(value);
    }

    private static long number(String key, String value, long largest) {
        if (value.matches("\\d{1,18}") && Long.parseLong(value) <= largest) {
            return Long.parseLong(value);
        }
        throw new IllegalArgumentException(
                key + "=" + value + " is not a whole number" + (largest == LAST_PORT ? " from 0 to " + largest : ""));
    }
}
