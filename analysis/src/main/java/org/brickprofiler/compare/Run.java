package org.brickprofiler.compare;

import static org.brickprofiler.internal.base.Checks.requireName;

import java.util.List;
import java.util.Objects;
import java.util.OptionalDouble;
import org.brickprofiler.ProfileSnapshot;

/**
 * One run: the recording of one process. Samples of one process are not independent, since they share the compiled
 * code, the placement of memory and the other load of the machine. A run therefore counts as one observation,
 * regardless of its length. Do not split one process into two runs. Immutable.
 *
 * @param name the name of the run in reports, such as its file
 * @param snapshot the recorded profile
 * @param tokensPerSec the rate that the application measured, preferably without a profiler, tokens/s; empty to use the
 *     rate in the snapshot
 * @param disturbances other activity of the machine, one remark each, for a report; empty if none was observed
 */
public record Run(String name, ProfileSnapshot snapshot, OptionalDouble tokensPerSec, List<String> disturbances) {

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException when the name is null or empty, or the rate is no finite number above 0
     */
    public Run {
        requireName("name", name);
        Objects.requireNonNull(snapshot, "snapshot");
        Objects.requireNonNull(tokensPerSec, "tokensPerSec");
        disturbances = List.copyOf(Objects.requireNonNull(disturbances, "disturbances"));
        if (tokensPerSec.isPresent()
                && !(tokensPerSec.getAsDouble() > 0 && Double.isFinite(tokensPerSec.getAsDouble()))) {
            throw new IllegalArgumentException("tokensPerSec " + tokensPerSec.getAsDouble() + " of run " + name
                    + " is not a finite number above 0");
        }
    }

    /**
     * Returns a run that uses the {@linkplain ProfileSnapshot#facts() facts} of its snapshot: the disturbances and,
     * because its own rate is empty, the tokens per second.
     *
     * @param name its name in reports
     * @param snapshot the recorded profile
     * @return the run
     * @throws IllegalArgumentException when the name is null or empty
     */
    public static Run of(String name, ProfileSnapshot snapshot) {
        return new Run(name, snapshot, OptionalDouble.empty(), snapshot.facts().disturbances());
    }
}
