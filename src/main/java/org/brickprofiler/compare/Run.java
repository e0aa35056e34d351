package org.brickprofiler.compare;

import static org.brickprofiler.internal.io.Checks.requireName;

import java.util.List;
import java.util.Objects;
import java.util.OptionalDouble;
import org.brickprofiler.ProfileSnapshot;

/**
 * One run: what one process recorded. Samples of one process are not independent of each other, since they share what
 * the compiler made, where the memory lies and what else the machine did; so a run counts as one observation, however
 * long it was. Do not make two runs of one process. Immutable.
 *
 * @param name what the run is called in reports, such as its file
 * @param snapshot what it recorded
 * @param tokensPerSec how fast it was by the application's own measure, best without a profiler, tokens/s; empty for
 *     what the snapshot knows of it
 * @param disturbances what the machine did besides, one remark each, for a report; empty if nothing was seen
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
     * Returns a run of which is known what its snapshot holds: the disturbances that are among its
     * {@linkplain ProfileSnapshot#facts() facts}, and its tokens per second, which comparisons find there.
     *
     * @param name what it is called in reports
     * @param snapshot what it recorded
     * @return the run
     * @throws IllegalArgumentException when the name is null or empty
     */
    public static Run of(String name, ProfileSnapshot snapshot) {
        return new Run(name, snapshot, OptionalDouble.empty(), snapshot.facts().disturbances());
    }
}
