package org.brickprofiler.trace.read;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** What was ignored and what was wrong, while a trace is read. One thread. */
final class Tally {

    private final Map<IgnoredReason, Long> ignored = new EnumMap<>(IgnoredReason.class);
    private final Map<Repair.Kind, Repair> repairs = new EnumMap<>(Repair.Kind.class);

    void ignore(IgnoredReason reason, long events) {
        if (events > 0) {
            ignored.merge(reason, events, Long::sum);
        }
    }

    void ignore(IgnoredReason reason) {
        ignore(reason, 1);
    }

    void repair(Repair.Kind kind, long offset) {
        repair(kind, 1, offset);
    }

    void repair(Repair.Kind kind, long count, long offset) {
        repairs.merge(
                kind,
                new Repair(kind, count, offset),
                (one, two) -> new Repair(kind, one.count() + two.count(), one.firstOffset()));
    }

    Map<IgnoredReason, Long> ignored() {
        return ignored;
    }

    List<Repair> repairs() {
        return new ArrayList<>(repairs.values());
    }
}
