package org.brickprofiler.agent;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The text after the agent's jar: {@code rules=bricks.yaml,out=run.json}. Immutable.
 *
 * @param rules the file of rules
 * @param out where the profile goes as JSON; null for nowhere
 * @param html where the page goes; null for nowhere
 * @param trace where the timeline goes; null for nowhere
 * @param snapshot where an agent that runs already shall write what it has as JSON; null for nowhere
 */
record AgentOptions(
        @Nullable Path rules, @Nullable Path out, @Nullable Path html, @Nullable Path trace, @Nullable Path snapshot) {

    /** What {@code brick run} names the file by to which each of its runs writes its profile. */
    static final String OUT_VARIABLE = "BRICK_PROFILER_OUT";

    private static final List<String> KEYS = List.of("rules", "out", "html", "trace", "snapshot");

    /**
     * Reads options.
     *
     * @param text keys and values, separated by commas
     * @param environment the variables of the environment
     * @throws IllegalArgumentException when a key is unknown or twice there, or has no value
     */
    static AgentOptions parse(String text, Map<String, String> environment) {
        Map<String, Path> values = new LinkedHashMap<>();
        for (String option : text.isBlank() ? new String[0] : text.split(",", -1)) {
            int equals = option.indexOf('=');
            String key = equals < 0 ? option : option.substring(0, equals);
            if (!KEYS.contains(key)) {
                throw new IllegalArgumentException(
                        "there is no option '" + key + "'; there are " + String.join(", ", KEYS));
            }
            if (equals < 0 || equals == option.length() - 1) {
                throw new IllegalArgumentException("the option '" + key + "' needs a file, as in " + key + "=FILE");
            }
            if (values.put(key, Path.of(option.substring(equals + 1))) != null) {
                throw new IllegalArgumentException("the option '" + key + "' is there twice");
            }
        }
        String variable = environment.get(OUT_VARIABLE);
        if (variable != null && !variable.isEmpty()) {
            values.putIfAbsent("out", Path.of(variable));
        }
        return new AgentOptions(
                values.get("rules"), values.get("out"), values.get("html"), values.get("trace"), values.get("snapshot"));
    }
}
