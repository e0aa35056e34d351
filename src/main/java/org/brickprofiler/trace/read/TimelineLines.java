package org.brickprofiler.trace.read;

import java.util.Arrays;
import org.brickprofiler.internal.io.MergeSort;

/**
 * The events of each track in the order that a timeline promises: by start, the longer first, and as in the file where
 * both are the same. 4 bytes an event. Immutable once made.
 */
final class TimelineLines implements TimelineFlows.Finder {

    /** Further back no span around a moment is sought. */
    private static final int FARTHEST = 1 << 14;

    private final EventColumns events;
    private final TrackLayout layout;
    private final int[][] lines;

    TimelineLines(EventColumns events, TrackLayout layout) {
        this.events = events;
        this.layout = layout;
        int[] counts = new int[layout.tracks().size()];
        for (int event = 0; event < events.size(); event++) {
            if (isTold(event)) {
                counts[trackOf(event)]++;
            }
        }
        lines = Arrays.stream(counts).mapToObj(int[]::new).toArray(int[][]::new);
        for (int event = events.size() - 1; event >= 0; event--) {
            if (isTold(event)) {
                int track = trackOf(event);
                lines[track][--counts[track]] = event;
            }
        }
        for (int[] line : lines) {
            MergeSort.sort(line, this::compare);
        }
    }

    private boolean isTold(int event) {
        return events.isSpan(event) || events.isInstant(event) || events.isValue(event);
    }

    private int trackOf(int event) {
        return layout.trackOf(events.row(event));
    }

    private int compare(int a, int b) {
        int byStart = Long.compare(events.startNs(a), events.startNs(b));
        if (byStart != 0) {
            return byStart;
        }
        int byEnd = events.isValue(a) ? 0 : Long.compare(events.endNs(b), events.endNs(a));
        return byEnd != 0 ? byEnd : Integer.compare(a, b);
    }

    /** The events of a track; not to be changed. */
    int[] line(int track) {
        return lines[track];
    }

    /** When the first event was; {@link Long#MAX_VALUE} where there is none. */
    long earliestNs() {
        return Arrays.stream(lines)
                .filter(line -> line.length > 0)
                .mapToLong(line -> events.startNs(line[0]))
                .min()
                .orElse(Long.MAX_VALUE);
    }

    long size() {
        return Arrays.stream(lines).mapToLong(line -> line.length).sum();
    }

    // ---- flows ----

    @Override
    public int around(int row, long atNs) {
        int track = layout.trackOf(row);
        if (track == TrackLayout.NO_TRACK) {
            return -1;
        }
        int[] line = lines[track];
        int last = firstFrom(line, atNs + 1) - 1;
        for (int place = last; place >= 0 && place > last - FARTHEST; place--) {
            int event = line[place];
            if (events.isSpan(event) && events.endNs(event) >= atNs) {
                return event;
            }
        }
        return -1;
    }

    @Override
    public int next(int row, long atNs) {
        int track = layout.trackOf(row);
        if (track == TrackLayout.NO_TRACK) {
            return -1;
        }
        int[] line = lines[track];
        for (int place = firstFrom(line, atNs); place < line.length; place++) {
            if (events.isSpan(line[place])) {
                return line[place];
            }
        }
        return -1;
    }

    /** The place of the first event that begins at a moment or later. */
    private int firstFrom(int[] line, long ns) {
        int low = 0;
        int high = line.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (events.startNs(line[middle]) < ns) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
