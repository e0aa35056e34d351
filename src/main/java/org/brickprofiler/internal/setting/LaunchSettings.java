package org.brickprofiler.internal.setting;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the identity of a run from the settings and the launcher of the process. A wrong value is reported and left
 * out: a profiler must not keep its host from starting. One thread.
 *
 * <p>The variables of one launcher are used together or not at all. {@code srun} starts {@code torchrun}, which starts
 * the ranks: {@code SLURM_PROCID} is then the number of a host, and combining it with {@code WORLD_SIZE} would give two
 * processes one rank.
 */
public final class LaunchSettings {

    /**
     * Linux keeps this up to date, unlike a variable that launchers pass on from the host on which they were called.
     */
    private static final Path LINUX_HOST = Path.of("/proc/sys/kernel/hostname");

    private static final DateTimeFormatter MOMENT =
            DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);

    /** The variables of a launcher. */
    private record Launcher(String rank, String worldSize, String localRank) {}

    /** The innermost launcher first: it is often started by the next one. */
    private static final List<Launcher> LAUNCHERS = List.of(
            new Launcher("RANK", "WORLD_SIZE", "LOCAL_RANK"),
            new Launcher("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
            new Launcher("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"));

    /**
     * The values that were found. A rank is below the world size.
     *
     * @param runId the id of the run
     * @param ranks the numbers of the process
     * @param host name of the host
     * @param device name of the device that computes
     * @param model name of the model
     * @param precision precision of the weights or the computation
     * @param commit commit of the code
     * @param phase phase of the run
     */
    public record Found(
            String runId,
            Ranks ranks,
            Optional<String> host,
            Optional<String> device,
            Optional<String> model,
            Optional<String> precision,
            Optional<String> commit,
            Optional<String> phase) {}

    /**
     * The numbers of a process.
     *
     * @param rank number of the process among those of the run, 0 or more
     * @param worldSize how many processes the run has
     * @param localRank number of the process among those of the run on its host, 0 or more
     */
    public record Ranks(OptionalInt rank, OptionalInt worldSize, OptionalInt localRank) {}

    private final Settings.Place properties;
    private final Settings.Place environment;
    private final Consumer<String> faults;

    /** A number, and the setting that contains it. */
    private record NamedNumber(int value, String where) {}

    /**
     * Makes a reader.
     *
     * @param properties the system properties
     * @param environment the environment variables
     * @param faults receives a sentence about each wrong value
     */
    public LaunchSettings(Settings.Place properties, Settings.Place environment, Consumer<String> faults) {
        this.properties = properties;
        this.environment = environment;
        this.faults = faults;
    }

    /**
     * Reads the values.
     *
     * @return the values, each from the first source that has it
     */
    public Found read() {
        Launcher launcher = launcher();
        NamedNumber rank = number("rank", launcher == null ? null : launcher.rank);
        NamedNumber worldSize = number("world_size", launcher == null ? null : launcher.worldSize);
        NamedNumber localRank = number("local_rank", launcher == null ? null : launcher.localRank);
        if (worldSize != null && rank != null && rank.value >= worldSize.value) {
            faults.accept(worldSize.where + " is not above " + rank.where + ": the world size is left out");
            worldSize = null;
        }
        if (worldSize != null && localRank != null && localRank.value >= worldSize.value) {
            faults.accept(localRank.where + " is not below " + worldSize.where + ": the local rank is left out");
            localRank = null;
        }
        return new Found(
                text("run_id").orElseGet(this::runId),
                new Ranks(optional(rank), optional(worldSize), optional(localRank)),
                text("host").or(this::hostName),
                text("device"),
                text("model"),
                text("precision"),
                text("commit"),
                text("phase"));
    }

    private static OptionalInt optional(@Nullable NamedNumber number) {
        return number == null ? OptionalInt.empty() : OptionalInt.of(number.value);
    }

    /** Returns the launcher that takes precedence over the others; null if there is none. */
    private @Nullable Launcher launcher() {
        Launcher first = null;
        for (Launcher each : LAUNCHERS) {
            String rank = variable(each.rank);
            if (rank == null) {
                continue;
            }
            if (first == null) {
                first = each;
            } else if (!rank.equals(variable(first.rank)) && isOfOneSize(first, each)) {
                // Launchers with different world sizes count different processes: for example, one starts the other on
                // each host.
                faults.accept(first.rank + "=" + variable(first.rank) + " and " + each.rank + "=" + rank
                        + " contradict each other, both of " + variable(each.worldSize) + ": " + first.rank
                        + " counts");
            }
        }
        return first;
    }

    private boolean isOfOneSize(Launcher one, Launcher two) {
        String size = variable(one.worldSize);
        return size != null && size.equals(variable(two.worldSize));
    }

    private Optional<String> text(String key) {
        String property = value(properties, Settings.property(key));
        return Optional.ofNullable(property != null ? property : variable(Settings.variable(key)));
    }

    private @Nullable NamedNumber number(String key, @Nullable String launched) {
        NamedNumber number =
                parsed("system property " + Settings.property(key), value(properties, Settings.property(key)));
        if (number == null) {
            number = parsed("environment variable " + Settings.variable(key), variable(Settings.variable(key)));
        }
        if (number == null && launched != null) {
            number = parsed("environment variable " + launched, variable(launched));
        }
        return number;
    }

    private @Nullable NamedNumber parsed(String where, @Nullable String text) {
        if (text == null) {
            return null;
        }
        try {
            int value = Integer.parseInt(text);
            if (value >= 0) {
                return new NamedNumber(value, where + "=" + text);
            }
        } catch (NumberFormatException noNumber) {
            // Reported below, like a negative number.
        }
        faults.accept(where + "=" + text + " is not a whole number of 0 or more: left out");
        return null;
    }

    private String runId() {
        String torch = variable("TORCHELASTIC_RUN_ID");
        if (torch != null && !torch.equals("none")) {
            return torch;
        }
        String processes = variable("PMIX_NAMESPACE");
        if (processes != null) {
            return processes;
        }
        String job = variable("SLURM_JOB_ID");
        if (job != null) {
            String step = variable("SLURM_STEP_ID");
            return step == null ? job : job + "." + step;
        }
        return MOMENT.format(Instant.now()) + "-" + ProcessHandle.current().pid() + "-"
                + Integer.toHexString(ThreadLocalRandom.current().nextInt());
    }

    /** Returns the host's name without resolving an address, which might query a network. */
    private Optional<String> hostName() {
        try {
            String name = Files.readString(LINUX_HOST, StandardCharsets.UTF_8).strip();
            if (!name.isEmpty()) {
                return Optional.of(name);
            }
        } catch (IOException | SecurityException notLinux) {
            // Other systems have a variable.
        }
        String name = variable("HOSTNAME");
        return Optional.ofNullable(name != null ? name : variable("COMPUTERNAME"));
    }

    private @Nullable String variable(String name) {
        return value(environment, name);
    }

    private static @Nullable String value(Settings.Place place, String name) {
        String value = Settings.value(place, name);
        return value == null ? null : value.strip();
    }
}
