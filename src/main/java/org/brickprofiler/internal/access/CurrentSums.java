package org.brickprofiler.internal.access;

import java.util.Map;
import java.util.Objects;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.request.RequestRecorder;

/**
 * The sums of a profiler at one moment, for readers that ask every few seconds. Reading them skips the distributions of
 * the bricks, which are hundreds of times as large. Immutable.
 *
 * @param snapshot a snapshot whose bricks have no distributions, and whose requests are {@link RequestRecorder#sums};
 *     without kept steps and a timeline of requests
 * @param latest the latest step of each phase of which a step has ended since the last reset, by phase
 */
public record CurrentSums(ProfileSnapshot snapshot, Map<StepInfo.Phase, LatestStep> latest) {

    /**
     * A step that has ended. Immutable.
     *
     * @param batch its sequences
     * @param kvLength positions that the key-value cache held when it began, as the engine stated them
     */
    public record LatestStep(long batch, long kvLength) {}

    /** Copies the map. */
    public CurrentSums {
        Objects.requireNonNull(snapshot, "snapshot");
        latest = Map.copyOf(latest);
    }
}
