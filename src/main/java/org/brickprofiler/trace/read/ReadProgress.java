package org.brickprofiler.trace.read;

/** Is told how far a reading has come; called on the reading thread. */
@FunctionalInterface
public interface ReadProgress {

    /** The total where it is not known. */
    long UNKNOWN = -1;

    /**
     * Some more was read.
     *
     * @param bytesRead bytes of the file so far, still packed
     * @param totalBytes bytes of the whole file, or {@link #UNKNOWN} of a stream
     */
    void at(long bytesRead, long totalBytes);
}
