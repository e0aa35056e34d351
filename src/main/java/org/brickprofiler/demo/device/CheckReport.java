package org.brickprofiler.demo.device;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.brickprofiler.demo.device.Outcome.Status;
import org.brickprofiler.io.AtomicFile;

/**
 * What came out of all checks, for a person and for a file. Immutable.
 *
 * @param device the name of the device
 * @param simulated whether the driver only pretends that there is one
 * @param driver the CUDA version that the driver supports
 * @param outcomes what came out
 */
public record CheckReport(String device, boolean simulated, String driver, List<Outcome> outcomes) {

    private static final String NO_MEASUREMENT =
            "*** SIMULATED DRIVER: no device was used, and no figure here is a measurement of one. ***\n";

    /** Copies the list. */
    public CheckReport {
        outcomes = List.copyOf(outcomes);
    }

    /**
     * Whether all is well.
     *
     * @return true if every check that could be made held, and at least one could
     */
    public boolean holds() {
        return count(Status.FAILED) == 0 && count(Status.HELD) > 0;
    }

    private long count(Status status) {
        return outcomes.stream().filter(outcome -> outcome.status() == status).count();
    }

    /**
     * A table.
     *
     * @return lines that end with {@code "\n"}
     */
    public String toText() {
        StringBuilder text = new StringBuilder();
        if (simulated) {
            text.append(NO_MEASUREMENT);
        }
        text.append("Device: ").append(device).append(", driver for CUDA ").append(driver);
        text.append("; Java ").append(Runtime.version()).append("\n\n");
        for (Outcome outcome : outcomes) {
            text.append(String.format(
                    Locale.ROOT,
                    "%-9s %-8s %s\n%-18s %s\n",
                    word(outcome.status()),
                    outcome.check(),
                    outcome.claim(),
                    "",
                    outcome.found()));
        }
        text.append(String.format(
                Locale.ROOT,
                "\n%d held, %d failed, %d could not be made\n",
                count(Status.HELD),
                count(Status.FAILED),
                count(Status.NOT_MADE)));
        if (simulated) {
            text.append(NO_MEASUREMENT);
        }
        return text.toString();
    }

    private static String word(Status status) {
        return switch (status) {
            case HELD -> "held";
            case FAILED -> "FAILED";
            case NOT_MADE -> "not made";
            case TOLD -> "told";
        };
    }

    /**
     * Writes everything as JSON.
     *
     * @param file the file; one that is there is replaced
     * @throws IOException when it cannot be written
     */
    public void write(Path file) throws IOException {
        AtomicFile.write(file, to -> {
            try (JsonGenerator json = new JsonFactory().createGenerator(to)) {
                json.useDefaultPrettyPrinter();
                json.writeStartObject();
                json.writeStringField("kind", "brick-gpu-check");
                json.writeBooleanField("simulated", simulated);
                json.writeStringField("device", device);
                json.writeStringField("cuda", driver);
                json.writeStringField("java", Runtime.version().toString());
                json.writeBooleanField("holds", holds());
                json.writeArrayFieldStart("checks");
                for (Outcome outcome : outcomes) {
                    write(json, outcome);
                }
                json.writeEndArray();
                json.writeEndObject();
                json.writeRaw('\n');
            }
        });
    }

    private static void write(JsonGenerator json, Outcome outcome) throws IOException {
        json.writeStartObject();
        json.writeStringField("check", outcome.check());
        json.writeStringField("status", outcome.status().name().toLowerCase(Locale.ROOT));
        json.writeStringField("claim", outcome.claim());
        json.writeStringField("found", outcome.found());
        json.writeFieldName("figures");
        writeValue(json, outcome.figures());
        json.writeEndObject();
    }

    private static void writeValue(JsonGenerator json, Object value) throws IOException {
        if (value instanceof Map<?, ?> map) {
            json.writeStartObject();
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                json.writeFieldName(String.valueOf(entry.getKey()));
                writeValue(json, entry.getValue());
            }
            json.writeEndObject();
        } else if (value instanceof List<?> list) {
            json.writeStartArray();
            for (Object item : list) {
                writeValue(json, item);
            }
            json.writeEndArray();
        } else {
            // Numbers, texts and booleans.
            json.writeObject(value);
        }
    }
}
