package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.brickprofiler.internal.record.ThreadTimes;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.SlowSteps.Kind;
import org.brickprofiler.trace.StepParts.Busy;
import org.brickprofiler.trace.StepParts.Place;
import org.brickprofiler.trace.StepParts.Work;

/** The places of a step's time beside a program that asks for each nanosecond what was at work. */
final class StepPartsProperties {

    private static final long END_NS = 60;

    @Spec("13.14")
    @Property(tries = 500)
    void eachNanosecondHasThePlaceThatANaiveProgramFinds(@ForAll long seed) {
        Random random = new Random(seed);
        long startNs = random.nextInt(10);
        List<Busy> spans = spans(random);
        StepParts parts =
                StepParts.of(startNs, END_NS, spans, new StepParts.Times(ThreadTimes.UNKNOWN, ThreadTimes.UNKNOWN, 0));

        Map<Place, Long> expected = new HashMap<>();
        for (long ns = startNs; ns < END_NS; ns++) {
            expected.merge(placeAt(ns, spans), 1L, Long::sum);
        }
        assertThat(parts.placeNs()).isEqualTo(expected);
    }

    /** Bricks of the step's thread nest; the others lie anywhere, also around the step. */
    private static List<Busy> spans(Random random) {
        List<Busy> spans = new ArrayList<>();
        nest(random, 0, END_NS + 5, 0, spans);
        int others = random.nextInt(8);
        for (int i = 0; i < others; i++) {
            long from = random.nextInt((int) END_NS);
            long to = from + random.nextInt(20);
            Work work = List.of(Work.values()).get(random.nextInt(Work.values().length));
            if (work != Work.OWN) {
                String name = work.name() + " " + i % 3;
                Place place =
                        switch (work) {
                            case STOP -> Place.of(Kind.OTHER_STOP);
                            case LOCK -> Place.lock(name);
                            default -> Place.brick(name);
                        };
                spans.add(new Busy(work, place, from, to));
            }
        }
        return spans;
    }

    private static void nest(Random random, long fromNs, long toNs, int depth, List<Busy> spans) {
        long at = fromNs;
        while (at < toNs && depth < 3) {
            long start = at + random.nextInt(8);
            long end = Math.min(toNs, start + 1 + random.nextInt(25));
            if (start < end && random.nextInt(3) > 0) {
                spans.add(new Busy(Work.OWN, Place.brick("own " + random.nextInt(4)), start, end));
                nest(random, start, end, depth + 1, spans);
            }
            at = end;
        }
    }

    private static Place placeAt(long ns, List<Busy> spans) {
        Busy found = null;
        for (Busy each : spans) {
            if (each.startNs() <= ns && ns < each.endNs() && (found == null || isInside(each, found))) {
                found = each;
            }
        }
        return found == null ? Place.BETWEEN : found.place();
    }

    private static boolean isInside(Busy one, Busy other) {
        if (one.work() != other.work()) {
            return one.work().compareTo(other.work()) < 0;
        }
        return one.startNs() != other.startNs() ? one.startNs() > other.startNs() : one.endNs() < other.endNs();
    }
}
