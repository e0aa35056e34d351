package org.brickprofiler.report;

import java.io.IOException;
import java.util.Optional;
import org.brickprofiler.device.StreamTotals;
import org.jspecify.annotations.Nullable;

/** Reads the entry of one device stream. One thread. */
final class StreamReader {

    private final JsonInput input;
    private final NumberFields numbers;

    private String stream = "unknown";
    private String device = "unknown";
    private int deviceIndex;
    private @Nullable String failure;

    private StreamReader(JsonInput input) {
        this.input = input;
        this.numbers = new NumberFields(input);
    }

    /**
     * Reads an entry.
     *
     * @param input before the entry; after it on return
     * @return the stream
     * @throws IOException when a value is wrong
     */
    static StreamTotals read(JsonInput input) throws IOException {
        StreamReader reader = new StreamReader(input);
        input.object("stream", reader::field);
        return reader.totals();
    }

    private void field(String key) throws IOException {
        switch (key) {
            case "stream" -> stream = input.text(key);
            case "device" -> device = input.text(key);
            case "device_index" -> deviceIndex = (int) input.whole(key, 0, Integer.MAX_VALUE);
            case "failure" -> failure = input.text(key);
            case "samples", "busy_ns", "idle_ns", "waits", "clock_error_ns" -> numbers.readWhole(key);
            default -> input.skip();
        }
    }

    private StreamTotals totals() throws IOException {
        return new StreamTotals(
                stream,
                device,
                deviceIndex,
                numbers.whole("samples"),
                numbers.whole("busy_ns"),
                numbers.whole("idle_ns"),
                numbers.whole("waits"),
                numbers.whole("clock_error_ns"),
                Optional.ofNullable(failure));
    }
}
