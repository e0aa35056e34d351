package org.brickprofiler.fleet;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Something that is wrong with what was packed, or with the pack: what it is about is in no table, unless it says
 * otherwise. Immutable.
 *
 * @param kind what sort of thing
 * @param runId the run; null if it is not known
 * @param rank the rank; null if it is not known or all are meant
 * @param window the number of the window; null if it is not known or all are meant
 * @param file what was read; null if a file is what is missing
 * @param reason a sentence for people
 * @param leftOut windows that are in no table for that
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
        /** Files that hold the same window of the same rank, and differ: none counts. */
        DUPLICATE,
        /** Another model than that of most files. */
        OTHER_MODEL,
        /** Another number of ranks than most files of the run have. */
        OTHER_WORLD_SIZE,
        /** A rank's clock is more than an hour from those of most ranks. */
        CLOCK_APART,
        /** A rank of which there is nothing. The others count. */
        MISSING_RANK,
        /** A rank that lacks windows which other ranks have. Those that it has count. */
        MISSING_WINDOWS,
        /**
         * Windows that a rank recorded and could not write, as on a full disk, or that were deleted before they were
         * packed.
         */
        UNWRITTEN_WINDOWS,
        /** A file of the pack is missing, or is not what was written. */
        DAMAGED_PACK;

        /**
         * As JSON and tables have it.
         *
         * @return words with underscores, such as {@code missing_rank}
         */
        public String key() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
