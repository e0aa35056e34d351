package org.brickprofiler.trace;

import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import org.brickprofiler.StepInfo;

/** One execution of a named thing: its beginning, its end, and optional details. */
public interface Span {

    /**
     * The name of a flow without a name, like all flows that this library records: they lead from a launch to its work,
     * or from a step to the requests that it worked on.
     */
    int UNNAMED = -1;

    /** The brick of a span that a profile does not count. */
    int NOT_COUNTED = -1;

    /**
     * Returns the beginning.
     *
     * @return ns, on the timeline's clock
     */
    long startNs();

    /**
     * Returns the end.
     *
     * @return ns, on the timeline's clock; not before {@link #startNs()}
     */
    long endNs();

    /**
     * Returns the name of the span.
     *
     * @return an index into {@link Timeline#names()}
     */
    int name();

    /**
     * Returns the brick as which a profile counts the span.
     *
     * @return an index into {@link Timeline#bricks()}, or {@link #NOT_COUNTED}, which this default returns
     */
    default int brick() {
        return NOT_COUNTED;
    }

    /**
     * Returns the amount of data it processed.
     *
     * @return the number of elements, or of bytes for a copy; -1 if it is not known
     */
    long elements();

    /**
     * Returns whether it is a sample of a brick that a device executed and timed. Other spans of a device are not
     * samples; their samples are the host's spans.
     *
     * @return true only on the track of a stream, with a brick's category and known elements
     */
    boolean isDeviceSample();

    /**
     * Returns the layer of the model.
     *
     * @return the number of the layer, or -1 for none
     */
    int layer();

    /**
     * Returns the phase of a step or of a sample. The phase of a sample is that of the step to which the profiler
     * counted it.
     *
     * @return the phase; this default returns {@link StatedPhase#NONE}
     */
    default StatedPhase phase() {
        return StatedPhase.NONE;
    }

    /**
     * Returns the device's time for it.
     *
     * @return ns, or -1 if it was not measured
     */
    long deviceNs();

    /**
     * Returns the flow that begins here, for example from a launch to the kernels it launched.
     *
     * @return the number of the flow, which is the {@link #flowIn()} of one or more other spans; or 0 for none
     */
    long flowOut();

    /**
     * Returns the kind of the flow that begins here.
     *
     * @return an index into {@link Timeline#names()}, or {@link #UNNAMED}, which this default returns
     */
    default int flowOutName() {
        return UNNAMED;
    }

    /**
     * Returns the flow that ends here.
     *
     * @return the number of the flow, or 0 for none
     */
    long flowIn();

    /**
     * Returns the kind of the flow that ends here.
     *
     * @return the same as {@link #flowOutName()} of the span that it comes from
     */
    default int flowInName() {
        return UNNAMED;
    }

    /**
     * Returns the correlation id with which the recording program joined calls of a device's runtime and the work that
     * they launched.
     *
     * @return 0 or more, or -1 if there is none; this default returns -1, because flows join this library's own spans
     */
    default long correlation() {
        return -1;
    }

    /** The phase that a span states: of an announced step, or of the step to which the profiler counted a sample. */
    enum StatedPhase {
        /** No phase: the span is neither such a step nor a sample, or the sample belongs to no step. */
        NONE(Optional.empty()),
        /** {@link StepInfo.Phase#PREFILL}. */
        PREFILL(Optional.of(StepInfo.Phase.PREFILL)),
        /** {@link StepInfo.Phase#DECODE}. */
        DECODE(Optional.of(StepInfo.Phase.DECODE)),
        /** {@link StepInfo.Phase#MIXED}. */
        MIXED(Optional.of(StepInfo.Phase.MIXED)),
        /** A sample whose phase is unknown: the file it was read from does not state phases. */
        UNKNOWN(Optional.empty());

        private static final List<StatedPhase> ALL = List.of(values());

        private final Optional<StepInfo.Phase> ofStep;
        private final String word;

        StatedPhase(Optional<StepInfo.Phase> ofStep) {
            this.ofStep = ofStep;
            this.word = name().toLowerCase(Locale.ROOT);
        }

        /**
         * Returns the corresponding phase of {@link StepInfo}.
         *
         * @return empty for {@link #NONE} and {@link #UNKNOWN}
         */
        public Optional<StepInfo.Phase> ofStep() {
            return ofStep;
        }

        /**
         * Returns the word that stands for this phase in files.
         *
         * @return the name in lower case
         */
        public String word() {
            return word;
        }

        /**
         * Returns the number that stands for this phase in files.
         *
         * @return 0 to 4
         */
        @SuppressWarnings("EnumOrdinal") // this method wraps the ordinal
        public int number() {
            return ordinal();
        }

        /**
         * Returns the phase with a number.
         *
         * @param number a {@link #number}
         * @return the phase; {@link #UNKNOWN} for any other number
         */
        public static StatedPhase of(long number) {
            return number >= 0 && number < ALL.size() ? ALL.get((int) number) : UNKNOWN;
        }

        /**
         * Returns the phase with a word.
         *
         * @param word a {@link #word}
         * @return the phase; {@link #UNKNOWN} for any other word
         */
        public static StatedPhase of(String word) {
            Objects.requireNonNull(word, "word");
            return ALL.stream()
                    .filter(phase -> phase.word.equals(word))
                    .findFirst()
                    .orElse(UNKNOWN);
        }
    }
}
