package org.brickprofiler.device.metal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.brickprofiler.device.DeviceStream.NOT_REACHED;
import static org.brickprofiler.device.DeviceStream.UNRESOLVED;

import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.Size;
import org.brickprofiler.device.metal.FinishedBuffer.Outcome;

/** Compares the times at which marks are reached with those of a list that keeps everything. */
class BufferHistoryProperties {

    private static final int CAPACITY = 16;

    /**
     * The end of a command buffer: the outcome, the end or -1 if it is unknown, the error code or 0, and whether its
     * number is missing.
     */
    record Step(Outcome outcome, long endNs, long errorCode, boolean missing) {

        boolean isBroken() {
            return !missing && outcome == Outcome.FAILED && (errorCode != 0 || endNs >= 0);
        }
    }

    @Provide
    Arbitrary<Step> steps() {
        return Combinators.combine(
                        Arbitraries.of(Outcome.values()),
                        Arbitraries.longs().between(0, 1_000).injectNull(0.1).map(end -> end == null ? -1 : end),
                        Arbitraries.of(0L, 3L),
                        Arbitraries.of(true, false, false, false))
                .as((outcome, endNs, code, missing) -> new Step(
                        outcome,
                        outcome == Outcome.FORGOTTEN ? -1 : endNs,
                        outcome == Outcome.FAILED ? code : 0,
                        missing));
    }

    private static FinishedBuffer buffer(long sequence, Step step) {
        return new FinishedBuffer(
                sequence, "work", step.outcome(), step.errorCode(), step.endNs() < 0 ? -1 : 0, step.endNs(), -1, -1);
    }

    /** Returns the latest end up to each number, by the definition. */
    private static List<Long> expected(List<Step> steps) {
        List<Long> expected = new ArrayList<>();
        for (int until = 0; until < steps.size(); until++) {
            long latestNs = Long.MIN_VALUE;
            boolean known = true;
            for (Step step : steps.subList(0, until + 1)) {
                if (step.missing()) {
                    known = false;
                } else if (step.outcome() != Outcome.FORGOTTEN) {
                    known = step.endNs() >= 0;
                    latestNs = Math.max(latestNs, step.endNs());
                }
            }
            expected.add(known ? latestNs : UNRESOLVED);
        }
        return expected;
    }

    private static List<Step> all(List<Step> before, Step last) {
        List<Step> steps = new ArrayList<>(before);
        // The last one is never missing: command buffers behind the last known end have not ended as far as is known.
        steps.add(new Step(last.outcome(), last.endNs(), last.errorCode(), false));
        return steps;
    }

    private static BufferHistory history(List<Step> steps) {
        BufferHistory history = new BufferHistory(CAPACITY);
        for (int i = 0; i < steps.size(); i++) {
            if (!steps.get(i).missing()) {
                history.add(buffer(i + 1, steps.get(i)));
            }
        }
        return history;
    }

    @Property
    void everyIntervalAcrossAFailedCommandBufferIsBroken(
            @ForAll("steps") Step last, @ForAll @Size(max = 40) List<@net.jqwik.api.From("steps") Step> before) {
        List<Step> steps = all(before, last);
        BufferHistory history = history(steps);

        int oldest = Math.max(0, steps.size() - CAPACITY);
        for (int from = 0; from <= steps.size(); from++) {
            for (int to = from; to <= steps.size(); to++) {
                boolean kept = (from == 0 || from > oldest) && (to == 0 || to > oldest);
                boolean broken = !kept || steps.subList(from, to).stream().anyMatch(Step::isBroken);
                assertThat(history.isBrokenBetween(from, to)).isEqualTo(broken);
                assertThat(history.isBrokenBetween(to, from)).isEqualTo(broken);
            }
        }
    }

    @Property
    void anIntervalHasWorkUnlessAllItsCommandBuffersWereGivenUp(
            @ForAll("steps") Step last, @ForAll @Size(max = 40) List<@net.jqwik.api.From("steps") Step> before) {
        List<Step> steps = all(before, last);
        BufferHistory history = history(steps);

        int oldest = Math.max(0, steps.size() - CAPACITY);
        for (int from = 0; from <= steps.size() + 1; from++) {
            for (int to = from; to <= steps.size() + 1; to++) {
                boolean kept = (from == 0 || from > oldest) && (to == 0 || to > oldest) && to <= steps.size();
                boolean work = !kept
                        || steps.subList(from, to).stream()
                                .anyMatch(step -> step.missing() || step.outcome() != Outcome.FORGOTTEN);
                assertThat(history.hasWorkBetween(from, to)).isEqualTo(work);
                assertThat(history.hasWorkBetween(to, from)).isEqualTo(work);
            }
        }
    }

    @Property
    void aMarkIsReachedAtTheLatestEndAndNotBeforeItWasSet(
            @ForAll("steps") Step last,
            @ForAll @Size(max = 40) List<@net.jqwik.api.From("steps") Step> before,
            @ForAll @net.jqwik.api.constraints.LongRange(min = 0, max = 1_000) long setNs) {
        List<Step> steps = all(before, last);
        BufferHistory history = history(steps);

        List<Long> expected = expected(steps);
        assertThat(history.ended()).isEqualTo(steps.size());
        assertThat(history.reachedNs(0, setNs)).isEqualTo(setNs);
        assertThat(history.reachedNs(steps.size() + 1L, setNs)).isEqualTo(NOT_REACHED);
        for (int i = 0; i < steps.size(); i++) {
            boolean kept = i + 1 > steps.size() - CAPACITY;
            long endNs = expected.get(i);
            assertThat(history.isForgotten(i + 1)).isEqualTo(!kept);
            assertThat(history.reachedNs(i + 1, setNs))
                    .isEqualTo(kept && endNs != UNRESOLVED ? Math.max(endNs, setNs) : UNRESOLVED);
        }
    }

    @Example
    void whatIsMissingForLongerThanTheHistoryIsNotKnown() {
        BufferHistory history = new BufferHistory(CAPACITY);
        history.add(buffer(1, new Step(Outcome.COMPLETED, 10, 0, false)));
        history.add(buffer(1_000_000_000_000L, new Step(Outcome.COMPLETED, 20, 0, false)));

        assertThat(history.reachedNs(1, 0)).isEqualTo(UNRESOLVED);
        assertThat(history.reachedNs(999_999_999_999L, 0)).isEqualTo(UNRESOLVED);
        assertThat(history.reachedNs(1_000_000_000_000L, 0)).isEqualTo(20);
    }
}
