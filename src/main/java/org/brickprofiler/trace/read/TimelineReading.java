package org.brickprofiler.trace.read;

import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.brickprofiler.trace.Timeline;

/**
 * A timeline that was read, and what of the trace did not go into it. Immutable.
 *
 * @param timeline the timeline; it may be replayed as often as one likes
 * @param isOwn whether this library recorded it
 * @param eventsRead elements of the array of events; in a Perfetto trace, track events
 * @param events spans, moments and values in the timeline
 * @param losses what a timeline has no place for, by kind; kinds without any are not in it
 * @param arguments how often which argument was left behind, the most frequent first; those of rare names together, as
 *     {@value #OTHER_ARGUMENTS}
 * @param repairs what was wrong, in the order of {@link Repair.Kind}
 */
public record TimelineReading(
        Timeline timeline,
        boolean isOwn,
        long eventsRead,
        long events,
        Map<Loss, Long> losses,
        Map<String, Long> arguments,
        List<Repair> repairs) {

    /** Stands for the arguments that are not told apart. */
    public static final String OTHER_ARGUMENTS = "(others)";

    /** Takes copies. */
    public TimelineReading {
        Objects.requireNonNull(timeline, "timeline");
        Objects.requireNonNull(losses, "losses");
        Objects.requireNonNull(arguments, "arguments");
        Objects.requireNonNull(repairs, "repairs");
        Map<Loss, Long> copy = new EnumMap<>(Loss.class);
        copy.putAll(losses);
        losses = Collections.unmodifiableMap(copy);
        arguments = Collections.unmodifiableMap(new LinkedHashMap<>(arguments));
        repairs = List.copyOf(repairs);
    }
}
