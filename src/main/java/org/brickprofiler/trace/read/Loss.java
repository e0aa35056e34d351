package org.brickprofiler.trace.read;

/** What a trace holds that a timeline has no place for, though nothing is wrong with it, and what is made of it. */
public enum Loss {
    /** An argument that is none of elements, layer, device and its time, or whose value is nothing of the kind. */
    ARGUMENT("argument left out", "arguments left out"),
    /** A further key of an event, or in Perfetto's format a field that is not read. */
    FIELD("further field left out", "further fields left out"),
    /** An asynchronous slice or moment. */
    ASYNC("async event left out", "async events left out"),
    /** A flow that lacks its start or its end, or leads from or to no slice. */
    LOOSE_FLOW("flow without two ends left out", "flows without two ends left out"),
    /** A flow of a slice that has one in that direction already, or one beyond two slices. */
    FURTHER_FLOW("second flow of a slice left out", "second flows of slices left out"),
    /** The value of a counter that is no number. */
    NO_NUMBER("counter value that is no number left out", "counter values that are no numbers left out"),
    /** An event whose phase means something else, or nothing that is known. */
    OTHER_PHASE("event of another phase left out", "events of other phases left out"),
    /** What names or sorts something other than processes and threads. */
    METADATA("other metadata event left out", "other metadata events left out"),
    /** A name too long to be kept whole: it is cut, now or before, and ends with the hash of the whole. */
    LONG_NAME("long name cut", "long names cut"),
    /** A process beside the traced one: a timeline has one process. */
    PROCESS(
            "further process, now a prefix of its threads' names",
            "further processes, now prefixes of their threads' names");

    private final String one;
    private final String several;

    Loss(String one, String several) {
        this.one = one;
        this.several = several;
    }

    /**
     * A count of them, in words.
     *
     * @param count how many
     * @return for example {@code "2 async events left out"}
     */
    public String text(long count) {
        return Figures.count(count) + " " + (count == 1 ? one : several);
    }
}
