package org.brickprofiler.trace.read;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.StringJoiner;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.read.Omission.Reason;

/**
 * The timeline of a trace, and its omissions. The events of a large trace are in a temporary file until the timeline is
 * closed.
 *
 * @param timeline the timeline; it may be replayed any number of times until this is closed, and then throws an
 *     {@link IllegalStateException}. If the temporary file cannot be read, it throws an
 *     {@link java.io.UncheckedIOException}
 * @param isOwn whether this library recorded it
 * @param eventsRead elements of the array of events; in a Perfetto trace, track events
 * @param events spans, moments and values in the timeline
 * @param omissions the omissions, in the order of {@link Omission.Reason}; arguments have one omission for each name,
 *     the most frequent first
 */
public record TraceTimeline(Timeline timeline, boolean isOwn, long eventsRead, long events, List<Omission> omissions)
        implements Closeable {

    private static final int ARGUMENTS_SHOWN = 5;

    /** Copies the list. */
    public TraceTimeline {
        Objects.requireNonNull(timeline, "timeline");
        Objects.requireNonNull(omissions, "omissions");
        omissions = List.copyOf(omissions);
    }

    /**
     * Returns the differences between the trace and the timeline, as text for a console.
     *
     * @return in one line, for example {@code "1 async event left out, 3 arguments left out (bytes 2, grid 1)"};
     *     printable ASCII; empty if there is no difference. Spans that were lost during recording are not among the
     *     differences: the timeline's {@linkplain org.brickprofiler.trace.TraceInfo#droppedSpans() information} has
     *     them
     */
    public String differences() {
        StringJoiner all = new StringJoiner(", ");
        boolean argumentsListed = false;
        for (Omission omission : omissions) {
            if (omission.reason() == Reason.ARGUMENT) {
                if (!argumentsListed) {
                    all.add(arguments());
                }
                argumentsListed = true;
            } else if (omission.isFault() && omission.reason() != Reason.LOST_SPANS) {
                all.add(omission.reason().text(omission.count()) + " (" + named(omission) + "first at offset "
                        + omission.firstOffset() + ")");
            } else if (!omission.isFault()) {
                all.add(omission.reason().text(omission.count()));
            }
        }
        return all.toString();
    }

    private static String named(Omission fault) {
        return fault.name().isEmpty() ? "" : TraceFigures.plain(fault.name()) + ", ";
    }

    private String arguments() {
        List<Omission> arguments = omissions.stream()
                .filter(omission -> omission.reason() == Reason.ARGUMENT)
                .toList();
        StringJoiner names = new StringJoiner(", ", " (", ")");
        arguments.stream()
                .limit(ARGUMENTS_SHOWN)
                .forEach(argument ->
                        names.add(TraceFigures.plain(argument.name()) + " " + TraceFigures.count(argument.count())));
        if (arguments.size() > ARGUMENTS_SHOWN) {
            names.add((arguments.size() - ARGUMENTS_SHOWN) + " further kinds");
        }
        return Reason.ARGUMENT.text(
                        arguments.stream().mapToLong(Omission::count).sum())
                + names;
    }

    /**
     * Deletes the temporary file, if there is one.
     *
     * @throws IOException when the file cannot be deleted
     */
    @Override
    public void close() throws IOException {
        if (timeline instanceof Closeable closeable) {
            closeable.close();
        }
    }
}
