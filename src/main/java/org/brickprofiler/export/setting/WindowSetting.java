package org.brickprofiler.export.setting;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.export.WindowExport;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.internal.record.SettingAction;
import org.brickprofiler.internal.setting.Settings;
import org.jspecify.annotations.Nullable;

/**
 * Exports the windows of the first profiler that is switched on: see {@link BrickProfiler#enable}. A failure is logged
 * once. Any thread.
 */
public final class WindowSetting extends SettingAction {

    private static final Pattern LENGTH = Pattern.compile("(\\d{1,12})\\s*(ms|s|min|steps?)");

    /** The default length; it also replaces an invalid one. */
    public static final Length USUAL = new Length(Duration.ofSeconds(10), 0);

    private final AtomicBoolean started = new AtomicBoolean();

    /**
     * The length of a window.
     *
     * @param time the time; zero if steps end the window
     * @param steps the number of steps; 0 if time ends the window
     */
    public record Length(Duration time, long steps) {}

    /** Creates the action, for the service loader. */
    public WindowSetting() {
        super(EXPORT);
    }

    @Override
    protected void enabled(Object profiler, String folder, boolean records) {
        if (!records || !started.compareAndSet(false, true)) {
            return;
        }
        Length length = length(Settings.ofProfiler("export_every"));
        try {
            if (length.steps > 0) {
                WindowExport.start((BrickProfiler) profiler, length.steps, Path.of(folder));
            } else {
                WindowExport.start((BrickProfiler) profiler, length.time, Path.of(folder));
            }
        } catch (InvalidPathException | IllegalStateException e) {
            warn("no window is written to '" + folder + "': " + e.getMessage());
        }
    }

    /**
     * Reads the setting of the length. An invalid value is logged.
     *
     * @param text the value of {@code export_every}; null if it is not set
     * @return the length; {@link #USUAL} if the value is missing or invalid
     */
    public static Length length(@Nullable String text) {
        if (text == null) {
            return USUAL;
        }
        Matcher parts = LENGTH.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (parts.matches()) {
            long number = Long.parseLong(parts.group(1));
            Length length =
                    switch (parts.group(2)) {
                        case "ms" -> new Length(Duration.ofMillis(number), 0);
                        case "s" -> new Length(Duration.ofSeconds(number), 0);
                        case "min" -> new Length(Duration.ofMinutes(number), 0);
                        default -> new Length(Duration.ZERO, number);
                    };
            if (length.steps > 0 || length.time.compareTo(WindowExport.SHORTEST) >= 0) {
                return length;
            }
        }
        warn("export_every '" + text + "': expected 100 ms or more, or 1 step or more, such as 10 s or 100 steps; using"
                + " windows of 10 s");
        return USUAL;
    }

    private static void warn(String fault) {
        Log.of(WindowExport.class).warn("{}", fault);
    }
}
