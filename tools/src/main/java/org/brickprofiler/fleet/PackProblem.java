package org.brickprofiler.fleet;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A problem of the packed files or of the pack; unless stated otherwise, no table contains the data concerned.
 * Immutable.
 *
 * @param kind its kind
 * @param runId the run; null if it is unknown
 * @param rank the rank; null if it is unknown or all ranks are concerned
 * @param window the number of the window; null if it is unknown or all windows are concerned
 * @param file the file that was read; null if the problem is a missing file
 * @param reason a sentence for people
 * @param leftOut the number of windows that no table contains because of it
 */
public record PackProblem(
        Kind kind,
        @Nullable String runId,
        @Nullable Integer rank,
        @Nullable Long window,
        @Nullable String file,
        String reason,
        long leftOut) {

    /** The kinds of problems. */
    public enum Kind {
        /** A file is no profile, is cut off, or holds a wrong value. */
        DAMAGED,
        /** A file is of a version that this program does not know. */
        OTHER_VERSION,
        /** A window of a rank in which nothing was recorded. */
        EMPTY_WINDOW,
        /**
         * Files that hold the same window, or the same steps at the same time, of the same rank, and differ: none
         * counts. Or a profile that is no window, of a rank that has windows: it does not count.
         */
        DUPLICATE,
        /** Another model than that of most files. */
        OTHER_MODEL,
        /** Another number of ranks than most files of the run have. */
        OTHER_WORLD_SIZE,
        /** A rank's clock is more than an hour from those of most ranks. */
        CLOCK_APART,
        /** A file in a folder of profiles that was not read. */
        PASSED_OVER,
        /** A rank without any file. The other ranks count. */
        MISSING_RANK,
        /** A rank that lacks windows which other ranks have. Those that it has count. */
        MISSING_WINDOWS,
        /**
         * Windows that a rank recorded and could not write, as on a full disk, or that were deleted before they were
         * packed.
         */
        UNWRITTEN_WINDOWS,
        /** A pack of an earlier version, whose tables do not count the measurements that are missing. */
        EARLIER_PACK,
        /** A file of the pack is missing or changed. */
        DAMAGED_PACK;

        /**
         * Returns the name of the kind in JSON and tables.
         *
         * @return words with underscores, such as {@code missing_rank}
         */
        public String key() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
