package org.brickprofiler.fleet;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.internal.io.InputFile;
import org.brickprofiler.internal.io.JsonFault;
import org.jspecify.annotations.Nullable;

/**
 * The content of a pack, as listed in {@code manifest.json}. Immutable.
 *
 * @param revision the revision of the tables: 0 in packs of versions that did not count unresolved, dropped and pending
 *     measurements, 1 in packs of versions that did not distinguish the own work of requests, 2 in packs of versions
 *     that refused estimates
 * @param profiles the number of files read, including those left out
 * @param identical the number of these files that are copies of others; copies count once
 * @param files every Parquet file
 * @param problems the problems, and the data left out because of them
 */
public record Manifest(long revision, long profiles, long identical, List<PackFile> files, List<PackProblem> problems) {

    /** The version of the tables. Another one is refused. */
    static final int SCHEMA_VERSION = 1;

    /** The revision of the tables within their version: the one that added columns last. */
    static final int REVISION = 3;

    /** The name of the file in its folder. */
    static final String NAME = "manifest.json";

    /** The kind that the file states, which distinguishes it from other files of that name. */
    static final String KIND = "brick-fleet-pack";

    /** The largest count, so that sums of counts stay exact. */
    private static final long MOST = 1L << 53;

    /** The path of a file in a pack, in its shortest form: no part is empty, a single point or two points. */
    private static final Pattern PATH =
            Pattern.compile("(?!\\.{1,2}(/|$))[^/:\\\\\\p{Cntrl}]+(/(?!\\.{1,2}(/|$))[^/:\\\\\\p{Cntrl}]+)*");

    private static final JsonFactory FACTORY = new JsonFactory();

    /**
     * A Parquet file.
     *
     * @param table the table to which it belongs
     * @param path its path relative to the manifest, with slashes
     * @param bytes its size, bytes
     * @param rows its number of rows
     * @param crc32c the checksum of its bytes, CRC-32C (Castagnoli)
     */
    public record PackFile(String table, String path, long bytes, long rows, int crc32c) {

        /** Returns the common part of the files of the same windows: the path from the run's folder on. */
        String part() {
            return path.substring(Math.max(0, path.indexOf("run=")));
        }
    }

    /** Makes the lists immutable. */
    public Manifest {
        files = List.copyOf(files);
        problems = List.copyOf(problems);
    }

    /**
     * Creates the manifest of a pack of the current revision.
     *
     * @param profiles the number of files read, including those left out
     * @param identical the number of these files that are copies of others; copies count once
     * @param files every Parquet file
     * @param problems the problems, and the data left out because of them
     */
    public Manifest(long profiles, long identical, List<PackFile> files, List<PackProblem> problems) {
        this(REVISION, profiles, identical, files, problems);
    }

    /**
     * Writes the manifest, completely or not at all.
     *
     * @param folder the pack
     * @throws IOException when that fails
     */
    void write(Path folder) throws IOException {
        AtomicFile.write(folder.resolve(NAME), out -> {
            try (JsonGenerator json = FACTORY.createGenerator(out)) {
                json.disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET);
                DefaultPrettyPrinter lines = new DefaultPrettyPrinter();
                lines.indentArraysWith(new DefaultIndenter(" ", "\n"));
                lines.indentObjectsWith(DefaultPrettyPrinter.NopIndenter.instance);
                json.setPrettyPrinter(lines);
                write(json);
            }
        });
    }

    private void write(JsonGenerator json) throws IOException {
        json.writeStartObject();
        json.writeStringField("kind", KIND);
        json.writeNumberField("schema_version", SCHEMA_VERSION);
        json.writeNumberField("revision", revision);
        json.writeNumberField("profiles", profiles);
        json.writeNumberField("identical", identical);
        json.writeArrayFieldStart("problems");
        for (PackProblem problem : problems) {
            json.writeStartObject();
            json.writeStringField("kind", problem.kind().key());
            if (problem.runId() != null) {
                json.writeStringField("run_id", problem.runId());
            }
            if (problem.rank() != null) {
                json.writeNumberField("rank", problem.rank());
            }
            if (problem.window() != null) {
                json.writeNumberField("window", problem.window());
            }
            if (problem.file() != null) {
                json.writeStringField("file", problem.file());
            }
            json.writeStringField("reason", problem.reason());
            json.writeNumberField("left_out", problem.leftOut());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeArrayFieldStart("files");
        for (PackFile file : files) {
            json.writeStartObject();
            json.writeStringField("table", file.table());
            json.writeStringField("path", file.path());
            json.writeNumberField("bytes", file.bytes());
            json.writeNumberField("rows", file.rows());
            json.writeStringField("crc32c", String.format(Locale.ROOT, "%08x", file.crc32c()));
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    /**
     * Reads the manifest of a pack.
     *
     * @param folder the pack
     * @return the manifest
     * @throws IOException when it does not exist, is damaged or has another version; the message names the file
     */
    static Manifest read(Path folder) throws IOException {
        return read(folder.toString(), InputFile.open(folder.resolve(NAME)));
    }

    /**
     * Reads a manifest.
     *
     * @param folder the pack, for messages
     * @param bytes the bytes of the file; closed
     * @return the manifest
     * @throws IOException when it cannot be read, is damaged or has another version; the message names the file
     */
    static Manifest read(String folder, InputStream bytes) throws IOException {
        return InputFile.guarded(folder + "/" + NAME, () -> readAll(folder, bytes));
    }

    private static Manifest readAll(String folder, InputStream bytes) throws IOException {
        String file = folder + "/" + NAME;
        try (bytes;
                JsonParser json = FACTORY.createParser(bytes)) {
            json.nextToken();
            ObjectFields all = new ObjectFields(tree(json));
            if (json.nextToken() != null) {
                throw new IllegalArgumentException("something follows its end");
            }
            if (!all.text("kind").equals(KIND)) {
                throw new IllegalArgumentException("kind is " + all.text("kind") + " instead of " + KIND);
            }
            long version = all.whole("schema_version");
            if (version != SCHEMA_VERSION) {
                throw new IOException(
                        file + " is of schema version " + version + "; this program knows " + SCHEMA_VERSION);
            }
            Manifest read = new Manifest(
                    all.has("revision") ? all.whole("revision") : 0,
                    all.whole("profiles"),
                    all.whole("identical"),
                    all.list("files").map(ObjectFields::packFile).toList(),
                    all.list("problems").map(ObjectFields::problem).toList());
            read.requireEachFileOnce();
            return read;
        } catch (JsonProcessingException malformed) {
            throw new IOException(
                    file + " is damaged: line " + malformed.getLocation().getLineNr() + ": "
                            + JsonFault.words(malformed.getOriginalMessage()),
                    malformed);
        } catch (IllegalArgumentException wrong) {
            throw new IOException(file + " is damaged: " + wrong.getMessage(), wrong);
        }
    }

    /**
     * Checks that no file is listed twice, which would count its windows twice.
     *
     * @throws IllegalArgumentException when one is, or its path is not in its shortest form
     */
    private void requireEachFileOnce() {
        Set<String> paths = new HashSet<>();
        for (PackFile file : files) {
            if (!PATH.matcher(file.path()).matches()) {
                throw new IllegalArgumentException(
                        file.path() + " leads out of its folder, or is not the shortest path of a file in it");
            }
            if (!paths.add(file.path())) {
                throw new IllegalArgumentException(file.path() + " is listed twice");
            }
        }
    }

    /**
     * Returns a value of JSON: a map, a list, a text or a whole number; any other value becomes the text of its token.
     */
    private static Object tree(JsonParser json) throws IOException {
        JsonToken token = json.currentToken();
        if (token == JsonToken.START_OBJECT) {
            Map<String, Object> map = new HashMap<>();
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String key = json.currentName();
                json.nextToken();
                map.put(key, tree(json));
            }
            return map;
        }
        if (token == JsonToken.START_ARRAY) {
            List<Object> list = new ArrayList<>();
            while (json.nextToken() != JsonToken.END_ARRAY) {
                list.add(tree(json));
            }
            return list;
        }
        return token == JsonToken.VALUE_NUMBER_INT ? (Object) json.getLongValue() : String.valueOf(json.getText());
    }

    /** The members of an object. A missing value, or one of another type, is refused; the message names its key. */
    private record ObjectFields(Object object) {

        private <T> @Nullable T get(String key, Class<T> type) {
            if (!(object instanceof Map<?, ?> map)) {
                throw new IllegalArgumentException(object + " is no object");
            }
            Object value = map.get(key);
            if (value != null && !type.isInstance(value)) {
                throw new IllegalArgumentException(key + " is " + value);
            }
            return type.cast(value);
        }

        private <T> T required(String key, @Nullable T value) {
            if (value == null) {
                throw new IllegalArgumentException(key + " is missing");
            }
            return value;
        }

        boolean has(String key) {
            return get(key, Object.class) != null;
        }

        String text(String key) {
            return required(key, get(key, String.class));
        }

        long whole(String key) {
            return required(key, optional(key, MOST));
        }

        /** Returns a whole number from 0 to a largest one; null if there is none. */
        private @Nullable Long optional(String key, long most) {
            Long value = get(key, Long.class);
            if (value != null && (value < 0 || value > most)) {
                throw new IllegalArgumentException(key + " is " + value);
            }
            return value;
        }

        private @Nullable Integer number(String key) {
            Long value = optional(key, Integer.MAX_VALUE);
            return value == null ? null : (Integer) value.intValue();
        }

        private PackProblem.Kind kind() {
            String key = text("kind");
            return Stream.of(PackProblem.Kind.values())
                    .filter(kind -> kind.key().equals(key))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException("the kind of a problem is " + key));
        }

        Stream<ObjectFields> list(String key) {
            List<?> values = required(key, get(key, List.class));
            return values.stream().map(ObjectFields::new);
        }

        PackFile packFile() {
            int crc32c = Integer.parseUnsignedInt(text("crc32c"), 16);
            return new PackFile(text("table"), text("path"), whole("bytes"), whole("rows"), crc32c);
        }

        PackProblem problem() {
            return new PackProblem(
                    kind(),
                    get("run_id", String.class),
                    number("rank"),
                    optional("window", Long.MAX_VALUE),
                    get("file", String.class),
                    text("reason"),
                    whole("left_out"));
        }
    }
}
