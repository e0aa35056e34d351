package org.brickprofiler.trace.read;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a Perfetto trace says of a track. Immutable.
 *
 * @param uuid its identifier
 * @param name its name, or that of its thread or process; may be empty
 * @param parent the identifier of the track it belongs to, 0 where that is not said
 * @param process the process that it is, or whose thread it is; null where it is neither
 * @param isThread whether it is a thread
 * @param tid the thread's number
 * @param unit of a counter the unit of its values, which may be empty; null where it is none
 * @param labels what the process is labelled with
 * @param offset where the trace says so
 */
record PerfettoTrack(
        long uuid,
        String name,
        long parent,
        @Nullable Long process,
        boolean isThread,
        long tid,
        @Nullable String unit,
        List<String> labels,
        long offset) {

    private static final int MOST_LABELS = 64;

    PerfettoTrack {
        labels = List.copyOf(labels);
    }

    /** Whether it stands for a process. */
    boolean isProcess() {
        return process != null && !isThread;
    }

    /** Reads the message that was entered. */
    static PerfettoTrack read(ProtoInput in, int mostBytes) throws IOException {
        return new Reader(in, mostBytes).read();
    }

    /** Reads one of them. */
    private static final class Reader {
        private final ProtoInput in;
        private final int mostBytes;
        private final List<String> labels = new ArrayList<>();
        private long uuid;
        private String name = "";
        private String innerName = "";
        private long parent;
        private @Nullable Long process;
        private boolean isThread;
        private long tid;
        private @Nullable String unit;

        Reader(ProtoInput in, int mostBytes) {
            this.in = in;
            this.mostBytes = mostBytes;
        }

        PerfettoTrack read() throws IOException {
            long offset = in.offset();
            while (in.nextField()) {
                if (in.is(PerfettoFields.TRACK_UUID, ProtoInput.VARINT)) {
                    uuid = in.varint();
                } else if (in.is(PerfettoFields.TRACK_PARENT_UUID, ProtoInput.VARINT)) {
                    parent = in.varint();
                } else if (in.is(PerfettoFields.TRACK_NAME, ProtoInput.LENGTH_DELIMITED)) {
                    name = Names.bounded(in.text(mostBytes));
                } else {
                    inside();
                }
            }
            return new PerfettoTrack(
                    uuid, name.isEmpty() ? innerName : name, parent, process, isThread, tid, unit, labels, offset);
        }

        private void inside() throws IOException {
            switch (in.fieldOf(ProtoInput.LENGTH_DELIMITED)) {
                case PerfettoFields.TRACK_PROCESS -> {
                    long outer = in.enter();
                    process();
                    in.leave(outer);
                }
                case PerfettoFields.TRACK_THREAD -> {
                    long outer = in.enter();
                    thread();
                    in.leave(outer);
                }
                case PerfettoFields.TRACK_COUNTER -> {
                    long outer = in.enter();
                    counter();
                    in.leave(outer);
                }
                default -> in.skip();
            }
        }

        private void process() throws IOException {
            process = process == null ? Long.valueOf(0) : process;
            while (in.nextField()) {
                if (in.is(PerfettoFields.PROCESS_PID, ProtoInput.VARINT)) {
                    process = in.varint();
                } else if (in.is(PerfettoFields.PROCESS_NAME, ProtoInput.LENGTH_DELIMITED)) {
                    innerName = Names.bounded(in.text(mostBytes));
                } else if (in.is(PerfettoFields.PROCESS_LABELS, ProtoInput.LENGTH_DELIMITED)) {
                    String label = Names.bounded(in.text(mostBytes));
                    if (labels.size() < MOST_LABELS) {
                        labels.add(label);
                    }
                } else {
                    in.skip();
                }
            }
        }

        private void thread() throws IOException {
            isThread = true;
            process = process == null ? Long.valueOf(0) : process;
            while (in.nextField()) {
                if (in.is(PerfettoFields.THREAD_PID, ProtoInput.VARINT)) {
                    process = in.varint();
                } else if (in.is(PerfettoFields.THREAD_TID, ProtoInput.VARINT)) {
                    tid = in.varint();
                } else if (in.is(PerfettoFields.THREAD_NAME, ProtoInput.LENGTH_DELIMITED)) {
                    innerName = Names.bounded(in.text(mostBytes));
                } else {
                    in.skip();
                }
            }
        }

        private void counter() throws IOException {
            unit = "";
            while (in.nextField()) {
                if (in.is(PerfettoFields.COUNTER_UNIT, ProtoInput.VARINT)) {
                    unit = nameOf(in.varint());
                } else if (in.is(PerfettoFields.COUNTER_UNIT_NAME, ProtoInput.LENGTH_DELIMITED)) {
                    unit = Names.bounded(in.text(mostBytes));
                } else {
                    in.skip();
                }
            }
        }

        private static String nameOf(long number) {
            if (number == PerfettoFields.UNIT_NS) {
                return "ns";
            }
            if (number == PerfettoFields.UNIT_COUNT) {
                return "count";
            }
            return number == PerfettoFields.UNIT_BYTES ? "bytes" : "";
        }
    }
}
