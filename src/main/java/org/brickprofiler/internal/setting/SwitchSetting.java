package org.brickprofiler.internal.setting;

import java.util.Locale;
import org.brickprofiler.internal.base.Log;
import org.jspecify.annotations.Nullable;

/**
 * Whether a feature is available in a virtual machine, and the setting that decided this. A system property precedes an
 * environment variable; if neither is set, the feature is available. An invalid value is logged as a warning and counts
 * as absent: a profiler must not keep its host from starting. No lambdas here: the first lambda takes longer than the
 * rest of the start.
 *
 * @param on whether the feature is available
 * @param reason the deciding setting, for a message
 */
public record SwitchSetting(boolean on, String reason) {

    static final String PROPERTY = "brick.profiler";
    static final String VARIABLE = "BRICK_PROFILER";

    /** The setting of the profiler as a whole; read once. */
    private static final class Profiler {
        static final SwitchSetting SETTING = of(PROPERTY, VARIABLE);

        static {
            if (!SETTING.on) {
                Log.of(SwitchSetting.class).warn("the profiler stays off: {}", SETTING.reason);
            }
        }
    }

    /**
     * Returns the switch for all recording. If the switch is off, the first call logs a warning.
     *
     * @return the same object each time
     */
    public static SwitchSetting ofProfiler() {
        return Profiler.SETTING;
    }

    /**
     * Reads both settings.
     *
     * @param property the name of the system property
     * @param variable the name of the environment variable
     * @return the result
     */
    public static SwitchSetting of(String property, String variable) {
        return read(property, variable, Settings.PROPERTIES, Settings.ENVIRONMENT);
    }

    /**
     * Returns whether a feature is on.
     *
     * @param property the name of the system property
     * @param variable the name of the environment variable
     * @param isUsuallyOn whether it is on if neither of them is set
     * @return the choice of the first of them that is set
     */
    public static boolean isOn(String property, String variable, boolean isUsuallyOn) {
        SwitchSetting setting = find(property, variable, Settings.PROPERTIES, Settings.ENVIRONMENT);
        return setting == null ? isUsuallyOn : setting.on;
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
                Log.of(SwitchSetting.class).warn("{} is neither true, on, 1 nor false, off, 0: ignored", reason);
                yield null;
            }
        };
    }
}
