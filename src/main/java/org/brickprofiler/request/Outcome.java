package org.brickprofiler.request;

/** The reason for which a request ended. */
public enum Outcome {
    /** The model ended the answer. */
    COMPLETED,
    /** The answer reached the limit on its length. */
    LENGTH,
    /** The client gave up. */
    CANCELLED,
    /** The engine failed. */
    FAILED;

    /** Returns the number of this outcome; the only reader of the ordinal. */
    @SuppressWarnings("EnumOrdinal") // this method is where it is wrapped
    int index() {
        return ordinal();
    }
}
