package org.brickprofiler.report;

import static org.brickprofiler.report.HumanUnits.count;
import static org.brickprofiler.report.HumanUnits.durationCell;
import static org.brickprofiler.report.HumanUnits.percent;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.io.PlainText;

/** What a text report says of devices: whose time is whose, where they were idle, and what they did not tell. */
final class DeviceText {

    private static final String NONE = "-";

    private final ProfileSnapshot snapshot;

    DeviceText(ProfileSnapshot snapshot) {
        this.snapshot = snapshot;
    }

    /** Adds columns to the table of bricks, where a device timed one. */
    void addColumns(TextTable<BrickStats> table) {
        boolean timed = snapshot.bricks().stream().anyMatch(brick -> brick.device().samples() > 0);
        table.rightIf(timed, "time of", DeviceText::sourceCell, "")
                .rightIf(timed, "avg launch", DeviceText::launchCell, "")
                .rightIf(
                        snapshot.unresolved() > 0,
                        "unresolved",
                        brick -> count(brick.device().unresolved()),
                        count(snapshot.unresolved()));
    }

    private static String sourceCell(BrickStats brick) {
        return brick.count() == 0 ? NONE : brick.timeSource().name().toLowerCase(Locale.ROOT);
    }

    private static String launchCell(BrickStats brick) {
        return brick.device().launches() == 0 ? NONE : durationCell(brick.device().avgLaunchUs() * 1e3);
    }

    /** The table of streams; nothing without any. */
    String streams() {
        if (snapshot.streams().isEmpty()) {
            return "";
        }
        TextTable<StreamTotals> table = new TextTable<StreamTotals>()
                .left("stream", StreamTotals::stream, "")
                .left("device", stream -> stream.device() + " #" + stream.deviceIndex(), "")
                .right("bricks timed", stream -> count(stream.samples()), "")
                .right("busy", stream -> durationCell(stream.busyNs()), "")
                .right("idle in passes", stream -> durationCell(stream.idleNs()), "")
                .right("idle % of both", stream -> percent(100 * stream.idleShare()), "")
                .right("waits", stream -> count(stream.waits()), "");
        return "\nDevice streams\n\n" + table.render(snapshot.streams());
    }

    /** Sentences for the end of the report. */
    String notes() {
        StringBuilder notes = new StringBuilder();
        List<BrickStats> bound =
                snapshot.bricks().stream().filter(BrickStats::isLaunchBound).toList();
        if (!bound.isEmpty()) {
            notes.append("Launch-bound, the host took longer to launch them than the device to do them: ")
                    .append(PlainText.ascii(bound.stream().map(BrickStats::name).collect(Collectors.joining(", "))))
                    .append(".\n");
        }
        if (snapshot.unresolved() > 0) {
            notes.append("Samples that a device did not tell the time of: ")
                    .append(count(snapshot.unresolved()))
                    .append(". They are in no count and no total.\n");
        }
        for (StreamTotals stream : snapshot.streams()) {
            stream.failure()
                    .ifPresent(reason -> notes.append(
                            PlainText.ascii("Stream '" + stream.stream() + "': " + reason + ".") + "\n"));
        }
        return notes.toString();
    }
}
