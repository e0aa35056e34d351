package org.brickprofiler.report;

import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.checksum.ChecksumEntry;
import org.brickprofiler.checksum.ChecksumLog;
import org.brickprofiler.checksum.ChecksumOptions;
import org.jspecify.annotations.Nullable;

/** Reads one log of checksums. One thread. */
final class ChecksumReader {

    private static final int HIGHEST_MAJOR_VERSION = 1;
    private static final int NOT_SAID = -1;
    private static final int HEXADECIMAL = 16;
    private static final Pattern HASH = Pattern.compile("0x([0-9A-Fa-f]{1,16})");

    private final JsonInput input;
    private final List<ChecksumEntry> entries = new ArrayList<>();

    private boolean kindSaid;
    private ChecksumOptions options = ChecksumOptions.DEFAULT;
    private long dropped;
    private int promised = NOT_SAID;

    private ChecksumReader(JsonInput input) {
        this.input = input;
    }

    /**
     * Reads a log.
     *
     * @param json the text
     * @return the log
     * @throws IOException when the text is no log that this version understands
     */
    static ChecksumLog read(InputStream json) throws IOException {
        try (JsonParser parser = JsonReportReader.parser(json)) {
            return new ChecksumReader(new JsonInput(parser)).log();
        }
    }

    private ChecksumLog log() throws IOException {
        boolean there = input.next("the first line", this::headerField);
        if (!there || !kindSaid) {
            throw input.error("the first line does not say kind \"" + ChecksumWriter.KIND
                    + "\": this is no file of checksums");
        }
        for (EntryFields fields = new EntryFields(); input.next("an entry", fields); fields = new EntryFields()) {
            add(fields.entry());
        }
        if (promised != NOT_SAID && promised != entries.size()) {
            throw input.error("there are " + entries.size() + " entries, and by the first line " + promised);
        }
        return ChecksumLog.of(options, entries, dropped);
    }

    private void add(ChecksumEntry entry) throws IOException {
        if (entries.size() == options.capacity()) {
            throw input.error("there are more entries than the capacity of " + options.capacity());
        }
        int expected = options.samplesOf(entry.elements());
        if (entry.samples().size() != expected) {
            throw input.error("there are " + entry.samples().size() + " samples of " + entry.elements()
                    + " elements, and by the first line " + expected);
        }
        entries.add(entry);
    }

    private void headerField(String key) throws IOException {
        switch (key) {
            case "schema_version" -> input.version(key, HIGHEST_MAJOR_VERSION);
            case "kind" -> kindSaid = requireKind(key);
            case "scope" ->
                options = options.withScope(input.oneOf(key, ChecksumOptions.Scope.values(), ChecksumOptions.Scope::displayName));
            case "samples" ->
                options = options.withSamples((int) input.whole(key, 0, ChecksumOptions.MOST_SAMPLES));
            case "capacity" -> options = options.withCapacity((int) input.whole(key, 1, Integer.MAX_VALUE));
            case "dropped" -> dropped = input.whole(key, 0, Long.MAX_VALUE);
            case "entries" -> promised = count(key);
            default -> input.skip();
        }
    }

    private boolean requireKind(String key) throws IOException {
        if (!input.text(key).equals(ChecksumWriter.KIND)) {
            throw input.wrong(key, "is not \"" + ChecksumWriter.KIND + "\": this is no file of checksums");
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

    /** The entry that is being read. */
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
                return new ChecksumEntry(
                        name, layer, position, hash, elements, nans, infinities, elapsedNs, samples);
            } catch (IllegalArgumentException impossible) {
                throw input.error("an entry is wrong: " + impossible.getMessage());
            }
        }
    }
}
