package org.brickprofiler.trace.read;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What was read of a trace, as text for a console: to print above the report of the profile. Every share names its
 * base. Printable ASCII, with {@code "\n"} at the end of each line, whatever the locale. Stateless; any thread.
 */
public final class TraceText {

    private static final int KERNELS_SHOWN = 5;

    private final TraceReading reading;
    private final StringBuilder text = new StringBuilder();

    private TraceText(TraceReading reading) {
        this.reading = reading;
    }

    /**
     * The summary of a reading.
     *
     * @param reading the reading
     * @return lines of text
     */
    public static String render(TraceReading reading) {
        TraceText summary = new TraceText(reading);
        summary.text.append("Trace\n");
        summary.counted();
        summary.times();
        summary.leftOut();
        summary.unmatched();
        summary.ignored();
        summary.repairs();
        return summary.text.toString();
    }

    private void counted() {
        fact("counted", Figures.count(reading.eventsCounted()) + " of "
                + Figures.count(reading.eventsRead(), "event") + " read: "
                + reading.counting().displayName());
        fact("rows", Figures.count(reading.rows())
                + (reading.steps() == 0 ? "" : "; " + Figures.count(reading.steps(), "step") + " marked"));
    }

    private void times() {
        fact("wall time", Figures.duration(reading.wallNs()) + ", first to last event that counts");
        fact("busy", Figures.duration(reading.busyNs()) + ", "
                + Figures.percent(reading.busyNs(), reading.wallNs()) + " of wall time: the union over all rows");
        fact("idle", Figures.duration(reading.idleNs()) + ", "
                + Figures.percent(reading.idleNs(), reading.wallNs()) + " of wall time");
    }

    private void leftOut() {
        if (reading.leftOut().isEmpty()) {
            fact("left out", "nothing");
            return;
        }
        for (LeftOut.Reason reason : LeftOut.Reason.values()) {
            List<LeftOut> parts = reading.leftOut().stream()
                    .filter(part -> part.reason() == reason)
                    .toList();
            if (!parts.isEmpty()) {
                leftOut(reason, parts);
            }
        }
    }

    private void leftOut(LeftOut.Reason reason, List<LeftOut> parts) {
        long events = parts.stream().mapToLong(LeftOut::events).sum();
        long elapsedNs = parts.stream().mapToLong(LeftOut::elapsedNs).sum();
        fact("left out", reason.displayName() + ": " + Figures.count(events, "event") + ", "
                + Figures.duration(elapsedNs));
        parts.stream()
                .limit(KERNELS_SHOWN)
                .forEach(part -> fact("", "  " + Figures.plain(part.kernel()) + ": "
                        + Figures.count(part.events(), "event") + ", " + Figures.duration(part.elapsedNs())));
        if (parts.size() > KERNELS_SHOWN) {
            fact("", "  and " + Figures.count(parts.size() - KERNELS_SHOWN, "more kernel"));
        }
    }

    private void unmatched() {
        if (reading.counting() == Counting.BRICKS) {
            fact("no rule", "the trace names its bricks itself; rules do not apply");
            return;
        }
        TraceReading.Unmatched unmatched = reading.unmatched();
        fact("no rule", unmatched.events() == 0
                ? "a rule matched every event that counts"
                : Figures.count(unmatched.kernels(), "kernel") + ", "
                        + Figures.count(unmatched.events(), "event") + ", "
                        + Figures.duration(unmatched.elapsedNs()) + ", "
                        + Figures.percent(unmatched.elapsedNs(), reading.snapshot().totalNs())
                        + " of brick time; under their own names");
    }

    private void ignored() {
        String first = "ignored";
        for (Map.Entry<IgnoredReason, Long> entry : reading.ignored().entrySet()) {
            fact(first, Figures.count(entry.getValue()) + " " + entry.getKey().displayName());
            first = "";
        }
    }

    private void repairs() {
        String first = "faulty";
        for (Repair repair : reading.repairs()) {
            fact(first, Figures.count(repair.count()) + " " + repair.kind().displayName() + "; first at offset "
                    + repair.firstOffset());
            first = "";
        }
    }

    private void fact(String what, String value) {
        text.append(String.format(Locale.ROOT, "  %-10s  %s\n", what, value));
    }
}
