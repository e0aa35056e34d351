package org.brickprofiler.internal.access;

import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.internal.record.WindowReaders;
import org.jspecify.annotations.Nullable;

/**
 * Access to the members of {@link BrickProfiler} that other packages of this library need, and that are no part of its
 * API: a package-private member ends at the package, and a public one would be visible to applications. The class of
 * the profiler therefore grants the access when it is initialized. Any thread.
 */
public final class ProfilerAccess {

    private static volatile @Nullable Function<BrickProfiler, WindowReaders<ProfileSnapshot>> toWindows;

    private static volatile @Nullable Function<BrickProfiler, CurrentSums> toSums;

    private static volatile @Nullable Function<BrickProfiler, Optional<SpanSink>> toSink;

    private ProfilerAccess() {}

    /**
     * Grants access to the readers of windows. The static initializer of the profiler's class calls this once.
     *
     * @param access returns the readers of a profiler, the same object each time
     */
    public static void grantWindows(Function<BrickProfiler, WindowReaders<ProfileSnapshot>> access) {
        toWindows = access;
    }

    /**
     * Returns the readers of a profiler's windows.
     *
     * @param profiler the profiler
     * @return the same object each time
     */
    public static WindowReaders<ProfileSnapshot> windows(BrickProfiler profiler) {
        return Objects.requireNonNull(toWindows, "the class of a profiler is initialized")
                .apply(profiler);
    }

    /**
     * Grants access to the current sums. The static initializer of the profiler's class calls this once.
     *
     * @param access reads the sums of a profiler
     */
    public static void grantSums(Function<BrickProfiler, CurrentSums> access) {
        toSums = access;
    }

    /**
     * Reads the current sums of a profiler.
     *
     * @param profiler the profiler
     * @return the sums
     */
    public static CurrentSums sums(BrickProfiler profiler) {
        return Objects.requireNonNull(toSums, "the class of a profiler is initialized")
                .apply(profiler);
    }

    /**
     * Grants access to the sink. The static initializer of the profiler's class calls this once.
     *
     * @param access returns the sink of a profiler's spans
     */
    public static void grantSink(Function<BrickProfiler, Optional<SpanSink>> access) {
        toSink = access;
    }

    /**
     * Returns the sink of a profiler's spans.
     *
     * @param profiler the profiler
     * @return the same object each time; empty without a timeline
     */
    public static Optional<SpanSink> sink(BrickProfiler profiler) {
        return Objects.requireNonNull(toSink, "the class of a profiler is initialized")
                .apply(profiler);
    }
}
