package org.brickprofiler.internal.io;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Properties;

/**
 * The windows of an export that are in no file. A small file beside the windows records them. The file has a fixed
 * size, exists before any loss, and is overwritten in place, so it can be updated even if the disk is full. Immutable.
 *
 * @param run the run; empty if it is unknown
 * @param rank the rank, if it is known
 * @param windows the number of windows that were not written, or were deleted by another program
 * @param samples the number of their samples, as far as it is known
 * @param totalNs the total time of these samples, ns
 * @param reason the reason why the last of them is in no file; empty if no window is lost
 */
public record ExportLoss(String run, OptionalInt rank, long windows, long samples, long totalNs, String reason) {

    /** The name of the file, in the folder of the windows. */
    public static final String FILE = "windows.state";

    private static final int FILE_BYTES = 4096;
    private static final int LONGEST_TEXT = 300;

    /**
     * Returns a loss of no windows.
     *
     * @param run the run; empty if it is not known
     * @param rank the rank, if it is known
     * @return the empty loss
     */
    public static ExportLoss none(String run, OptionalInt rank) {
        return new ExportLoss(run, rank, 0, 0, 0, "");
    }

    /**
     * Adds another loss of the same rank.
     *
     * @param other the later one
     * @return the sums of both, with the later reason if it is not empty, otherwise the earlier one
     */
    public ExportLoss plus(ExportLoss other) {
        return new ExportLoss(
                run,
                rank,
                windows + other.windows,
                samples + other.samples,
                totalNs + other.totalNs,
                other.reason.isEmpty() ? reason : other.reason);
    }

    /**
     * Reads the record of a folder.
     *
     * @param folder of windows
     * @return the loss; empty if the folder has no record
     * @throws IOException when the record cannot be read or is damaged; the message names it
     */
    public static Optional<ExportLoss> read(Path folder) throws IOException {
        Path file = folder.resolve(FILE);
        try {
            Properties values = new Properties();
            values.load(new ByteArrayInputStream(Files.readAllBytes(file)));
            String rank = values.getProperty("rank", "");
            return Optional.of(new ExportLoss(
                    values.getProperty("run", ""),
                    rank.isEmpty() ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(rank)),
                    number(values, "windows"),
                    number(values, "samples"),
                    number(values, "total_ns"),
                    values.getProperty("reason", "")));
        } catch (NoSuchFileException none) {
            return Optional.empty();
        } catch (IllegalArgumentException damaged) {
            throw new IOException("cannot read " + file + ": it is damaged: " + damaged.getMessage(), damaged);
        } catch (IOException failed) {
            throw new IOException("cannot read " + file + ": " + AtomicFile.reason(failed), failed);
        }
    }

    private static long number(Properties values, String key) {
        long value = Long.parseLong(values.getProperty(key, "nothing"));
        if (value < 0) {
            throw new IllegalArgumentException(key + " " + value + " is negative");
        }
        return value;
    }

    /**
     * Writes the record, and overwrites an existing one in place.
     *
     * @param folder of windows
     * @throws IOException when the record cannot be written
     */
    public void write(Path folder) throws IOException {
        Properties values = new Properties();
        values.setProperty("run", shortened(run));
        values.setProperty("rank", rank.isPresent() ? Integer.toString(rank.getAsInt()) : "");
        values.setProperty("windows", Long.toString(windows));
        values.setProperty("samples", Long.toString(samples));
        values.setProperty("total_ns", Long.toString(totalNs));
        values.setProperty("reason", shortened(reason));
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        values.store(text, "Windows of this export that are in no file");
        byte[] bytes = Arrays.copyOf(text.toByteArray(), FILE_BYTES);
        Arrays.fill(bytes, text.size(), FILE_BYTES, "\n".getBytes(StandardCharsets.US_ASCII)[0]);
        try (FileChannel file =
                FileChannel.open(folder.resolve(FILE), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            ByteBuffer all = ByteBuffer.wrap(bytes);
            while (all.hasRemaining()) {
                file.write(all, all.position());
            }
            // Forces the disk to reserve the space now: it may be full when a loss is recorded.
            file.force(true);
        }
    }

    /** Cuts a text to 300 characters; each takes at most six bytes in the file. */
    private static String shortened(String text) {
        return text.length() <= LONGEST_TEXT ? text : text.substring(0, LONGEST_TEXT);
    }
}
