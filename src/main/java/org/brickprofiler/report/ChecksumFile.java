package org.brickprofiler.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.brickprofiler.checksum.ChecksumLog;
import org.brickprofiler.io.AtomicFile;

/**
 * A log of checksums in a file, so that two processes or two machines can be compared. Nothing is lost, but the bits
 * of a NaN among the samples.
 *
 * <p>The file is text with a JSON object on each line: first one that names {@code schema_version}, {@code kind}
 * ({@code "brick-checksums"}), {@code scope}, {@code samples}, {@code capacity}, {@code dropped} and the number of
 * {@code entries}; then the entries in order of execution: {@code name}, {@code layer}, {@code position}, {@code hash}
 * (such as {@code "0x85944171F73967E8"}), {@code elements}, and where there are any {@code nans}, {@code infinities},
 * {@code elapsed_ns} and {@code samples} (numbers, or the strings {@code "NaN"}, {@code "Infinity"} and
 * {@code "-Infinity"}). Equal logs give equal files. Readers ignore keys that they do not know, and refuse a higher
 * major version.
 *
 * <p>Stateless; any thread.
 */
public final class ChecksumFile {

    private ChecksumFile() {}

    /**
     * Writes what a log holds. It is written to a temporary file in the same folder first, which then takes the place
     * of an older one in one step.
     *
     * @param log the log
     * @param path where to; its folder must exist. A pipe or a terminal is written to directly
     * @throws IOException when that fails; the message names the path and the reason, and an older file is untouched
     */
    public static void write(ChecksumLog log, Path path) throws IOException {
        AtomicFile.write(path, out -> ChecksumWriter.write(log, out));
    }

    /**
     * Reads a log. The text is read as a stream: memory is needed for the entries only.
     *
     * @param path a file that {@link #write} wrote, of this or an older version
     * @return a log with the same options, entries and number of dropped ones
     * @throws IOException when the file cannot be read, is no such file, or ends too early; the message names the path
     *     and, of a wrong value, the value, its line and its column
     */
    public static ChecksumLog read(Path path) throws IOException {
        try (InputStream json = Files.newInputStream(path)) {
            return ChecksumReader.read(json);
        } catch (JsonProcessingException malformed) {
            throw new IOException(path + ": " + JsonReport.describe(malformed), malformed);
        } catch (IOException failed) {
            throw new IOException("cannot read " + path + ": " + AtomicFile.reason(failed), failed);
        }
    }
}
