package org.brickprofiler.console;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunFacts;
import org.brickprofiler.compare.Run;
import org.jspecify.annotations.Nullable;

/**
 * Watches the machine for disturbances while this process works, or waits for a child process. It reads Linux's
 * {@code /proc} (proc(5)) and {@code /sys} (the kernel's documentation of hwmon and of thermal zones); on other systems
 * it detects nothing. Not thread-safe.
 */
public final class MachineWatch {

    /** The folder that contains {@code proc} and {@code sys}. */
    public static final Path ROOT = Path.of("/");

    /** The highest steal time of a quiet host, % of the processors' time. */
    private static final double MOST_STEAL_PERCENT = 1;

    /** The highest use by other processes on an idle desktop, % of the processors' time. */
    private static final double MOST_OTHERS_PERCENT = 10;

    /** The temperature at which processors begin to throttle. */
    private static final double HOT_CELSIUS = 95;

    /** The ratio to the highest frequency of all runs, below which a run counts as throttled. */
    private static final double SLOWED = 0.95;

    private static final String STEAL_PERCENT = "steal_pct";
    private static final String OTHERS_PERCENT = "other_processes_pct";
    private static final String LOAD = "load_1min";
    private static final String CELSIUS = "celsius";
    private static final String MEGAHERTZ = "mhz";

    private static final double MILLIDEGREES = 1e3;

    private static final int STEAL = 7;

    /** The number of fields that are read. Later fields, such as memory limits, may not fit a {@code long}. */
    private static final int FIELDS = 14;

    /** The indices of the idle time and of the time waiting for I/O. */
    private static final List<Integer> REST = List.of(3, 4);

    private final Path root;
    private final long[] machineBefore;
    private final long ownBefore;

    private MachineWatch(Path root) {
        this.root = root;
        machineBefore = machineTicks();
        ownBefore = ownTicks();
    }

    /**
     * Begins to watch.
     *
     * @param root the folder with {@code proc} and {@code sys}: {@link #ROOT}, except in tests
     * @return the watch
     */
    public static MachineWatch begin(Path root) {
        return new MachineWatch(root);
    }

    /**
     * Ends watching and adds the disturbances to the facts of the run; they replace those of another watch, such as one
     * of the child process itself. Call it after waiting for a child process.
     *
     * @param known the facts of the run so far
     * @return the facts with the figures of the machine
     */
    public RunFacts seen(RunFacts known) {
        Map<String, Double> figures = new TreeMap<>(known.machine());
        figures.putAll(shares());
        put(figures, LOAD, first(firstLine("proc/loadavg")));
        put(figures, CELSIUS, celsius());
        put(figures, MEGAHERTZ, megahertz());
        List<String> disturbances = new ArrayList<>(known.disturbances());
        disturbances.removeAll(remarks(known.machine()));
        disturbances.addAll(remarks(figures));
        return known.withMachine(figures, disturbances);
    }

    /** Returns the remarks on the figures of a machine. */
    private static List<String> remarks(Map<String, Double> figures) {
        List<String> found = new ArrayList<>();
        add(found, "steal %.0f %%", figures.get(STEAL_PERCENT), MOST_STEAL_PERCENT);
        add(found, "other processes %.0f %%", figures.get(OTHERS_PERCENT), MOST_OTHERS_PERCENT);
        add(found, "%.0f degrees Celsius", figures.get(CELSIUS), HOT_CELSIUS);
        return found;
    }

    private static void put(Map<String, Double> figures, String name, OptionalDouble value) {
        if (value.isPresent() && value.getAsDouble() >= 0) {
            figures.put(name, value.getAsDouble());
        }
    }

    private static void add(List<String> found, String remark, @Nullable Double value, double most) {
        if (value != null && value > most) {
            found.add(String.format(Locale.ROOT, remark, value));
        }
    }

    private Map<String, Double> shares() {
        long[] machine = machineTicks();
        if (machine.length <= STEAL || machineBefore.length <= STEAL) {
            return Map.of();
        }
        long[] used = new long[STEAL + 1];
        Arrays.setAll(used, field -> machine[field] - machineBefore[field]);
        long all = LongStream.of(used).sum();
        if (all <= 0) {
            return Map.of();
        }
        long busy = all
                - used[STEAL]
                - REST.stream().mapToLong(field -> used[field]).sum();
        long others = busy - (ownTicks() - ownBefore);
        return Map.of(
                STEAL_PERCENT,
                Math.max(0, 100.0 * used[STEAL] / all),
                OTHERS_PERCENT,
                Math.max(0, 100.0 * others / all));
    }

    /**
     * Returns the processors' ticks: user, nice, system, idle, iowait, irq, softirq, steal; empty if they are unknown.
     */
    private long[] machineTicks() {
        return numbers(firstLine("proc/stat").replaceFirst("^cpu +", ""));
    }

    /** Returns the ticks of this process and of its descendants that have ended and been waited for. */
    private long ownTicks() {
        // The program's name, in parentheses, may contain blanks.
        long[] fields = numbers(firstLine("proc/self/stat").replaceFirst("^.*\\) \\S ", ""));
        // utime, stime, cutime, cstime: fields 14 to 17, of which the first three are cut off.
        return fields.length < 14 ? 0 : fields[10] + fields[11] + fields[12] + fields[13];
    }

    /** Returns the processors' current mean frequency, MHz; empty if the system reports none. */
    private OptionalDouble megahertz() {
        try {
            return Files.readAllLines(root.resolve("proc/cpuinfo")).stream()
                    .filter(line -> line.startsWith("cpu MHz"))
                    .mapToDouble(line -> Double.parseDouble(
                            line.substring(line.indexOf(':') + 1).strip()))
                    .average();
        } catch (IOException | IllegalArgumentException notKnown) {
            return OptionalDouble.empty();
        }
    }

    /** Returns the current temperature of the hottest sensor, degrees Celsius; empty if the system reports none. */
    private OptionalDouble celsius() {
        return Stream.concat(
                        readings("sys/class/thermal", "thermal_zone*", "temp"),
                        readings("sys/class/hwmon", "hwmon*", "temp*_input"))
                .mapToDouble(millidegrees -> millidegrees / MILLIDEGREES)
                .max();
    }

    private Stream<Double> readings(String folder, String devices, String files) {
        List<Double> found = new ArrayList<>();
        for (Path device : matching(root.resolve(folder), devices)) {
            for (Path file : matching(device, files)) {
                first(firstLine(root.relativize(file).toString())).ifPresent(found::add);
            }
        }
        return found.stream();
    }

    private static List<Path> matching(Path folder, String pattern) {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, pattern)) {
            entries.forEach(found::add);
        } catch (IOException notKnown) {
            // Many systems report none.
        }
        return found;
    }

    private String firstLine(String file) {
        try {
            List<String> lines = Files.readAllLines(root.resolve(file));
            return lines.isEmpty() ? "" : lines.get(0);
        } catch (IOException notKnown) {
            return "";
        }
    }

    /** Returns the first of the numbers in a line. */
    private static OptionalDouble first(String line) {
        try {
            return line.isBlank()
                    ? OptionalDouble.empty()
                    : OptionalDouble.of(Double.parseDouble(line.strip().split(" +", 2)[0]));
        } catch (NumberFormatException notKnown) {
            return OptionalDouble.empty();
        }
    }

    private static long[] numbers(String text) {
        try {
            return text.isBlank()
                    ? new long[0]
                    : Arrays.stream(text.strip().split(" +"))
                            .limit(FIELDS)
                            .mapToLong(Long::parseLong)
                            .toArray();
        } catch (NumberFormatException notKnown) {
            return new long[0];
        }
    }

    // ---- disturbances that show only in comparison with other runs ----

    /**
     * Returns the runs of a side; a run is marked as disturbed if its processor frequency is well below the highest of
     * both sides.
     *
     * @param side the runs of a side
     * @param other the runs of the other side
     * @return the runs of the side
     */
    public static List<Run> marked(List<Run> side, List<Run> other) {
        double usual = Stream.concat(side.stream(), other.stream())
                .mapToDouble(run -> megahertz(run.snapshot()))
                .max()
                .orElse(0);
        return side.stream().map(run -> marked(run, usual)).toList();
    }

    private static double megahertz(ProfileSnapshot snapshot) {
        return snapshot.facts().machine().getOrDefault(MEGAHERTZ, 0.0);
    }

    private static Run marked(Run run, double usual) {
        double own = megahertz(run.snapshot());
        if (own == 0 || own >= SLOWED * usual) {
            return run;
        }
        List<String> all = new ArrayList<>(run.disturbances());
        all.add(String.format(Locale.ROOT, "%.0f MHz", own));
        return new Run(run.name(), run.snapshot(), run.tokensPerSec(), all);
    }
}
