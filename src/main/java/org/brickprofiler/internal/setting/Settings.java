package org.brickprofiler.internal.setting;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Reads settings from system properties and environment variables. Every setting of the library is read here, so that
 * all follow the same rules: a property precedes a variable, and a value that is blank or that the process may not read
 * counts as not set. No lambdas here: the first lambda takes longer than the rest of the start. Stateless; any thread.
 */
public final class Settings {

    /** A place that settings are read from. */
    @FunctionalInterface
    public interface Place {
        /**
         * Returns the value of a setting.
         *
         * @param name its name
         * @return the value, blank or not; null if it is not set
         * @throws SecurityException when the process may not read it
         */
        @Nullable
        String get(String name);
    }

    /** The system properties of this process. */
    public static final Place PROPERTIES = new Properties();

    /** The environment variables of this process. */
    public static final Place ENVIRONMENT = new Variables();

    /** The beginning of the name of a property of the profiler. */
    static final String PROPERTY = "brick.profiler.";

    /** The beginning of the name of a variable of the profiler. */
    static final String VARIABLE = "BRICK_PROFILER_";

    private Settings() {}

    private static final class Properties implements Place {
        @Override
        public @Nullable String get(String name) {
            return System.getProperty(name);
        }
    }

    private static final class Variables implements Place {
        @Override
        public @Nullable String get(String name) {
            return System.getenv(name);
        }
    }

    /**
     * Returns the value of a setting of this process.
     *
     * @param property the name of the system property, which comes first
     * @param variable the name of the environment variable
     * @return the value, not blank, with the white space around it; null if neither is set
     */
    public static @Nullable String value(String property, String variable) {
        return value(property, variable, PROPERTIES, ENVIRONMENT);
    }

    /**
     * Returns the value of a setting of the profiler: the property {@code brick.profiler.KEY}, otherwise the variable
     * {@code BRICK_PROFILER_KEY}.
     *
     * @param key the end of both names, in lower case
     * @return the value, not blank; null if neither is set
     */
    public static @Nullable String ofProfiler(String key) {
        return value(property(key), variable(key));
    }

    /** Returns the name of a setting of the profiler as a system property. */
    static String property(String key) {
        return PROPERTY + key;
    }

    /** Returns the name of a setting of the profiler as an environment variable. */
    static String variable(String key) {
        return VARIABLE + key.replace('.', '_').toUpperCase(Locale.ROOT);
    }

    static @Nullable String value(String property, String variable, Place properties, Place environment) {
        String value = value(properties, property);
        return value == null ? value(environment, variable) : value;
    }

    /**
     * Returns the value of a setting in one place.
     *
     * @param place the place
     * @param name the name of the setting there
     * @return the value, not blank, with the white space around it; null if it is not set
     */
    public static @Nullable String value(Place place, String name) {
        try {
            String value = place.get(name);
            return value == null || value.isBlank() ? null : value;
        } catch (SecurityException forbidden) {
            return null;
        }
    }
}
