package org.brickprofiler.trace.read;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.InputStream;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.TimelineVisitor;

/**
 * A Kineto trace of any size that is generated while it is read; and a program that reads one in a separate virtual
 * machine and prints the result.
 */
final class LargeTrace extends InputStream {

    private static final int EVENTS_A_PART = 64;
    private static final String HEAD = "{\"schemaVersion\": 1, \"traceEvents\": [\n";
    private static final String TAIL = "{}], \"traceName\": \"large\"}";

    /** A launch on the host, a kernel of 3 us on one of two streams, and their flow, every 5 us; the clock is exact. */
    private static final String EVENT = """
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 4711, "tid": 4711, "ts": %1$d.250,
             "dur": 2.125, "args": {"External id": %2$d, "cbid": 211, "correlation": %2$d}},
            {"ph": "s", "id": %2$d, "pid": 4711, "tid": 4711, "ts": %1$d.250, "cat": "ac2g", "name": "ac2g"},
            {"ph": "X", "cat": "kernel", "name": "%3$s_%4$d", "pid": 0, "tid": %5$d, "ts": %6$d.500, "dur": 3.000,
             "args": {"External id": %2$d, "queued": 0, "device": 0, "context": 1, "stream": %5$d, "correlation": %2$d,
             "registers per thread": 47, "shared memory": 0, "blocks per SM": 8, "warps per SM": 64,
             "grid": [864, 1, 1], "block": [256, 1, 1], "est. achieved occupancy %%": 63}},
            {"ph": "f", "id": %2$d, "pid": 0, "tid": %5$d, "ts": %6$d.500, "cat": "ac2g", "name": "ac2g", "bp": "e"},
            """;

    private final long parts;
    private final int names;
    private long part;
    private byte[] bytes = HEAD.getBytes(US_ASCII);
    private int next;
    private boolean over;

    LargeTrace(long kernels, int names) {
        this.parts = kernels / EVENTS_A_PART;
        this.names = names;
    }

    @Override
    public int read() {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0];
    }

    @Override
    public int read(byte[] into, int from, int length) {
        while (next == bytes.length) {
            if (over) {
                return -1;
            }
            next = 0;
            over = part == parts;
            bytes = (over ? TAIL : part()).getBytes(US_ASCII);
            part++;
        }
        int read = Math.min(length, bytes.length - next);
        System.arraycopy(bytes, next, into, from, read);
        next += read;
        return read;
    }

    /**
     * Returns the events of the next part, the latest first. Of each four parts, the second and the fourth are
     * exchanged.
     */
    private String part() {
        StringBuilder text = new StringBuilder();
        long base = part % 4 == 1 ? part + 2 : part % 4 == 3 ? part - 2 : part;
        for (int i = EVENTS_A_PART - 1; i >= 0; i--) {
            long number = base * EVENTS_A_PART + i;
            long startUs = 1_700_000_000_000_000L + 5 * number;
            text.append(EVENT.formatted(startUs - 4, number, "my_kernel", number % names, 7 + number % 2, startUs));
        }
        return text.toString();
    }

    /**
     * Reads a generated trace and prints the result.
     *
     * @param arguments {@code profile} or {@code timeline}, the number of kernels, which is a multiple of 256, and the
     *     number of their names
     */
    public static void main(String[] arguments) throws IOException {
        LargeTrace trace = new LargeTrace(Long.parseLong(arguments[1]), Integer.parseInt(arguments[2]));
        long[] bytes = new long[1];
        ReadOptions options = ReadOptions.defaults().withProgress((bytesRead, totalBytes) -> bytes[0] = bytesRead);
        if (arguments[0].equals("timeline")) {
            try (TraceTimeline read = TraceReader.timeline(trace, options)) {
                Counter counter = new Counter();
                for (int track = 0; track < read.timeline().tracks().size(); track++) {
                    counter.lastNs = Long.MIN_VALUE;
                    read.timeline().replay(track, counter);
                }
                System.out.println(bytes[0] + " " + read.eventsRead() + " " + read.events() + " " + counter.spans + " "
                        + counter.elapsedNs + " " + counter.flows + " "
                        + read.omissions().size());
            }
        } else {
            TraceProfile read = TraceReader.profile(trace, options);
            System.out.println(bytes[0] + " " + read.eventsRead() + " " + read.eventsCounted() + " "
                    + read.snapshot().totalNs() + " " + read.busyNs() + " " + read.wallNs() + " "
                    + read.snapshot().bricks().size() + " "
                    + Omissions.faults(read.omissions()).size());
        }
    }

    /** Counts spans, and flows with two ends. */
    private static final class Counter implements TimelineVisitor {
        private long spans;
        private long elapsedNs;
        private long flows;
        private long lastNs;

        @Override
        public void span(Span span) {
            if (span.startNs() < lastNs) {
                throw new AssertionError("the span at " + span.startNs() + " comes after one at " + lastNs);
            }
            lastNs = span.startNs();
            spans++;
            elapsedNs += span.endNs() - span.startNs();
            flows += span.flowIn() > 0 ? 1 : 0;
        }

        @Override
        public void instant(long atNs, int name) {
            throw new AssertionError("an instant at " + atNs);
        }

        @Override
        public void counter(long atNs, double value) {
            throw new AssertionError("a value at " + atNs);
        }
    }
}
