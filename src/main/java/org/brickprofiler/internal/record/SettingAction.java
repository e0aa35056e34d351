package org.brickprofiler.internal.record;

import java.nio.file.InvalidPathException;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.internal.setting.KnownSettings;
import org.brickprofiler.internal.setting.Settings;
import org.brickprofiler.internal.setting.SwitchSetting;
import org.jspecify.annotations.Nullable;

/**
 * Lets an outer package act on profilers because a setting asks for it: the system property {@code brick.profiler.KEY},
 * otherwise the environment variable {@code BRICK_PROFILER_KEY}. {@link ServiceLoader} finds the actions, once in a
 * virtual machine, and only if such a setting is set. An action logs a fault and then does nothing: a profiler must not
 * keep its host from starting. No lambdas here: creating the first lambda of a virtual machine takes longer than
 * creating a profiler. Any thread.
 */
public abstract class SettingAction {

    /** The key of the setting that names the file of a timeline. */
    public static final String TRACE = "trace";

    /** The key of the setting that records the lines of bricks. */
    public static final String LINES = "lines";

    /** The key of the setting that names the file of the process's profile. */
    public static final String OUT = "out";

    /** The key of the setting that names the folder of the windows. */
    public static final String EXPORT = "export";

    /** The key of the setting that shows bricks to a tool as ranges of NVTX. */
    public static final String NVTX = "nvtx";

    private final List<String> keys;

    /**
     * Creates an action. The service loader calls a constructor without parameters.
     *
     * @param keys the settings on which it acts, of the keys above
     */
    protected SettingAction(String... keys) {
        this.keys = List.of(keys);
    }

    /**
     * Creates the sink of all profilers that are given none, for {@link #TRACE} and {@link #LINES} alone. Called again,
     * without the file, if lines are to be kept and the file is refused.
     *
     * @param file the value of {@link #TRACE}; null if it is not set
     * @param lines whether {@link #LINES} is on
     * @return the sink; null if the action creates none
     * @throws IllegalArgumentException when the file cannot be used, before anything was begun; the message has the
     *     reason
     */
    protected @Nullable SpanSink open(@Nullable String file, boolean lines) {
        return null;
    }

    /**
     * Creates the ranges of a profiler. Called for each profiler, for {@link #NVTX} alone.
     *
     * @param names the names of the profiler's keys
     * @return its ranges; null if no tool wants any
     */
    protected @Nullable BrickRanges createRanges(SpanSink.Names names) {
        return null;
    }

    /**
     * Acts on a profiler that is switched on. Called each time that a profiler is switched on.
     *
     * @param profiler the profiler
     * @param value the value of the setting
     * @param records false if {@code BRICK_PROFILER=off} keeps the profiler from recording
     */
    protected void enabled(Object profiler, String value, boolean records) {}

    /**
     * Returns the sink of the profilers that are given none.
     *
     * @return the same sink each time; null if the settings ask for neither a timeline nor lines
     */
    public static @Nullable SpanSink sink() {
        return Sink.OF_SETTING;
    }

    /**
     * Returns whether the setting {@link #LINES} asks for the lines of bricks.
     *
     * @return false if {@code BRICK_PROFILER=off} keeps all profilers from recording
     */
    public static boolean wantsLines() {
        return SwitchSetting.isOn("brick.profiler.lines", "BRICK_PROFILER_LINES", false)
                && SwitchSetting.ofProfiler().on();
    }

    /**
     * Creates the ranges of a profiler that is to have some.
     *
     * @param names the names of the profiler's keys
     * @return its ranges; null if no tool wants any, or the artifact is missing, which is logged once
     */
    public static @Nullable BrickRanges ranges(SpanSink.Names names) {
        SettingAction action = Ranges.ACTION;
        return action == null ? null : action.createRanges(names);
    }

    /**
     * Runs the actions of the settings that are set.
     *
     * @param profiler a profiler that is switched on
     * @param records false if {@code BRICK_PROFILER=off} keeps the profiler from recording
     */
    public static void runAll(Object profiler, boolean records) {
        for (Found each : WhenEnabled.ACTIONS) {
            each.action.enabled(profiler, each.value, records);
        }
    }

    /** An action and the value of its setting. */
    private record Found(SettingAction action, String value) {}

    private static final class Sink {
        static final @Nullable SpanSink OF_SETTING = open(Settings.ofProfiler(TRACE), wantsLines(), load());
    }

    private static final class Ranges {
        static final @Nullable SettingAction ACTION = find(NVTX, "on", load());
    }

    private static final class WhenEnabled {
        static final List<Found> ACTIONS = new ArrayList<>();

        static {
            KnownSettings.warn();
            for (String key : List.of(OUT, EXPORT)) {
                String value = Settings.ofProfiler(key);
                SettingAction action = find(key, value, load());
                if (action != null && value != null) {
                    ACTIONS.add(new Found(action, value));
                }
            }
        }
    }

    /** Returns the actions, whose classes are loaded lazily. */
    private static Iterable<SettingAction> load() {
        return ServiceLoader.load(SettingAction.class, SettingAction.class.getClassLoader());
    }

    static @Nullable SpanSink open(@Nullable String file, boolean lines, Iterable<SettingAction> actions) {
        SettingAction ofFile = find(TRACE, file, actions);
        SettingAction ofLines = find(LINES, lines ? "on" : null, actions);
        if (ofFile != null) {
            try {
                return ofFile.open(file, lines);
            } catch (IllegalArgumentException refused) {
                String reason = refused instanceof InvalidPathException ? "it is not a path" : refused.getMessage();
                Log.of(SettingAction.class).warn("no timeline goes to '{}': {}", file, reason);
            }
        }
        return ofLines == null ? null : ofLines.open(null, true);
    }

    /**
     * Finds the action of a setting. Returns null if the setting is not set. If there is no action, logs a warning and
     * returns null.
     */
    static @Nullable SettingAction find(String key, @Nullable String value, Iterable<SettingAction> actions) {
        if (value == null || value.isBlank()) {
            return null;
        }
        String reason = KnownSettings.missing(KnownSettings.artifact(key))
                + ". A jar that bundles it must keep its META-INF/services";
        try {
            for (SettingAction each : actions) {
                if (each.keys.contains(key)) {
                    return each;
                }
            }
        } catch (ServiceConfigurationError damaged) {
            reason = damaged.getMessage();
        }
        Log.of(SettingAction.class).warn("the setting brick.profiler.{}={} has no effect: {}", key, value, reason);
        return null;
    }
}
