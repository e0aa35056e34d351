package org.brickprofiler.trace.read;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.internal.io.TemporaryFiles;
import org.brickprofiler.trace.read.RecordingBytes.DamagedException;
import org.eclipse.collections.impl.map.mutable.primitive.LongLongHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The number of events of each type in a flight recording, and where it is damaged, by the sizes of its events, before
 * anything reads them. The JDK's stream of a file ends at damage without a word, or waits for the rest of a chunk that
 * was not completed. One thread.
 */
final class RecordingSurvey {

    private final Path file;

    /** The events by the names of their types; an empty name is of types that the recording does not describe. */
    private final Map<String, Long> events = new TreeMap<>();

    /** The chunk that is not whole, or the last one. */
    private @Nullable RecordingChunk part;

    /** Where its last constants and the last description of its types are, from its start; 0 without them. */
    private long constantsAt;

    private long typesAt;

    /** Up to where its events have constants, from its start, and how many follow; and its events. */
    private long readable;

    private long unreadable;
    private long eventsOfPart;

    /** Whether all events of the part are there, and whether the description of its types is. */
    private boolean isComplete = true;

    private boolean isDescribed = true;

    private Optional<String> damage = Optional.empty();

    /**
     * Goes through a recording.
     *
     * @throws IOException when it cannot be read
     */
    RecordingSurvey(Path file) throws IOException {
        this.file = file;
        try (RecordingEvents each = new RecordingEvents(file)) {
            try {
                LongLongHashMap counts = new LongLongHashMap();
                while (each.next()) {
                    if (part == null || each.chunk().start() != part.start()) {
                        endPart(each, counts);
                        beginPart(each.chunk());
                    }
                    note(each, counts);
                }
                endPart(each, counts);
            } catch (DamagedException damaged) {
                isComplete = part == null || each.chunk().start() != part.start() || each.end() == part.end();
                damage = Optional.of(
                        part != null && isComplete && !part.isEnded()
                                ? "the chunk at byte " + part.start()
                                        + " was not completed, as that of a process that was killed, and bytes follow it"
                                : String.valueOf(damaged.getMessage()));
            }
        }
    }

    private void beginPart(RecordingChunk chunk) {
        part = chunk;
        constantsAt = 0;
        typesAt = 0;
        readable = 0;
        unreadable = 0;
        eventsOfPart = 0;
    }

    private void note(RecordingEvents each, LongLongHashMap counts) {
        long place = each.at() - each.chunk().start();
        if (each.type() == RecordingChunk.TYPES) {
            typesAt = place;
        } else if (each.type() == RecordingChunk.CONSTANTS) {
            constantsAt = place;
        } else {
            counts.addToValue(each.type(), 1);
            unreadable++;
            eventsOfPart++;
            return;
        }
        readable = each.end() - each.chunk().start();
        unreadable = 0;
    }

    /** Counts the events of a chunk that has ended by the names of their types. */
    private void endPart(RecordingEvents each, LongLongHashMap counts) throws IOException {
        RecordingChunk chunk = part;
        if (chunk == null) {
            return;
        }
        isDescribed = false;
        RecordingTypes types = each.types(chunk);
        isDescribed = true;
        counts.forEachKeyValue((type, count) -> events.merge(types.eventName(type), count, Long::sum));
        counts.clear();
        if (!chunk.isEnded() && chunk.end() < each.fileSize()) {
            throw new DamagedException("another chunk follows it");
        }
    }

    /** Returns the damage; empty if the sizes of all events add up. */
    Optional<String> damage() {
        return damage;
    }

    /** Returns the events by the names of their types; the name is empty for types that the recording lacks. */
    Map<String, Long> events() {
        return events;
    }

    /** Returns whether the JDK's stream can read the file as it is. */
    boolean isWhole() {
        return damage.isEmpty() && (part == null || part.isEnded());
    }

    private boolean isPartMendable() {
        return isComplete ? isDescribed : constantsAt > 0 && typesAt > 0;
    }

    /** Returns the damage, and what is lost beside it. */
    String loss() {
        String reason = damage.orElse("");
        String lost = Plural.of(isPartMendable() ? unreadable : eventsOfPart, "event") + " of the chunk ";
        if (isComplete) {
            return isDescribed ? reason : reason + "; without it, the " + lost + "cannot be read";
        }
        if (isPartMendable()) {
            return unreadable == 0
                    ? reason
                    : reason + "; " + lost + "before it, after the last constants, are lost, too";
        }
        return reason + "; the " + lost
                + "before it cannot be read: the description of their types and their constants would follow";
    }

    /**
     * Copies what can be read of a recording that is not whole to a temporary file, as a whole recording.
     *
     * @return the copy, to be deleted; empty if nothing can be read
     * @throws IOException when a file cannot be read or written
     */
    Optional<Path> mended() throws IOException {
        RecordingChunk chunk = part;
        if (chunk == null || (!isPartMendable() && chunk.start() == 0)) {
            return Optional.empty();
        }
        Path copy = TemporaryFiles.file("brick-recording-", ".tmp");
        try (FileChannel from = FileChannel.open(file);
                FileChannel to = FileChannel.open(copy, StandardOpenOption.WRITE)) {
            if (!isPartMendable()) {
                copy(from, to, chunk.start());
            } else if (isComplete) {
                copy(from, to, chunk.end());
                to.write(chunk.header(chunk.size(), chunk.constantsAt(), chunk.typesAt()), chunk.start());
            } else {
                copy(from, to, chunk.start() + readable);
                to.write(chunk.header(readable, constantsAt, typesAt), chunk.start());
            }
        }
        return Optional.of(copy);
    }

    private static void copy(FileChannel from, FileChannel to, long count) throws IOException {
        long copied = 0;
        while (copied < count) {
            copied += from.transferTo(copied, count - copied, to);
        }
    }
}
