package org.brickprofiler.jfr;

import java.util.Map;
import jdk.jfr.Category;
import jdk.jfr.Contextual;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.Step;
import org.jspecify.annotations.Nullable;

/**
 * A step. Each category's brick time has its own field, because events hold neither maps nor lists. From JDK 25 on,
 * {@code jfr print} and Mission Control show the contextual fields beside each event that the thread commits in the
 * step.
 */
@Name(StepEvent.NAME)
@Label("Step")
@Category("Brick Profiler")
@Description("A forward pass that was announced as a step")
@StackTrace(false)
final class StepEvent extends Event {

    static final String NAME = "brick.Step";

    @Contextual
    @Label("Phase")
    @Nullable
    String phase;

    @Contextual
    @Label("Elapsed")
    @Description("The duration of the step; the event begins before the step and ends after it")
    @Timespan(Timespan.NANOSECONDS)
    long elapsed;

    @Contextual
    @Label("Batch")
    int batch;

    @Contextual
    @Label("Prefill Tokens")
    long prefillTokens;

    @Contextual
    @Label("KV Length")
    long kvLength;

    @Contextual
    @Label("Output Tokens")
    @Description("Tokens that the step generated, without accepted drafted ones")
    long outputTokens;

    @Label("Drafted Tokens")
    long draftedTokens;

    @Label("Accepted Tokens")
    long acceptedTokens;

    @Label("Profiler")
    @Description("The number of the profiler among those of the virtual machine that emit events, from 1")
    int profiler;

    @Label("Follows")
    @Description("Whether its time to tokens counts from an earlier step of the thread")
    boolean follows;

    @Label("Attributed")
    @Description("Whether its brick time by category is known")
    boolean attributed;

    @Label("Norm")
    @Timespan(Timespan.NANOSECONDS)
    long norm;

    @Label("Attention")
    @Timespan(Timespan.NANOSECONDS)
    long attention;

    @Label("FFN")
    @Timespan(Timespan.NANOSECONDS)
    long ffn;

    @Label("Other")
    @Timespan(Timespan.NANOSECONDS)
    long other;

    @Label("Sparse")
    @Timespan(Timespan.NANOSECONDS)
    long sparse;

    @Label("FFT")
    @Timespan(Timespan.NANOSECONDS)
    long fft;

    @Label("Solver")
    @Timespan(Timespan.NANOSECONDS)
    long solver;

    @Label("Quantization")
    @Timespan(Timespan.NANOSECONDS)
    long quantization;

    @Label("Communication")
    @Timespan(Timespan.NANOSECONDS)
    long communication;

    @Label("Transfer")
    @Timespan(Timespan.NANOSECONDS)
    long transfer;

    @Label("Matrix product")
    @Timespan(Timespan.NANOSECONDS)
    long matrixProduct;

    @Label("Convolution")
    @Timespan(Timespan.NANOSECONDS)
    long convolution;

    void fill(Step step, boolean followsAnother, boolean isAttributed) {
        follows = followsAnother;
        attributed = isAttributed;
        phase = step.info().phase().displayName();
        elapsed = step.durationNs();
        batch = step.info().batch();
        prefillTokens = step.info().prefillTokens();
        kvLength = step.info().kvLength();
        outputTokens = step.info().outputTokens();
        draftedTokens = step.info().draftedTokens();
        acceptedTokens = step.acceptedTokens();
        Map<BrickCategory, Long> ns = step.categoryNs();
        norm = of(ns, BrickCategory.NORM);
        attention = of(ns, BrickCategory.ATTENTION);
        ffn = of(ns, BrickCategory.FFN);
        other = of(ns, BrickCategory.OTHER);
        sparse = of(ns, BrickCategory.SPARSE);
        fft = of(ns, BrickCategory.FFT);
        solver = of(ns, BrickCategory.SOLVER);
        quantization = of(ns, BrickCategory.QUANTIZATION);
        communication = of(ns, BrickCategory.COMMUNICATION);
        transfer = of(ns, BrickCategory.TRANSFER);
        matrixProduct = of(ns, BrickCategory.MATRIX_PRODUCT);
        convolution = of(ns, BrickCategory.CONVOLUTION);
    }

    private static long of(Map<BrickCategory, Long> ns, BrickCategory category) {
        return ns.getOrDefault(category, 0L);
    }

    /** Returns the field of a category's time. */
    static String field(BrickCategory category) {
        return switch (category) {
            case NORM -> "norm";
            case ATTENTION -> "attention";
            case FFN -> "ffn";
            case OTHER -> "other";
            case SPARSE -> "sparse";
            case FFT -> "fft";
            case SOLVER -> "solver";
            case QUANTIZATION -> "quantization";
            case COMMUNICATION -> "communication";
            case TRANSFER -> "transfer";
            case MATRIX_PRODUCT -> "matrixProduct";
            case CONVOLUTION -> "convolution";
        };
    }
}
