package org.brickprofiler.trace.write;

import java.util.List;
import org.brickprofiler.Backend;
import org.brickprofiler.trace.SlowSteps;
import org.brickprofiler.trace.TraceInfo;
import org.brickprofiler.trace.TraceInfo.Device;

/** Writes the text before and after the events, and the events that name processes and rows. */
final class ChromeHeader {

    /** The sort index at which Kineto puts devices: below all processes. */
    private static final long FIRST_DEVICE_SORT_INDEX = 1 << 24;

    private final JsonBuffer out;
    private final TraceInfo info;
    private final TraceFiles.Origin origin;
    private boolean anyEvent;

    ChromeHeader(JsonBuffer out, TraceInfo info, TraceFiles.Origin origin) {
        this.out = out;
        this.info = info;
        this.origin = origin;
    }

    /** Writes everything up to the first event. */
    void writeHead(long baseNs) {
        out.ascii("{\n  \"schemaVersion\": 1,\n");
        if (origin == TraceFiles.Origin.OWN) {
            out.ascii("  \"producer\": ").string(ChromeWriter.PRODUCER).ascii(",\n");
        }
        out.ascii("  \"deviceProperties\": [");
        for (int i = 0; i < info.devices().size(); i++) {
            out.ascii(i == 0 ? "\n    " : ",\n    ");
            writeDevice(info.devices().get(i));
        }
        out.ascii(info.devices().isEmpty() ? "],\n" : "\n  ],\n");
        writeRank();
        out.ascii("  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": ").number(baseNs);
        out.ascii(",\n  \"droppedSpans\": ").number(info.droppedSpans());
        if (info.isCutOff()) {
            out.ascii(",\n  \"cutOff\": true");
        }
        info.slowSteps().ifPresent(this::writeSlowSteps);
        info.clockErrorNs()
                .ifPresent(errorNs -> out.ascii(",\n  \"clockErrorNs\": ").number(errorNs));
        if (info.hasNetTimes()) {
            out.ascii(",\n  \"timesAsRecorded\": true");
        }
        out.ascii(",\n  \"traceEvents\": [");
    }

    private void writeSlowSteps(SlowSteps steps) {
        out.ascii(",\n  \"slowSteps\": [");
        String separator = "\n    ";
        for (String part : CheckedTracks.parts(steps)) {
            out.ascii(separator).string(part);
            separator = ",\n    ";
        }
        out.ascii("\n  ]");
    }

    /**
     * Writes the rank, or 0 if there is none. Holistic Trace Analysis searches for it with a pattern that requires the
     * space.
     */
    private void writeRank() {
        if (info.rank().isPresent() || origin == TraceFiles.Origin.OWN) {
            out.ascii("  \"distributedInfo\": {\"rank\": ").number(info.rank().orElse(0));
            out.ascii(", \"world_size\": ").number(info.worldSize());
            out.ascii(info.rank().isPresent() ? "},\n" : ", \"derived\": true},\n");
        }
    }

    private void writeDevice(Device device) {
        out.ascii("{\"id\": ").number(device.id());
        out.ascii(", \"name\": ").string(device.name());
        out.ascii(", \"backend\": \"").ascii(device.backend().name()).ascii("\"");
        device.memoryBytes()
                .ifPresent(bytes -> out.ascii(", \"totalGlobalMem\": ").number(bytes));
        out.ascii("}");
    }

    /** Writes everything after the last event. */
    void writeTail() {
        out.ascii("\n  ],\n  \"traceName\": ").string(info.processName()).ascii("\n}\n");
    }

    /** Separates an event from the one before. */
    void nextEvent() {
        out.drainIfFull();
        out.ascii(anyEvent ? ",\n    " : "\n    ");
        anyEvent = true;
    }

    void writeProcesses(ChromeRows rows, CheckedTracks tracks) {
        writeProcess(rows.hostPid(), info.processName(), "CPU", rows.hostPid());
        for (long device : rows.devices()) {
            // Readers recognise a device by this name if the program does not mark the events on it.
            String name = origin == TraceFiles.Origin.OWN ? info.processName() : tracks.nameOfDevice(device);
            writeProcess(device, name, kind(device) + " " + device, FIRST_DEVICE_SORT_INDEX + device);
        }
    }

    private void writeProcess(long pid, String name, String label, long sortIndex) {
        writeMeta("process_name", pid, 0).ascii("{\"name\": ").string(name).ascii("}}");
        List<String> labels = CheckedTracks.processLabels(info);
        labels.add(0, label);
        writeMeta("process_labels", pid, 0)
                .ascii("{\"labels\": ")
                .string(String.join(", ", labels))
                .ascii("}}");
        writeMeta("process_sort_index", pid, 0)
                .ascii("{\"sort_index\": ")
                .number(sortIndex)
                .ascii("}}");
    }

    private String kind(long id) {
        return info.devices().stream().anyMatch(device -> device.id() == id && device.backend() != Backend.CPU)
                ? "GPU"
                : "device";
    }

    /** Names a row. A lane is sorted beside its track. */
    void writeRow(ChromeRows.Row row, String name, long sortIndex) {
        writeMeta("thread_name", row.pid(), row.tid())
                .ascii("{\"name\": ")
                .string(name)
                .ascii("}}");
        writeMeta("thread_sort_index", row.pid(), row.tid())
                .ascii("{\"sort_index\": ")
                .number(sortIndex)
                .ascii("}}");
    }

    private JsonBuffer writeMeta(String name, long pid, long tid) {
        nextEvent();
        return out.ascii("{\"ph\": \"M\", \"name\": \"")
                .ascii(name)
                .ascii("\", \"ts\": 0.000, \"pid\": ")
                .number(pid)
                .ascii(", \"tid\": ")
                .number(tid)
                .ascii(", \"args\": ");
    }
}
