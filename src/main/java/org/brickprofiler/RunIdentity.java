package org.brickprofiler;

import static org.brickprofiler.internal.base.Checks.requireName;
import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongBinaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.internal.setting.LaunchSettings;
import org.brickprofiler.internal.setting.Settings;
import org.jspecify.annotations.Nullable;

/**
 * The identity of a profile: its run, the part of the run, and the code that ran. It distinguishes the profiles of many
 * ranks and runs. Immutable. Unknown values are empty.
 *
 * <p>A profiler takes each value from the first source that has it:
 *
 * <ol>
 *   <li>{@link BrickProfilerBuilder#identity};
 *   <li>the system property {@code brick.profiler.KEY} and then the environment variable {@code BRICK_PROFILER_KEY};
 *       KEY is {@code run_id}, {@code rank}, {@code world_size}, {@code local_rank}, {@code host}, {@code device},
 *       {@code model}, {@code precision}, {@code commit} or {@code phase}, in upper case for the variable;
 *   <li>the launcher, the innermost one: PyTorch's ({@code RANK}, {@code WORLD_SIZE}, {@code LOCAL_RANK}, and
 *       {@code TORCHELASTIC_RUN_ID} unless that is {@code none}), Open MPI's ({@code OMPI_COMM_WORLD_RANK},
 *       {@code OMPI_COMM_WORLD_SIZE}, {@code OMPI_COMM_WORLD_LOCAL_RANK}, {@code PMIX_NAMESPACE}), Slurm's
 *       ({@code SLURM_PROCID}, {@code SLURM_NTASKS}, {@code SLURM_LOCALID}, {@code SLURM_JOB_ID} with
 *       {@code SLURM_STEP_ID}). Ranks are never combined from two launchers, since one launcher often starts the other;
 *       the run's id is that of the first launcher that has one;
 *   <li>the process: the host's name as known to the system without a network; the name of the device if all streams of
 *       the profiler have the same one; the phase of the steps if all have the same one; and a run's id that a virtual
 *       machine makes once from its start time, its process number and a random number.
 * </ol>
 *
 * An impossible value of a setting or launcher, such as a rank beyond the world size, is logged once with its name and
 * ignored.
 *
 * @param runId the id of the run, the same for all its ranks
 * @param rank number of the process among those of the run, 0 or more
 * @param worldSize how many processes the run has, more than the rank
 * @param localRank number of the process among those of the run on its host, 0 or more
 * @param host name of the host
 * @param device name of the device that computes
 * @param model name of the model
 * @param precision precision of the weights or the computation, as the application names it
 * @param commit commit of the code that ran
 * @param phase phase of the run or of this part, such as {@code decode}
 * @param firstStep {@link Step#index} of the first step that ended in the time of the profile
 * @param lastStep {@link Step#index} of the last one, not before the first
 * @param window number of the window, 0 or more; empty if the profile is not a window of an export
 */
public record RunIdentity(
        Optional<String> runId,
        OptionalInt rank,
        OptionalInt worldSize,
        OptionalInt localRank,
        Optional<String> host,
        Optional<String> device,
        Optional<String> model,
        Optional<String> precision,
        Optional<String> commit,
        Optional<String> phase,
        OptionalLong firstStep,
        OptionalLong lastStep,
        OptionalLong window) {

    /** Nothing is known. */
    public static final RunIdentity NONE = builder().build();

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException when a text is empty, a number is negative, a rank is not below the world size,
     *     the last step is before the first, or only one of these two steps is known
     */
    public RunIdentity {
        requireText("runId", runId);
        requireText("host", host);
        requireText("device", device);
        requireText("model", model);
        requireText("precision", precision);
        requireText("commit", commit);
        requireText("phase", phase);
        requireNumber("rank", rank);
        requireNumber("worldSize", worldSize);
        requireNumber("localRank", localRank);
        Objects.requireNonNull(firstStep, "firstStep").ifPresent(step -> requireNotNegative("firstStep", step));
        Objects.requireNonNull(lastStep, "lastStep").ifPresent(step -> requireNotNegative("lastStep", step));
        Objects.requireNonNull(window, "window").ifPresent(number -> requireNotNegative("window", number));
        requireBelow("rank", rank, worldSize);
        requireBelow("localRank", localRank, worldSize);
        if (firstStep.isPresent() != lastStep.isPresent() || lastStep.orElse(0) < firstStep.orElse(0)) {
            throw new IllegalArgumentException("steps " + firstStep + " to " + lastStep
                    + " are not a range: expected both or neither, the first not above the last");
        }
    }

    private static void requireText(String what, Optional<String> text) {
        Objects.requireNonNull(text, what).ifPresent(value -> requireName(what, value));
    }

    private static void requireNumber(String what, OptionalInt number) {
        Objects.requireNonNull(number, what).ifPresent(value -> requireNotNegative(what, value));
    }

    private static void requireBelow(String what, OptionalInt rank, OptionalInt worldSize) {
        if (isBeyond(rank, worldSize)) {
            throw new IllegalArgumentException(
                    what + " " + rank.getAsInt() + " is not below the world size " + worldSize.getAsInt());
        }
    }

    /**
     * Returns a builder.
     *
     * @return a builder in which every value is unknown
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Returns a builder with the values of this identity.
     *
     * @return a builder with these values
     */
    public Builder toBuilder() {
        Builder copy = new Builder();
        copy.runId = runId;
        copy.rank = rank;
        copy.worldSize = worldSize;
        copy.localRank = localRank;
        copy.host = host;
        copy.device = device;
        copy.model = model;
        copy.precision = precision;
        copy.commit = commit;
        copy.phase = phase;
        copy.firstStep = firstStep;
        copy.lastStep = lastStep;
        copy.window = window;
        return copy;
    }

    /**
     * Returns the values that are equal in both. If both are of the same run, it also unites their step ranges.
     *
     * @param other the other identity
     * @return the identity of the merged profiles. Commutative and associative
     */
    public RunIdentity common(RunIdentity other) {
        boolean isOneRun = runId.isPresent() && runId.equals(other.runId);
        Builder common = builder();
        common.runId = alike(runId, other.runId, Optional.empty());
        common.rank = alike(rank, other.rank, OptionalInt.empty());
        common.worldSize = alike(worldSize, other.worldSize, OptionalInt.empty());
        common.localRank = alike(localRank, other.localRank, OptionalInt.empty());
        common.host = alike(host, other.host, Optional.empty());
        common.device = alike(device, other.device, Optional.empty());
        common.model = alike(model, other.model, Optional.empty());
        common.precision = alike(precision, other.precision, Optional.empty());
        common.commit = alike(commit, other.commit, Optional.empty());
        common.phase = alike(phase, other.phase, Optional.empty());
        common.firstStep = isOneRun ? either(firstStep, other.firstStep, Math::min) : OptionalLong.empty();
        common.lastStep = isOneRun ? either(lastStep, other.lastStep, Math::max) : OptionalLong.empty();
        common.window = alike(window, other.window, OptionalLong.empty());
        return common.build();
    }

    private static <T> T alike(T one, T two, T empty) {
        return one.equals(two) ? one : empty;
    }

    private static OptionalLong either(OptionalLong one, OptionalLong two, LongBinaryOperator choice) {
        if (one.isEmpty() || two.isEmpty()) {
            return one.isPresent() ? one : two;
        }
        return OptionalLong.of(choice.applyAsLong(one.getAsLong(), two.getAsLong()));
    }

    /**
     * Describes the identity in one line, for people.
     *
     * @return the known values; empty if none is known
     */
    public String describe() {
        return Stream.of(
                        runId.map(id -> "run " + id).orElse(""),
                        rank.isEmpty()
                                ? ""
                                : "rank " + rank.getAsInt()
                                        + (worldSize.isEmpty() ? "" : " of " + worldSize.getAsInt()),
                        host.map(name -> "on " + name).orElse(""),
                        device.orElse(""),
                        Stream.concat(model.stream(), precision.stream()).collect(Collectors.joining(" ")),
                        commit.map(id -> "commit " + id).orElse(""),
                        phase.orElse(""),
                        firstStep.isEmpty() ? "" : "steps " + firstStep.getAsLong() + " to " + lastStep.getAsLong(),
                        window.isEmpty() ? "" : "window " + window.getAsLong())
                .filter(part -> !part.isEmpty())
                .collect(Collectors.joining(", "));
    }

    // ---- the settings of the process ----

    /** The settings are read when they are first needed, which is later than a profiler's first sample. */
    private static final class OfThisProcess {
        private static final Set<String> REPORTED = ConcurrentHashMap.newKeySet();

        static final RunIdentity IDENTITY =
                of(new LaunchSettings(Settings.PROPERTIES, Settings.ENVIRONMENT, OfThisProcess::reportOnce).read());

        static void reportOnce(String fault) {
            if (REPORTED.add(fault)) {
                Log.of(RunIdentity.class).warn("{}", fault);
            }
        }
    }

    /** Returns the identity that settings and a launcher give. */
    static RunIdentity of(LaunchSettings.Found found) {
        Builder identity = builder();
        identity.runId = Optional.of(found.runId());
        identity.rank = found.ranks().rank();
        identity.worldSize = found.ranks().worldSize();
        identity.localRank = found.ranks().localRank();
        identity.host = found.host();
        identity.device = found.device();
        identity.model = found.model();
        identity.precision = found.precision();
        identity.commit = found.commit();
        identity.phase = found.phase();
        return identity.build();
    }

    /** Completes the identity that an application gives with the settings of this process. */
    static RunIdentity complete(@Nullable RunIdentity given) {
        return complete(given == null ? NONE : given, OfThisProcess.IDENTITY, OfThisProcess::reportOnce);
    }

    static RunIdentity complete(RunIdentity given, RunIdentity found, Consumer<String> faults) {
        OptionalInt worldSize = given.worldSize().isPresent() ? given.worldSize() : found.worldSize();
        OptionalInt rank = given.rank().isPresent() ? given.rank() : found.rank();
        OptionalInt localRank = given.localRank().isPresent() ? given.localRank() : found.localRank();
        if (isBeyond(rank, worldSize) || isBeyond(localRank, worldSize)) {
            faults.accept("rank " + text(rank) + " and local rank " + text(localRank) + " must be below world size "
                    + text(worldSize) + "; of these, values not set by the application are ignored");
            rank = given.rank();
            localRank = given.localRank();
            worldSize = given.worldSize();
        }
        Builder complete = given.toBuilder();
        complete.runId = given.runId().or(found::runId);
        complete.rank = rank;
        complete.worldSize = worldSize;
        complete.localRank = localRank;
        complete.host = given.host().or(found::host);
        complete.device = given.device().or(found::device);
        complete.model = given.model().or(found::model);
        complete.precision = given.precision().or(found::precision);
        complete.commit = given.commit().or(found::commit);
        complete.phase = given.phase().or(found::phase);
        return complete.build();
    }

    private static boolean isBeyond(OptionalInt rank, OptionalInt worldSize) {
        return rank.isPresent() && worldSize.isPresent() && rank.getAsInt() >= worldSize.getAsInt();
    }

    private static String text(OptionalInt number) {
        return number.isPresent() ? Integer.toString(number.getAsInt()) : "(not known)";
    }

    /** Sets the values one by one; the others stay unknown. Not thread-safe. */
    public static final class Builder {
        private Optional<String> runId = Optional.empty();
        private OptionalInt rank = OptionalInt.empty();
        private OptionalInt worldSize = OptionalInt.empty();
        private OptionalInt localRank = OptionalInt.empty();
        private Optional<String> host = Optional.empty();
        private Optional<String> device = Optional.empty();
        private Optional<String> model = Optional.empty();
        private Optional<String> precision = Optional.empty();
        private Optional<String> commit = Optional.empty();
        private Optional<String> phase = Optional.empty();
        private OptionalLong firstStep = OptionalLong.empty();
        private OptionalLong lastStep = OptionalLong.empty();
        private OptionalLong window = OptionalLong.empty();

        private Builder() {}

        /**
         * Sets the id of the run.
         *
         * @param id the same for all ranks of it
         * @return this
         */
        public Builder runId(String id) {
            runId = Optional.of(Objects.requireNonNull(id, "id"));
            return this;
        }

        /**
         * Sets the number of the process in the run.
         *
         * @param number 0 or more
         * @return this
         */
        public Builder rank(int number) {
            rank = OptionalInt.of(number);
            return this;
        }

        /**
         * Sets the number of processes of the run.
         *
         * @param processes more than any rank
         * @return this
         */
        public Builder worldSize(int processes) {
            worldSize = OptionalInt.of(processes);
            return this;
        }

        /**
         * Sets the number of the process among those of the run on its host.
         *
         * @param number 0 or more
         * @return this
         */
        public Builder localRank(int number) {
            localRank = OptionalInt.of(number);
            return this;
        }

        /**
         * Sets the name of the host.
         *
         * @param name of the host
         * @return this
         */
        public Builder host(String name) {
            host = Optional.of(Objects.requireNonNull(name, "name"));
            return this;
        }

        /**
         * Sets the name of the device.
         *
         * @param name of the device
         * @return this
         */
        public Builder device(String name) {
            device = Optional.of(Objects.requireNonNull(name, "name"));
            return this;
        }

        /**
         * Sets the name of the model.
         *
         * @param name of the model
         * @return this
         */
        public Builder model(String name) {
            model = Optional.of(Objects.requireNonNull(name, "name"));
            return this;
        }

        /**
         * Sets the precision.
         *
         * @param name such as {@code bf16}
         * @return this
         */
        public Builder precision(String name) {
            precision = Optional.of(Objects.requireNonNull(name, "name"));
            return this;
        }

        /**
         * Sets the commit of the code.
         *
         * @param id of the commit
         * @return this
         */
        public Builder commit(String id) {
            commit = Optional.of(Objects.requireNonNull(id, "id"));
            return this;
        }

        /**
         * Sets the phase of the run.
         *
         * @param name such as {@code decode}
         * @return this
         */
        public Builder phase(String name) {
            phase = Optional.of(Objects.requireNonNull(name, "name"));
            return this;
        }

        /**
         * Sets the range of steps of the profile.
         *
         * @param first the {@link Step#index} of the first step
         * @param last the {@link Step#index} of the last step
         * @return this
         */
        public Builder steps(long first, long last) {
            firstStep = OptionalLong.of(first);
            lastStep = OptionalLong.of(last);
            return this;
        }

        /** Removes the range of steps. */
        Builder noSteps() {
            firstStep = OptionalLong.empty();
            lastStep = OptionalLong.empty();
            return this;
        }

        /**
         * Sets the number of the window.
         *
         * @param number 0 or more
         * @return this
         */
        public Builder window(long number) {
            window = OptionalLong.of(number);
            return this;
        }

        /**
         * Makes the identity.
         *
         * @return the identity
         * @throws IllegalArgumentException when a text is empty, a number is negative, a rank is not below the world
         *     size, or the last step is before the first
         */
        public RunIdentity build() {
            return new RunIdentity(
                    runId, rank, worldSize, localRank, host, device, model, precision, commit, phase, firstStep,
                    lastStep, window);
        }
    }
}
