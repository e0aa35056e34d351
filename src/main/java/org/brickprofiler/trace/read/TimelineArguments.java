package org.brickprofiler.trace.read;

import java.util.Map;
import java.util.Set;

/** What the arguments of a slice or a moment mean for a timeline, and which of them it has no place for. One thread. */
final class TimelineArguments {

    /** What this library's writers make anew of a span, its track and its flow. */
    private static final Set<String> OWN = Set.of(
            OwnTrace.CATEGORY, OwnTrace.SAMPLE, OwnTrace.DEVICE, OwnTrace.STREAM, "External id", "correlation");

    private final TraceHead head;
    private final boolean isPerfetto;
    private final Losses losses;

    TimelineArguments(TraceHead head, boolean isPerfetto, Losses losses) {
        this.head = head;
        this.isPerfetto = isPerfetto;
        this.losses = losses;
    }

    /** Tells a row what an event says of its device. */
    void noteDevice(TimelineRows.Row row, RawEvent event) {
        if (isOnDevice(event)) {
            row.isOnDevice = true;
            row.device = Math.max(row.device, number(event, OwnTrace.DEVICE));
            row.stream = Math.max(row.stream, number(event, OwnTrace.STREAM));
        }
    }

    /** Other programs' arguments of that name may mean anything; Kineto's categories do not. */
    private boolean isOnDevice(RawEvent event) {
        if (head.isOwn() || isPerfetto) {
            return number(event, OwnTrace.DEVICE) >= 0;
        }
        return SliceKind.of(event.category).isDevice() || event.category.equalsIgnoreCase("gpu_user_annotation");
    }

    private static long number(RawEvent event, String argument) {
        return TrackLayout.wholeNumber(event.args.getOrDefault(argument, ""));
    }

    /** Counts what is left behind of an event. */
    void countLosses(RawEvent event) {
        losses.add(Loss.FIELD, event.skipped);
        for (Map.Entry<String, String> argument : event.args.entrySet()) {
            if (!isKept(argument.getKey(), argument.getValue(), event)) {
                losses.argument(argument.getKey());
            }
        }
    }

    private boolean isKept(String key, String value, RawEvent event) {
        if (head.isOwn() && OWN.contains(key)) {
            return true;
        }
        return switch (key) {
            case OwnTrace.ELEMENTS -> event.elements >= 0;
            case OwnTrace.LAYER, OwnTrace.DEVICE_NS -> TrackLayout.wholeNumber(value) >= 0 || value.equals("-1");
            case OwnTrace.DEVICE, OwnTrace.STREAM ->
                isOnDevice(event) || SliceKind.of(event.category) == SliceKind.DEVICE_WAIT;
            case OwnTrace.CATEGORY -> value.equals(event.category);
            default -> false;
        };
    }
}
