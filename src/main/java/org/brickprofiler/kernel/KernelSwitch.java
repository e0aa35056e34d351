package org.brickprofiler.kernel;

import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether a virtual machine has kernel timings at all, and who decided. The system property comes before the
 * environment variable; where neither is set, it has. A value of another meaning is warned of and then counts as
 * absent: a profiler must not keep its host from starting.
 *
 * @param on whether it has
 * @param reason what decided that, for a message
 */
record KernelSwitch(boolean on, String reason) {

    static final String PROPERTY = "brick.profiler.kernels";
    static final String VARIABLE = "BRICK_PROFILER_KERNELS";

    /** A place that settings are read from. */
    @FunctionalInterface
    interface Settings {
        /** The value of a setting, or null where it is not set. */
        @Nullable String get(String name);
    }

    private static final Logger LOG = LoggerFactory.getLogger(KernelSwitch.class);

    /**
     * Asks both places.
     *
     * @param properties the value of a system property, or null
     * @param environment the value of an environment variable, or null
     */
    static KernelSwitch read(Settings properties, Settings environment) {
        return setting("system property", PROPERTY, properties)
                .or(() -> setting("environment variable", VARIABLE, environment))
                .orElseGet(() -> new KernelSwitch(true, "neither " + PROPERTY + " nor " + VARIABLE + " is set"));
    }

    private static Optional<KernelSwitch> setting(String place, String key, Settings values) {
        String value = valueOf(key, values);
        if (value == null || value.isEmpty()) {
            return Optional.empty();
        }
        String reason = place + " " + key + "=" + value;
        return switch (value.toLowerCase(Locale.ROOT)) {
            case "true", "on", "1" -> Optional.of(new KernelSwitch(true, reason));
            case "false", "off", "0" -> Optional.of(new KernelSwitch(false, reason));
            default -> {
                LOG.warn("{} is neither true, on, 1 nor false, off, 0: ignored", reason);
                yield Optional.empty();
            }
        };
    }

    private static @Nullable String valueOf(String key, Settings values) {
        try {
            return values.get(key);
        } catch (SecurityException forbidden) {
            // Not ours to read, so not set.
            return null;
        }
    }
}
