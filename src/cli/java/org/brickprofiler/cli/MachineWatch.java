package org.brickprofiler.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.stream.LongStream;

/**
 * What the machine did besides, while a process ran that this one started and waited for. Read from Linux's {@code /proc}
 * (proc(5)); elsewhere nothing is seen. One thread.
 */
final class MachineWatch {

    /** Of the processors' time: more was taken by other virtual machines than a quiet host takes. */
    private static final double MOST_STEAL_PERCENT = 1;

    /** Of the processors' time: more was used by other processes than a desktop at rest uses. */
    private static final double MOST_OTHERS_PERCENT = 10;

    /** A frequency that much lower than the usual one of the runs is another machine. */
    static final double SLOWED = 0.95;

    private static final int STEAL = 7;

    /** Idle time, and time waiting for a disk. */
    private static final List<Integer> REST = List.of(3, 4);

    private final Path proc;
    private final long[] machineBefore;
    private final long ownBefore;

    private MachineWatch(Path proc) {
        this.proc = proc;
        machineBefore = machineTicks();
        ownBefore = ownTicks();
    }

    /**
     * Begins to watch.
     *
     * @param proc where the system's figures are, {@code /proc} but for tests
     */
    static MachineWatch begin(Path proc) {
        return new MachineWatch(proc);
    }

    /**
     * Ends watching, once the process was waited for.
     *
     * @return what disturbed it, a remark each; empty where nothing did or nothing is known
     */
    List<String> disturbances() {
        long[] machine = machineTicks();
        List<String> found = new ArrayList<>();
        if (machine.length <= STEAL || machineBefore.length <= STEAL) {
            return found;
        }
        long[] used = new long[STEAL + 1];
        Arrays.setAll(used, field -> machine[field] - machineBefore[field]);
        long all = LongStream.of(used).sum();
        if (all <= 0) {
            return found;
        }
        add(found, "steal", 100.0 * used[STEAL] / all, MOST_STEAL_PERCENT);
        long busy = all - used[STEAL] - REST.stream().mapToLong(field -> used[field]).sum();
        add(found, "other processes", 100.0 * (busy - (ownTicks() - ownBefore)) / all, MOST_OTHERS_PERCENT);
        return found;
    }

    private static void add(List<String> found, String what, double percent, double most) {
        if (percent > most) {
            found.add(String.format(Locale.ROOT, "%s %.0f %%", what, percent));
        }
    }

    /** The processors' ticks: user, nice, system, idle, iowait, irq, softirq, steal; empty where they are not known. */
    private long[] machineTicks() {
        return numbers(firstLine("stat").replaceFirst("^cpu +", ""));
    }

    /** The ticks of this process and of all that it has waited for, which includes what those have waited for. */
    private long ownTicks() {
        // The name of the program, in parentheses, may hold blanks.
        long[] fields = numbers(firstLine("self/stat").replaceFirst("^.*\\) \\S ", ""));
        // utime, stime, cutime, cstime: fields 14 to 17, of which the first three are cut off.
        return fields.length < 14 ? 0 : fields[10] + fields[11] + fields[12] + fields[13];
    }

    /** The processors' mean frequency now, MHz, where the system reports one. */
    OptionalDouble megahertz() {
        try {
            return Files.readAllLines(proc.resolve("cpuinfo")).stream()
                    .filter(line -> line.startsWith("cpu MHz"))
                    .mapToDouble(line -> Double.parseDouble(line.substring(line.indexOf(':') + 1).strip()))
                    .average();
        } catch (IOException | IllegalArgumentException notKnown) {
            return OptionalDouble.empty();
        }
    }

    private String firstLine(String file) {
        try {
            List<String> lines = Files.readAllLines(proc.resolve(file));
            return lines.isEmpty() ? "" : lines.get(0);
        } catch (IOException notKnown) {
            return "";
        }
    }

    private static long[] numbers(String text) {
        try {
            return text.isBlank()
                    ? new long[0]
                    : Arrays.stream(text.strip().split(" +")).mapToLong(Long::parseLong).toArray();
        } catch (NumberFormatException notKnown) {
            return new long[0];
        }
    }
}
