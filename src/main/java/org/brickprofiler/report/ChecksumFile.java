package org.brickprofiler.report;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.util.MinimalPrettyPrinter;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.checksum.ChecksumEntry;
import org.brickprofiler.checksum.ChecksumLog;
import org.brickprofiler.checksum.ChecksumOptions;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.internal.io.InputFile;
import org.brickprofiler.report.internal.JsonInput;
import org.brickprofiler.report.internal.JsonText;
import org.jspecify.annotations.Nullable;

/**
 * A log of checksums in a file, for comparing two processes or two machines. The file preserves everything except the
 * bits of a NaN among the samples.
 *
 * <p>The file is text with a JSON object on each line. The first object has {@code schema_version}, {@code kind}
 * ({@code "brick-checksums"}), {@code scope}, {@code samples}, {@code capacity}, {@code dropped} and the number of
 * {@code entries}. The entries follow in order of execution: {@code name}, {@code layer}, {@code position},
 * {@code hash} (such as {@code "0x85944171F73967E8"}), {@code elements}, and if there are any, {@code nans},
 * {@code infinities}, {@code elapsed_ns} and {@code samples} (numbers, or the strings {@code "NaN"}, {@code "Infinity"}
 * and {@code "-Infinity"}). Equal logs give equal files. Readers ignore keys that they do not know, and refuse a higher
 * major version.
 *
 * <p>Stateless; any thread.
 */
public final class ChecksumFile {

    /** The kind of file, as named in the first line. */
    private static final String KIND = "brick-checksums";

    private static final String SCHEMA_VERSION = "1.0";
    private static final int HIGHEST_MAJOR_VERSION = 1;

    private ChecksumFile() {}

    /**
     * Writes a log to a file. The log is written to a temporary file in the same folder, which then replaces an older
     * file in one step.
     *
     * @param log the log
     * @param path the file; its folder must exist. A pipe or a terminal is written to directly
     * @throws IOException when writing fails; the message names the path and the reason, and an older file is unchanged
     */
    public static void write(ChecksumLog log, Path path) throws IOException {
        AtomicFile.write(path, out -> write(log, out));
    }

    /**
     * Reads a log. The text is read as a stream: memory is needed for the entries only.
     *
     * @param path a file that {@link #write} wrote, of this or an older version
     * @return a log with the same options, entries and number of dropped ones
     * @throws IOException when the file cannot be read, is no log of checksums, or ends too early; the message names
     *     the path and, for a wrong value, the value, its line and its column
     */
    public static ChecksumLog read(Path path) throws IOException {
        return read(InputFile.open(path), path.toString());
    }

    /**
     * Reads a log from a stream up to its end, as {@link #read(Path)} does from a file.
     *
     * @param json the bytes of a file; closed
     * @param source its name in messages, for example {@code "the standard input"}
     * @return a log with the same options, entries and number of dropped ones
     * @throws IOException when the stream cannot be read, is no log of checksums, or ends too early; the message names
     *     the source and, for a wrong value, the value, its line and its column
     */
    public static ChecksumLog read(InputStream json, String source) throws IOException {
        Objects.requireNonNull(json, "json");
        Objects.requireNonNull(source, "source");
        try (JsonParser parser = JsonInput.parser(json)) {
            return new Reader(new JsonInput(parser)).log();
        } catch (JsonProcessingException malformed) {
            throw new IOException(source + ": " + JsonInput.describe(malformed), malformed);
        } catch (IOException failed) {
            throw InputFile.cannotRead(source, failed);
        }
    }

    // ---- writing ----

    /** Writes a log to a stream as UTF-8; flushes the stream, and leaves it open. */
    private static void write(ChecksumLog log, OutputStream out) throws IOException {
        try (JsonGenerator json = JsonText.generator(out, new MinimalPrettyPrinter("\n"))) {
            List<ChecksumEntry> entries = log.list();
            header(json, log, entries.size());
            for (ChecksumEntry entry : entries) {
                entry(json, entry);
            }
            json.writeRaw('\n');
        }
    }

    private static void header(JsonGenerator json, ChecksumLog log, int entries) throws IOException {
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

    private static void entry(JsonGenerator json, ChecksumEntry entry) throws IOException {
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
                // A number that is not finite becomes a string.
                json.writeNumber(entry.samples().get(i));
            }
            json.writeEndArray();
        }
        json.writeEndObject();
    }

    // ---- reading ----

    /** Reads a log of checksums. One thread. */
    private static final class Reader {
        private static final int UNKNOWN = -1;
        private static final int HEXADECIMAL = 16;
        private static final Pattern HASH = Pattern.compile("0x([0-9A-Fa-f]{1,16})");

        private final JsonInput input;
        private final List<ChecksumEntry> entries = new ArrayList<>();

        private boolean kindFound;
        private ChecksumOptions options = ChecksumOptions.DEFAULT;
        private long dropped;
        private int announced = UNKNOWN;

        Reader(JsonInput input) {
            this.input = input;
        }

        ChecksumLog log() throws IOException {
            boolean there = input.next("the first line", this::headerField);
            if (!there || !kindFound) {
                throw input.error("the first line does not have kind \"" + KIND + "\": this is no file of checksums");
            }
            for (EntryFields fields = new EntryFields(); input.next("an entry", fields); fields = new EntryFields()) {
                add(fields.entry());
            }
            if (announced != UNKNOWN && announced != entries.size()) {
                throw input.error("found " + Plural.of(entries.size(), "entry", "entries") + ", expected " + announced
                        + " by the first line");
            }
            return ChecksumLog.of(options, entries, dropped);
        }

        private void add(ChecksumEntry entry) throws IOException {
            if (entries.size() == options.capacity()) {
                throw input.error("there are more entries than the capacity of " + options.capacity());
            }
            int expected = options.samplesOf(entry.elements());
            if (entry.samples().size() != expected) {
                throw input.error("found " + Plural.of(entry.samples().size(), "sample") + " of "
                        + Plural.of(entry.elements(), "element") + ", expected " + expected + " by the first line");
            }
            entries.add(entry);
        }

        private void headerField(String key) throws IOException {
            switch (key) {
                case "schema_version" -> input.version(key, HIGHEST_MAJOR_VERSION);
                case "kind" -> kindFound = requireKind(key);
                case "scope" ->
                    options = options.withScope(
                            input.oneOf(key, ChecksumOptions.Scope.values(), ChecksumOptions.Scope::displayName));
                case "samples" ->
                    options = options.withSamples((int) input.whole(key, 0, ChecksumOptions.MOST_SAMPLES));
                case "capacity" -> options = options.withCapacity((int) input.whole(key, 1, Integer.MAX_VALUE));
                case "dropped" -> dropped = input.whole(key, 0, Long.MAX_VALUE);
                case "entries" -> announced = count(key);
                default -> input.skip();
            }
        }

        private boolean requireKind(String key) throws IOException {
            if (!input.text(key).equals(KIND)) {
                throw input.wrong(key, "is not \"" + KIND + "\": this is no file of checksums");
            }
            return true;
        }

        private int count(String key) throws IOException {
            return (int) input.whole(key, 0, Integer.MAX_VALUE);
        }

        private long hash(String key) throws IOException {
            Matcher hash = HASH.matcher(input.text(key));
            if (!hash.matches()) {
                throw input.wrong(key, "is not a checksum such as 0x85944171F73967E8");
            }
            return Long.parseUnsignedLong(hash.group(1), HEXADECIMAL);
        }

        /** The entry being read. */
        private final class EntryFields implements JsonInput.KeyReader {
            private @Nullable String name;
            private int layer = ChecksumEntry.NO_LAYER;
            private int position;
            private @Nullable Long hash;
            private int elements;
            private int nans;
            private int infinities;
            private OptionalLong elapsedNs = OptionalLong.empty();
            private final List<Float> samples = new ArrayList<>();

            @Override
            public void read(String key) throws IOException {
                switch (key) {
                    case "name" -> name = input.text(key);
                    case "layer" -> layer = (int) input.whole(key, ChecksumEntry.NO_LAYER, Integer.MAX_VALUE);
                    case "position" -> position = count(key);
                    case "hash" -> hash = hash(key);
                    case "elements" -> elements = count(key);
                    case "nans" -> nans = count(key);
                    case "infinities" -> infinities = count(key);
                    case "elapsed_ns" -> elapsedNs = OptionalLong.of(input.whole(key, 0, Long.MAX_VALUE));
                    case "samples" -> input.array(key, () -> samples.add(input.float32("sample")));
                    default -> input.skip();
                }
            }

            ChecksumEntry entry() throws IOException {
                if (name == null || hash == null) {
                    throw input.error("an entry has no " + (name == null ? "name" : "hash"));
                }
                try {
                    return ChecksumEntry.builder(name, layer, position)
                            .hash(hash)
                            .floats(elements, nans, infinities)
                            .elapsedNs(elapsedNs)
                            .samples(samples)
                            .build();
                } catch (IllegalArgumentException impossible) {
                    throw input.error("an entry is wrong: " + impossible.getMessage());
                }
            }
        }
    }
}
