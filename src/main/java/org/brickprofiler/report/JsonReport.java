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
 * A profile as JSON, without loss: {@code read} returns a snapshot that equals the written one.
 *
 * <p>Keys are in snake case and carry their units ({@code _ns}, {@code _us}); {@code pct} is a share of the sum of
 * brick time. Derived values, such as averages, are written for other programs and ignored by the reader. Absent
 * optional values are omitted. Equal snapshots give equal text. The reader refuses values that contradict each other,
 * such as an average outside of the extremes.
 *
 * <p>The file contains its {@code schema_version}, a major and a minor number. Readers ignore unknown keys; keys that
 * an older file lacks are read as zero or derived from others. Files of the same major version can therefore be read in
 * both directions. A higher major version is refused.
 *
 * <p>Stateless; any thread.
 */
public final class JsonReport {

    /**
     * The key of the explanation of slow steps, a further fact of a report on a timeline that holds chosen steps only.
     * {@code read} refuses a report with this key, because its sums are not those of a run.
     */
    public static final String SLOW_STEPS = "slow_steps";

    /**
     * The key of the explanation of slow steps, a further fact of a report whose sums are those of the whole run.
     * {@code read} ignores it.
     */
    public static final String SLOWEST_STEPS = "slowest_steps";

    /** The key of the lines in which bricks spend their time, a further fact of a report. {@code read} ignores it. */
    public static final String LINES = "lines";

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
     * Returns the report of a profile, followed by further facts under keys of their own. Readers of reports ignore
     * these keys.
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
     * Returns the report on one line, without derived values and without the sums of bricks that are 0: about a third
     * of the text, from which {@link #fromJson} returns an equal snapshot.
     *
     * @param snapshot the profile
     * @param further more keys, as in {@link #toJson(ProfileSnapshot, Map)}
     * @return JSON that ends with a line break
     * @throws IllegalArgumentException when a key is one of the report's own, or a value is of another type
     */
    public static String toCompactJson(ProfileSnapshot snapshot, Map<String, ?> further) {
        return toJson(snapshot, further, true);
    }

    private static String toJson(ProfileSnapshot snapshot, Map<String, ?> further, boolean isCompact) {
        Objects.requireNonNull(snapshot, "snapshot");
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
     * Writes the report to a file. The report is written to a temporary file in the same folder, which then replaces an
     * older report in one step, so a reader sees either the old or the new report.
     *
     * @param snapshot the profile
     * @param path the file; its folder must exist. A pipe or a terminal is written to directly
     * @throws IOException when writing fails; the message names the path and the reason, and an older report is
     *     unchanged
     */
    public static void write(ProfileSnapshot snapshot, Path path) throws IOException {
        Objects.requireNonNull(snapshot, "snapshot");
        AtomicFile.write(path, out -> JsonReportWriter.write(snapshot, out));
    }

    /**
     * Writes the report, followed by further facts, to a file, as {@link #write(ProfileSnapshot, Path)} does.
     *
     * @param snapshot the profile
     * @param further more keys, as in {@link #toJson(ProfileSnapshot, Map)}
     * @param path the file; its folder must exist. A pipe or a terminal is written to directly
     * @throws IOException when writing fails; the message names the path and the reason, and an older report is
     *     unchanged
     * @throws IllegalArgumentException when a key is one of the report's own, or a value is of another type
     */
    public static void write(ProfileSnapshot snapshot, Map<String, ?> further, Path path) throws IOException {
        byte[] json = toJson(snapshot, further).getBytes(StandardCharsets.UTF_8);
        AtomicFile.write(path, out -> out.write(json));
    }

    /**
     * Reads a report from a file.
     *
     * @param path a file that {@link #write} wrote, of this or an older version
     * @return the profile
     * @throws IOException when the file cannot be read or is no report; the message names the path and, for a wrong
     *     value, the value, its line and its column
     */
    public static ProfileSnapshot read(Path path) throws IOException {
        return read(InputFile.open(path), path.toString());
    }

    /**
     * Reads a report from a stream up to its end.
     *
     * @param json the bytes of a file; closed
     * @param source its name in messages, for example {@code "the standard input"}
     * @return the profile
     * @throws IOException when the stream cannot be read or is no report; the message names the source and, for a wrong
     *     value, the value, its line and its column
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
     * @param json the text that {@link #toJson} returned, of this or an older version
     * @return the profile
     * @throws IOException when the text is no report; the message names the wrong value, its line and its column
     */
    public static ProfileSnapshot fromJson(String json) throws IOException {
        try {
            return JsonReportReader.read(new ByteArrayInputStream(json.getBytes(StandardCharsets.UTF_8)));
        } catch (JsonProcessingException malformed) {
            throw new IOException(JsonInput.describe(malformed), malformed);
        }
    }
}
