package org.brickprofiler.internal.io;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Whether something is to be had in a virtual machine, and who decided. A system property comes before an environment
 * variable; if neither is set, it is. A value of another meaning is warned of and then counts as absent: a profiler
 * must not keep its host from starting. No lambdas here, the first of which takes longer than all the rest of a start.
 *
 * @param on whether it is to be had
 * @param reason what decided that, for a message
 */
public record SwitchSetting(boolean on, String reason) {

    static final String PROPERTY = "brick.profiler";
    static final String VARIABLE = "BRICK_PROFILER";

    /** Of the profiler as a whole; read once. */
    private static final class Profiler {
        static final SwitchSetting SETTING = of(PROPERTY, VARIABLE);

        static {
            if (!SETTING.on) {
                LoggerFactory.getLogger(SwitchSetting.class).warn("the profiler stays off: {}", SETTING.reason);
            }
        }
    }

    /**
     * Returns the switch for all recording. If it is off, the first call logs this.
     *
     * @return the same object each time
     */
    public static SwitchSetting ofProfiler() {
        return Profiler.SETTING;
    }

    /**
     * Asks both places.
     *
     * @param property the name of the system property
     * @param variable the name of the environment variable
     * @return what they say
     */
    public static SwitchSetting of(String property, String variable) {
        return read(property, variable, Settings.PROPERTIES, Settings.ENVIRONMENT);
    }

    /**
     * Returns whether somebody asks for something that is not to be had otherwise.
     *
     * @param property the name of the system property
     * @param variable the name of the environment variable
     * @return true if the first of them that is set says so
     */
    public static boolean isAskedFor(String property, String variable) {
        SwitchSetting setting = find(property, variable, Settings.PROPERTIES, Settings.ENVIRONMENT);
        return setting != null && setting.on;
    }

    static SwitchSetting read(String property, String variable, Settings.Place properties, Settings.Place environment) {
        SwitchSetting setting = find(property, variable, properties, environment);
        return setting != null
                ? setting
                : new SwitchSetting(true, "neither " + property + " nor " + variable + " is set");
    }

    private static @Nullable SwitchSetting find(
            String property, String variable, Settings.Place properties, Settings.Place environment) {
        SwitchSetting setting = setting("system property", property, properties);
        if (setting == null) {
            setting = setting("environment variable", variable, environment);
        }
        return setting;
    }

    private static @Nullable SwitchSetting setting(String place, String key, Settings.Place values) {
        String value = Settings.value(values, key);
        if (value == null) {
            return null;
        }
        String reason = place + " " + key + "=" + value;
        return switch (value.toLowerCase(Locale.ROOT)) {
            case "true", "on", "1" -> new SwitchSetting(true, reason);
            case "false", "off", "0" -> new SwitchSetting(false, reason);
            default -> {
                LoggerFactory.getLogger(SwitchSetting.class)
                        .warn("{} is neither true, on, 1 nor false, off, 0: ignored", reason);
                yield null;
            }
        };
    }
}
