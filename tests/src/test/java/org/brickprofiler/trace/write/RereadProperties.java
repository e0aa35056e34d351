package org.brickprofiler.trace.write;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.domains.Domain;
import net.jqwik.api.domains.DomainContext;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.trace.SpanName;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TraceInfo;
import org.brickprofiler.trace.read.Omission.Reason;
import org.brickprofiler.trace.read.Omissions;
import org.brickprofiler.trace.read.ReadOptions;
import org.brickprofiler.trace.read.TraceReader;
import org.brickprofiler.trace.read.TraceTimeline;
import org.brickprofiler.trace.write.RereadTimeline.Replayed;

/** A timeline that was written and read equals the original, for any content. */
@Domain(Timelines.class)
@Domain(DomainContext.Global.class)
@OneJdk
final class RereadProperties {

    private static TraceTimeline reread(Timeline timeline, boolean asChrome) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        if (asChrome) {
            ChromeWriter.write(timeline, out);
        } else {
            PerfettoWriter.write(timeline, out);
        }
        TraceTimeline reading =
                TraceReader.timeline(new ByteArrayInputStream(out.toByteArray()), ReadOptions.defaults());
        assertThat(reading.isOwn()).isTrue();
        return reading;
    }

    /** Chrome's readers want steps to be called by a number. */
    private static List<Replayed> withoutStepNames(List<Replayed> events) {
        return events.stream().map(RereadProperties::withoutStepName).toList();
    }

    private static Replayed withoutStepName(Replayed replayed) {
        return replayed.category().equals(SpanName.STEP) && replayed.what().equals("span")
                ? new Replayed(
                        replayed.track(),
                        replayed.what(),
                        "",
                        replayed.category(),
                        replayed.startNs(),
                        replayed.endNs(),
                        replayed.details())
                : replayed;
    }

    /** Each flow as the spans at its two ends. */
    private static List<List<Replayed>> flows(Timeline timeline) {
        List<List<Replayed>> flows = new ArrayList<>();
        RereadTimeline.of(timeline)
                .flows()
                .forEach((from, ends) ->
                        ends.forEach(to -> flows.add(List.of(withoutStepName(from), withoutStepName(to)))));
        return flows;
    }

    private static long calendarNs(Timeline timeline) {
        TraceInfo info = timeline.info();
        return info.unixNs() + (timeline.earliestNs() - info.monotonicNs());
    }

    @Property(tries = 400)
    void everyEventComesBack(@ForAll FixedTimeline timeline, @ForAll boolean asChrome) throws IOException {
        TraceTimeline reading = reread(timeline, asChrome);

        assertThat(withoutStepNames(RereadTimeline.of(reading.timeline()).events()))
                .containsExactlyInAnyOrderElementsOf(
                        withoutStepNames(RereadTimeline.of(timeline).events()));
        assertThat(reading.events())
                .isEqualTo(RereadTimeline.of(timeline).events().size());
        assertThat(Omissions.unkept(reading))
                .doesNotContainKeys(
                        Reason.ARGUMENT,
                        Reason.FIELD,
                        Reason.ASYNC,
                        Reason.NO_NUMBER,
                        Reason.OTHER_PHASE,
                        Reason.OTHER_METADATA,
                        Reason.LONG_NAME,
                        Reason.PROCESS);
    }

    @Property(tries = 200)
    void factsAboutTheTimelineAreReadBack(@ForAll FixedTimeline timeline, @ForAll boolean asChrome) throws IOException {
        TraceTimeline reading = reread(timeline, asChrome);
        TraceInfo info = reading.timeline().info();

        assertThat(info.processName())
                .isEqualTo(ExpectedEvents.readable(timeline.info().processName()));
        // If a device has the same number, Chrome's format moves the process by a multiple of a million.
        assertThat(info.pid() % 1_000_000).isEqualTo(timeline.info().pid());
        assertThat(info.rank()).isEqualTo(timeline.info().rank());
        assertThat(info.droppedSpans()).isEqualTo(timeline.info().droppedSpans());
        assertThat(info.clockErrorNs()).isEqualTo(timeline.info().clockErrorNs());
        assertThat(info.hasNetTimes()).isEqualTo(timeline.info().hasNetTimes());
        assertThat(calendarNs(reading.timeline())).isEqualTo(calendarNs(timeline));
        if (asChrome) {
            assertThat(info.devices())
                    .extracting("backend")
                    .containsExactly(timeline.info().devices().get(0).backend());
        }
    }

    @Property(tries = 200)
    void aFlowKeepsItsTwoEnds(@ForAll FixedTimeline timeline, @ForAll boolean asChrome) throws IOException {
        FixedTimeline unique = timeline.withFlowsOfTwoSpans();

        assertThat(flows(reread(unique, asChrome).timeline())).containsExactlyInAnyOrderElementsOf(flows(unique));
    }

    @Property(tries = 200)
    void repeatedNumbersInventNoFlow(@ForAll FixedTimeline timeline, @ForAll boolean asChrome) throws IOException {
        assertThat(flows(timeline)).containsAll(flows(reread(timeline, asChrome).timeline()));
    }

    @Property(tries = 200)
    void aTimelineThatWasReadIsWrittenInEitherFormat(@ForAll FixedTimeline timeline, @ForAll boolean asChrome)
            throws IOException {
        Timeline first = reread(timeline, asChrome).timeline();
        Timeline second = reread(first, !asChrome).timeline();

        assertThat(withoutStepNames(RereadTimeline.of(second).events()))
                .containsExactlyInAnyOrderElementsOf(
                        withoutStepNames(RereadTimeline.of(first).events()));
    }

    /** The sums of the samples of a brick in a phase. */
    private record Sum(String brick, String category, String phase, long samples, long totalNs, long elements) {
        static Sum of(String phase, BrickStats brick) {
            return new Sum(
                    brick.name(),
                    brick.category().displayName(),
                    phase,
                    brick.count(),
                    brick.totalNs(),
                    brick.totalElements());
        }

        Sum plus(Sum other) {
            return new Sum(
                    brick,
                    category,
                    phase,
                    samples + other.samples,
                    totalNs + other.totalNs,
                    elements + other.elements);
        }
    }

    /** The sums as a loop over the events finds them, of all samples and of those of each phase. */
    private static Collection<Sum> naiveSums(FixedTimeline timeline) {
        Map<List<String>, Sum> sums = new HashMap<>();
        for (int track = 0; track < timeline.tracks().size(); track++) {
            for (Event event : timeline.events().get(track)) {
                if (timeline.isSample(timeline.tracks().get(track), event)) {
                    SpanName name = timeline.names().get(event.name());
                    String brick = ExpectedEvents.readable(name.name());
                    List<String> phases = new ArrayList<>(List.of("all"));
                    event.phase().ofStep().ifPresent(phase -> phases.add(phase.name()));
                    long ns = Math.max(0, event.endNs() - event.startNs());
                    phases.forEach(phase -> sums.merge(
                            List.of(brick, name.category(), phase),
                            new Sum(brick, name.category(), phase, 1, ns, event.elements()),
                            Sum::plus));
                }
            }
        }
        return sums.values();
    }

    @Property(tries = 300)
    void theProfileHasTheSumsOfTheSamplesOfEachPhase(@ForAll FixedTimeline timeline, @ForAll boolean asChrome)
            throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        if (asChrome) {
            ChromeWriter.write(timeline, out);
        } else {
            PerfettoWriter.write(timeline, out);
        }
        ProfileSnapshot profile = TraceReader.profile(
                        new ByteArrayInputStream(out.toByteArray()), ReadOptions.defaults())
                .snapshot();
        List<Sum> sums = new ArrayList<>();
        profile.bricks().forEach(brick -> sums.add(Sum.of("all", brick)));
        profile.phases().forEach((phase, bricks) -> bricks.forEach(brick -> sums.add(Sum.of(phase.name(), brick))));

        assertThat(sums).containsExactlyInAnyOrderElementsOf(naiveSums(timeline));
    }
}
