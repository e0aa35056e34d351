package org.brickprofiler.report;

import java.util.List;
import java.util.Objects;
import org.brickprofiler.ProfileSnapshot;

/**
 * Adds candidates to the findings of a profile, from what a snapshot does not hold: a roof, a timeline, a trace, a
 * fleet. {@link Findings} ranks the candidates of all sources, and leaves out those with a small share.
 */
@FunctionalInterface
public interface FindingSource {

    /**
     * Returns candidates.
     *
     * @param snapshot the profile
     * @return candidates in any order; empty if this source has nothing to say about the profile
     */
    List<Finding> candidates(ProfileSnapshot snapshot);

    /**
     * Adds what this source knows about the place of a finding of any source, such as the line of a brick.
     *
     * @param finding a finding of the profile
     * @return the finding itself if nothing is known
     */
    default Finding explained(Finding finding) {
        return Objects.requireNonNull(finding, "finding");
    }
}
