package org.brickprofiler.trace.read;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.trace.read.Omission.Effect;
import org.brickprofiler.trace.read.Omission.Reason;

/** The omissions of a trace, sorted by their effect. */
public final class Omissions {

    private Omissions() {}

    /** Events that never count in a profile. */
    static Map<Reason, Long> ignored(TraceProfile profile) {
        return counts(of(profile.omissions(), Effect.IGNORED));
    }

    /** Events that count with a remark. */
    static Map<Reason, Long> counted(TraceProfile profile) {
        return counts(of(profile.omissions(), Effect.COUNTED));
    }

    /** Events that a profile left out on purpose. */
    static List<Omission> leftOut(TraceProfile profile) {
        return of(profile.omissions(), Effect.LEFT_OUT);
    }

    /** Faults. */
    public static List<Omission> faults(List<Omission> omissions) {
        return omissions.stream().filter(Omission::isFault).toList();
    }

    /** Valid parts that a timeline lacks. */
    public static Map<Reason, Long> unkept(TraceTimeline timeline) {
        return counts(timeline.omissions().stream()
                .filter(omission -> !omission.isFault())
                .toList());
    }

    /** The arguments that are not in a timeline. */
    public static Map<String, Long> arguments(TraceTimeline timeline) {
        Map<String, Long> arguments = new LinkedHashMap<>();
        timeline.omissions().stream()
                .filter(omission -> omission.reason() == Reason.ARGUMENT)
                .forEach(omission -> arguments.put(omission.name(), omission.count()));
        return arguments;
    }

    private static List<Omission> of(List<Omission> omissions, Effect effect) {
        return omissions.stream()
                .filter(omission -> omission.reason().effect() == effect)
                .toList();
    }

    private static Map<Reason, Long> counts(List<Omission> omissions) {
        Map<Reason, Long> counts = new EnumMap<>(Reason.class);
        omissions.forEach(omission -> counts.merge(omission.reason(), omission.count(), Long::sum));
        return counts;
    }
}
