package org.brickprofiler.trace.read;

import java.io.IOException;
import org.brickprofiler.trace.read.EventCollector.Site;
import org.brickprofiler.trace.read.EventCollector.Slice;
import org.brickprofiler.trace.read.Omission.Reason;
import org.jspecify.annotations.Nullable;

/**
 * A trace that has durations or sums and no times. Its executions are summed in the order of the file, and its wall
 * time is the one that it states. One thread.
 */
final class TraceOfSums extends TraceKind {

    private final Kernels kernels = newKernels();
    private final ProfileSums sums = new ProfileSums(builder, kernels, null);
    private long ignoredByRule;

    TraceOfSums(ProfileBuilder builder) {
        super(builder);
    }

    @Override
    @Nullable
    Reason ignores(TraceEvent event) throws TraceFormatException {
        Reason reason = event.kind().ignoredAs();
        if (reason == Reason.ANNOTATION && Microseconds.isTime(event.startNs)) {
            builder.steps.add(event);
        }
        return reason;
    }

    @Override
    @Nullable
    Site site(TraceEvent event) {
        return null;
    }

    @Override
    Slice beginSlice(TraceEvent event) {
        noteBytes(event);
        int kernel = kernels.number(event, event.bytes != TraceEvent.NONE);
        boolean isCompilation = event.category.equals(TornadoParser.COMPILE);
        String elements =
                kernel >= 0 && !isCompilation ? kernels.get(kernel).target().elements() : "";
        long amount = elements.isEmpty() ? event.knownBytes() : event.ruleNumber(elements);
        long marks = elements.isEmpty() ? 0 : Execution.withElements(0);
        return new Slice(event) {
            @Override
            void endedBy(TraceEvent end) {
                // The begin states everything.
            }

            @Override
            void keep(long endNs) throws TraceFormatException {
                if (kernel == Kernels.IGNORED) {
                    ignoredByRule += sum.executions();
                } else {
                    take(new Execution(startNs, endNs, offset, amount, 0, kernel, 0, marks), sum, isCompilation);
                }
            }
        };
    }

    private void take(Execution event, TraceEvent.Sum sum, boolean isCompilation) throws TraceFormatException {
        if (options.skipSteps() > 0 && builder.steps.count() <= options.skipSteps()) {
            sums.leaveOut(event, event.elapsedNs(), sum, Reason.SKIPPED_STEP);
        } else if (isCompilation && !options.keepWarmup()) {
            sums.leaveOut(event, event.elapsedNs(), sum, Reason.WARM_UP);
        } else {
            sums.count(event, sum);
        }
    }

    @Override
    void addOther(TraceEvent event) {
        // Metadata names rows, which sums do not have.
    }

    @Override
    TraceProfile profile() throws IOException {
        MarkedSteps.checkSkip(builder.source, options.skipSteps(), builder.steps.count());
        omissions.add(Reason.RULE, ignoredByRule);
        TraceProfile.Counting counting =
                head.hasTaskGraphs ? TraceProfile.Counting.TASK_GRAPHS : TraceProfile.Counting.SUMS;
        return sums.profile(counting, head.wholeNs(), new BusyTime(), builder.steps.count())
                .omissions(builder.listOmissions())
                .build();
    }

    @Override
    public void close() {
        // Nothing is open.
    }
}
