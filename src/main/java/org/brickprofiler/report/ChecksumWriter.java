package org.brickprofiler.report;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.MinimalPrettyPrinter;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Locale;
import org.brickprofiler.checksum.ChecksumEntry;
import org.brickprofiler.checksum.ChecksumLog;

/** Writes one log of checksums. One thread. */
final class ChecksumWriter {

    /** What the first line says the file is. */
    static final String KIND = "brick-checksums";

    private static final String SCHEMA_VERSION = "1.0";

    private final JsonGenerator json;

    private ChecksumWriter(JsonGenerator json) {
        this.json = json;
    }

    /**
     * Writes a log.
     *
     * @param log the log
     * @param out where to, as UTF-8; flushed, and left open
     * @throws IOException when that fails
     */
    static void write(ChecksumLog log, OutputStream out) throws IOException {
        try (JsonGenerator json = JsonReportWriter.generator(out, new MinimalPrettyPrinter("\n"))) {
            ChecksumWriter writer = new ChecksumWriter(json);
            List<ChecksumEntry> entries = log.list();
            writer.header(log, entries.size());
            for (ChecksumEntry entry : entries) {
                writer.entry(entry);
            }
            json.writeRaw('\n');
        }
    }

    private void header(ChecksumLog log, int entries) throws IOException {
        json.writeStartObject();
        json.writeStringField("schema_version", SCHEMA_VERSION);
        json.writeStringField("kind", KIND);
        json.writeStringField("scope", log.options().scope().displayName());
        json.writeNumberField("samples", log.options().samples());
        json.writeNumberField("capacity", log.options().capacity());
        json.writeNumberField("dropped", log.droppedCount());
        json.writeNumberField("entries", entries);
        json.writeEndObject();
    }

    private void entry(ChecksumEntry entry) throws IOException {
        json.writeStartObject();
        json.writeStringField("name", entry.name());
        json.writeNumberField("layer", entry.layer());
        json.writeNumberField("position", entry.position());
        json.writeStringField("hash", String.format(Locale.ROOT, "0x%016X", entry.hash()));
        json.writeNumberField("elements", entry.elements());
        if (entry.nans() > 0) {
            json.writeNumberField("nans", entry.nans());
        }
        if (entry.infinities() > 0) {
            json.writeNumberField("infinities", entry.infinities());
        }
        if (entry.elapsedNs().isPresent()) {
            json.writeNumberField("elapsed_ns", entry.elapsedNs().getAsLong());
        }
        if (!entry.samples().isEmpty()) {
            json.writeArrayFieldStart("samples");
            for (int i = 0; i < entry.samples().size(); i++) {
                // What is not finite becomes a string.
                json.writeNumber(entry.samples().get(i));
            }
            json.writeEndArray();
        }
        json.writeEndObject();
    }
}
