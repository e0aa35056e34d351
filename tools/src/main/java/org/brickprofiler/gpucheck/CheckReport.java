package org.brickprofiler.gpucheck;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.brickprofiler.gpucheck.Outcome.Status;
import org.brickprofiler.internal.io.AtomicFile;

/**
 * The results of all checks, for people and for a file. Immutable.
 *
 * @param device the name of the device
 * @param simulated whether the driver is simulated
 * @param driver the CUDA version that the driver supports
 * @param outcomes the results
 */
record CheckReport(String device, boolean simulated, String driver, List<Outcome> outcomes) {

    private static final String NO_MEASUREMENT =
            "*** SIMULATED DRIVER: no device was used, and no figure here is a measurement of one. ***";

    /** Copies the list. */
    CheckReport {
        outcomes = List.copyOf(outcomes);
    }

    /**
     * Returns whether all checks are good.
     *
     * @return true if nothing is broken, no bound is missed, and at least one claim held
     */
    boolean holds() {
        return worst() == Status.HELD;
    }

    /**
     * Returns the worst status.
     *
     * @return {@link Status#BROKEN} also if no claim held; {@link Status#MISSED}; {@link Status#HELD}
     */
    Status worst() {
        if (count(Status.BROKEN) > 0) {
            return Status.BROKEN;
        }
        if (count(Status.MISSED) > 0) {
            return Status.MISSED;
        }
        return count(Status.HELD) > 0 ? Status.HELD : Status.BROKEN;
    }

    private long count(Status status) {
        return outcomes.stream().filter(outcome -> outcome.status() == status).count();
    }

    /**
     * Returns a description of the device, to be printed before the checks.
     *
     * @param device the device's name
     * @param simulated whether the device is simulated, so that nothing is a measurement
     * @param driver the CUDA version that the driver supports
     * @return one line without its end
     */
    static String header(String device, boolean simulated, String driver) {
        return (simulated ? NO_MEASUREMENT + " " : "") + "Device: " + device + ", driver for CUDA " + driver + "; Java "
                + Runtime.version();
    }

    /**
     * Returns the results as a table.
     *
     * @return lines that end with {@code "\n"}
     */
    String toText() {
        StringBuilder text = new StringBuilder("\n");
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
                "\n%d held, %d unclear, %d missed a bound, %d broken, %d could not be made\n",
                count(Status.HELD),
                count(Status.UNCLEAR),
                count(Status.MISSED),
                count(Status.BROKEN),
                count(Status.NOT_MADE)));
        if (simulated) {
            text.append(NO_MEASUREMENT).append('\n');
        }
        return text.toString();
    }

    private static String word(Status status) {
        return switch (status) {
            case HELD -> "held";
            case UNCLEAR -> "unclear";
            case MISSED -> "MISSED";
            case BROKEN -> "BROKEN";
            case NOT_MADE -> "not made";
            case SHOWN -> "shown";
        };
    }

    /**
     * Writes all results as JSON.
     *
     * @param file the file; an existing one is replaced
     * @throws IOException when it cannot be written
     */
    void write(Path file) throws IOException {
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
                json.writeStringField("worst", worst().name().toLowerCase(Locale.ROOT));
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
