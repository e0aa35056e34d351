package org.brickprofiler.device.opencl;

/** The command that serves as a mark. The time of the mark is that of the command's end. */
enum MarkKind {
    /** A marker. */
    MARKER("clEnqueueMarkerWithWaitList", "the end of a marker") {
        @Override
        int enqueue(OpenCl driver, long queue, long buffer, long pattern, long event) {
            return driver.clEnqueueMarkerWithWaitList(queue, 0, 0, event);
        }
    },

    /** A fill of a buffer of {@value #BYTES} bytes, for drivers that stamp markers on entry. */
    FILL("clEnqueueFillBuffer", "the end of a fill of 4 bytes, since markers have other times") {
        @Override
        int enqueue(OpenCl driver, long queue, long buffer, long pattern, long event) {
            return driver.clEnqueueFillBuffer(queue, buffer, pattern, BYTES, 0, BYTES, 0, 0, event);
        }
    };

    /** The size of the buffer and of the pattern. */
    static final int BYTES = 4;

    private final String function;
    private final String text;

    MarkKind(String function, String text) {
        this.function = function;
        this.text = text;
    }

    /**
     * Enqueues a mark.
     *
     * @param buffer a buffer of {@link #BYTES} bytes; not used by markers
     * @param pattern the address of {@link #BYTES} bytes; not used by markers
     * @param event the address that receives the event
     * @return the driver's code
     */
    abstract int enqueue(OpenCl driver, long queue, long buffer, long pattern, long event);

    String function() {
        return function;
    }

    /** Returns a description of the time of a mark, for messages. */
    String text() {
        return text;
    }
}
