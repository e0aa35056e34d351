package org.brickprofiler;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.internal.io.Settings;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Whether a profiler exports its windows although the application does not say so: see {@link BrickProfiler#enable}.
 * What is wrong is logged once: a profiler must not keep its host from starting. Any thread.
 */
final class ExportSetting {

    static final long USUAL_BYTES = 256L << 20;

    private static final @Nullable String FOLDER = Settings.ofProfiler("export");
    private static final AtomicBoolean STARTED = new AtomicBoolean();

    private ExportSetting() {}

    /** Begins the export of the virtual machine's first profiler, where there is to be one. */
    static void startOnce(BrickProfiler profiler) {
        if (FOLDER == null || !STARTED.compareAndSet(false, true)) {
            return;
        }
        try {
            WindowExport.start(profiler, every(Settings.ofProfiler("export_every")), Path.of(FOLDER));
        } catch (InvalidPathException | IllegalStateException e) {
            warn("no windows go to '" + FOLDER + "': " + e.getMessage());
        }
    }

    static WindowExport.Every every(@Nullable String text) {
        if (text == null) {
            return usual();
        }
        Matcher parts = Pattern.compile("(\\d{1,12})\\s*(ms|s|min|steps?)")
                .matcher(text.strip().toLowerCase(Locale.ROOT));
        try {
            if (parts.matches()) {
                long number = Long.parseLong(parts.group(1));
                return switch (parts.group(2)) {
                    case "ms" -> WindowExport.Every.time(Duration.ofMillis(number));
                    case "s" -> WindowExport.Every.time(Duration.ofSeconds(number));
                    case "min" -> WindowExport.Every.time(Duration.ofMinutes(number));
                    default -> WindowExport.Every.steps(number);
                };
            }
        } catch (IllegalArgumentException tooFew) {
            // Reported below.
        }
        warn("windows of '" + text
                + "' are neither of 100 ms or more nor of 1 step or more, such as 10 s or 100 steps: they"
                + " are of 10 s");
        return usual();
    }

    private static WindowExport.Every usual() {
        return WindowExport.Every.time(Duration.ofSeconds(10));
    }

    static long maxBytes() {
        String megabytes = Settings.ofProfiler("export_mb");
        if (megabytes == null) {
            return USUAL_BYTES;
        }
        try {
            long number = Integer.parseInt(megabytes.strip());
            if (number > 0) {
                return number << 20;
            }
        } catch (NumberFormatException noNumber) {
            // Reported below.
        }
        warn("windows within '" + megabytes + "' megabytes: that is no whole number above 0, and they stay within 256");
        return USUAL_BYTES;
    }

    private static void warn(String fault) {
        LoggerFactory.getLogger(WindowExport.class).warn("{}", fault);
    }
}
