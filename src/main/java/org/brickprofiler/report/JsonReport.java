package org.brickprofiler.report;

import com.fasterxml.jackson.core.JsonGenerationException;
import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.internal.io.InputFile;
import org.brickprofiler.report.internal.JsonInput;

/**
 * A profile as JSON, and back without loss: {@code read} returns a snapshot that equals the one that was written.
 *
 * <p>Keys are in snake case and carry their units ({@code _ns}, {@code _us}); {@code pct} is a share of the sum of
 * brick time. Derived values, such as averages, are written for other programs and ignored by the reader. Optional
 * values are left out if there is none. Equal snapshots give equal text.
 *
 * <p>The file names its {@code schema_version}, as major and minor number. Readers ignore keys they do not know, and
 * keys that an older file lacks read as zero or are worked out from others; so files of the same major version can be
 * read in both directions. A higher major version is refused.
 *
 * <p>Stateless; any thread.
 */
public final class JsonReport {

    private JsonReport() {}

    /**
     * Returns the report of a profile.
     *
     * @param snapshot the profile
     * @return indented JSON that ends with a line break
     */
    public static String toJson(ProfileSnapshot snapshot) {
        return toJson(snapshot, Map.of());
    }

    /**
     * Returns the report of a profile, with what else is known of it behind the report's own keys. Readers of reports
     * ignore those keys.
     *
     * @param snapshot the profile
     * @param further more keys, in the order of the map; values are strings, numbers, truth values, and lists and maps
     *     of these
     * @return indented JSON that ends with a line break
     * @throws IllegalArgumentException when a key is one of the report's own, or a value is of another type
     */
    public static String toJson(ProfileSnapshot snapshot, Map<String, ?> further) {
        return toJson(snapshot, further, false);
    }

    /**
     * Returns the same on one line, without what follows from other values and without the sums of bricks that are 0:
     * some third of the text, of which {@link #fromJson} makes an equal snapshot.
     *
     * @param snapshot the profile
     * @param further more keys, as of {@link #toJson(ProfileSnapshot, Map)}
     * @return JSON that ends with a line break
     * @throws IllegalArgumentException when a key is one of the report's own, or a value is of another type
     */
    public static String toCompactJson(ProfileSnapshot snapshot, Map<String, ?> further) {
        return toJson(snapshot, further, true);
    }

    private static String toJson(ProfileSnapshot snapshot, Map<String, ?> further, boolean isCompact) {
        Objects.requireNonNull(further, "further");
        ByteArrayOutputStream json = new ByteArrayOutputStream();
        try {
            JsonReportWriter.write(snapshot, further, isCompact, json);
        } catch (JsonGenerationException repeated) {
            throw new IllegalArgumentException(
                    "the report has its own value: " + repeated.getOriginalMessage(), repeated);
        } catch (IOException impossible) {
            throw new UncheckedIOException("memory does not fail", impossible);
        }
        return json.toString(StandardCharsets.UTF_8);
    }

    /**
     * Writes the report to a file. It is written to a temporary file in the same folder first, which then takes the
     * place of an older report in one step: a reader sees the old one or the new one.
     *
     * @param snapshot the profile
     * @param path where to; its folder must exist. A pipe or a terminal is written to directly
     * @throws IOException when that fails; the message names the path and the reason, and an older report is untouched
     */
    public static void write(ProfileSnapshot snapshot, Path path) throws IOException {
        AtomicFile.write(path, out -> JsonReportWriter.write(snapshot, out));
    }

    /**
     * Reads a report from a file.
     *
     * @param path a file that {@link #write} wrote, of this or an older version
     * @return the profile
     * @throws IOException when the file cannot be read or is no such report; the message names the path and, of a wrong
     *     value, the value, its line and its column
     */
    public static ProfileSnapshot read(Path path) throws IOException {
        return read(InputFile.open(path), path.toString());
    }

    /**
     * Reads a report from a stream up to its end.
     *
     * @param json the bytes of a file; closed
     * @param source what to call it in messages, for example {@code "the standard input"}
     * @return the profile
     * @throws IOException when the stream cannot be read or is no such report; the message names the source and, of a
     *     wrong value, the value, its line and its column
     */
    public static ProfileSnapshot read(InputStream json, String source) throws IOException {
        Objects.requireNonNull(json, "json");
        Objects.requireNonNull(source, "source");
        try {
            return JsonReportReader.read(json);
        } catch (JsonProcessingException malformed) {
            throw new IOException(source + ": " + JsonInput.describe(malformed), malformed);
        } catch (IOException failed) {
            throw InputFile.cannotRead(source, failed);
        }
    }

    /**
     * Reads a report from text.
     *
     * @param json what {@link #toJson} returned, of this or an older version
     * @return the profile
     * @throws IOException when the text is no such report; the message names the wrong value, its line and its column
     */
    public static ProfileSnapshot fromJson(String json) throws IOException {
        try {
            return JsonReportReader.read(new ByteArrayInputStream(json.getBytes(StandardCharsets.UTF_8)));
        } catch (JsonProcessingException malformed) {
            throw new IOException(JsonInput.describe(malformed), malformed);
        }
    }
}
