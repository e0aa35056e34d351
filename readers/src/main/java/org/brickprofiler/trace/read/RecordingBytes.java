package org.brickprofiler.trace.read;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The bytes of one event of a flight recording, which are read one value after another. Not thread-safe. */
final class RecordingBytes {

    private static final int NULL = 0;
    private static final int EMPTY = 1;
    private static final int CONSTANT = 2;
    private static final int UTF_8 = 3;
    private static final int CHARACTERS = 4;
    private static final int LATIN_1 = 5;

    /** The texts that are kept: a recording repeats the names of its bricks. */
    private static final int KEPT = 1 << 10;

    /** For each text that is kept, the bytes that state it. */
    private final byte[] @Nullable [] keptBytes = new byte[KEPT][];

    private final String[] kept = new String[KEPT];

    private byte[] bytes = {};
    private int at;
    private int end;

    /** Thrown if bytes are no part of a recording. */
    static final class DamagedException extends IOException {
        private static final long serialVersionUID = 1L;

        DamagedException(String fault) {
            super(fault);
        }

        /** Returns why the JDK's reader failed, whose exceptions may lack a message. */
        static String reason(Throwable failed) {
            return failed.getMessage() == null ? failed.getClass().getSimpleName() : failed.getMessage();
        }
    }

    /** Returns a text by its number among the constants. */
    interface Constants {
        /** Returns the text; null if there is none of the number. */
        @Nullable
        String text(long number);
    }

    /** Continues with other bytes, from a place to an end. */
    void reset(byte[] other, int from, int until) {
        bytes = other;
        at = from;
        end = until;
    }

    /** Returns the place of the next byte. */
    int at() {
        return at;
    }

    /** Returns the bytes that follow. */
    byte[] rest() {
        return Arrays.copyOfRange(bytes, at, end);
    }

    /**
     * Skips bytes.
     *
     * @throws DamagedException when there are fewer
     */
    void skip(long count) throws DamagedException {
        if (count < 0 || count > end - at) {
            throw tooShort();
        }
        at += (int) count;
    }

    private static DamagedException tooShort() {
        return new DamagedException("an event is shorter than its values");
    }

    /**
     * Reads a byte.
     *
     * @throws DamagedException when there is none
     */
    byte readByte() throws DamagedException {
        if (at >= end) {
            throw tooShort();
        }
        return bytes[at++];
    }

    /**
     * Reads a number, of which each byte has seven bits, the lowest ones first; the ninth byte has eight.
     *
     * @throws DamagedException when it has no end
     */
    long readNumber() throws DamagedException {
        if (at < end && bytes[at] >= 0) {
            return bytes[at++];
        }
        long number = 0;
        for (int shift = 0; shift < 56; shift += 7) {
            byte next = readByte();
            number |= (next & 0x7FL) << shift;
            if (next >= 0) {
                return number;
            }
        }
        return number | (readByte() & 0xFFL) << 56;
    }

    /**
     * Reads a text.
     *
     * @param constants the texts to which it may refer
     * @return the text, the same object for the same bytes in most cases; null if it is none
     * @throws DamagedException when it is malformed
     */
    @Nullable
    String readText(Constants constants) throws DamagedException {
        int form = readByte();
        return switch (form) {
            case NULL -> null;
            case EMPTY -> "";
            case CONSTANT -> constants.text(readNumber());
            case UTF_8, LATIN_1, CHARACTERS -> stated(form);
            default -> throw new DamagedException("a text has the unknown form " + form);
        };
    }

    private String stated(int form) throws DamagedException {
        int start = at - 1;
        long length = readNumber();
        if (length < 0 || length > end - at) {
            throw tooShort();
        }
        int from = at;
        at += (int) length;
        int hash = 0;
        int signs = 0;
        for (int i = from; i < at; i++) {
            hash = 31 * hash + bytes[i];
            signs |= bytes[i];
        }
        if (form == CHARACTERS && signs < 0) {
            // Some characters have several bytes.
            at = from;
            for (long i = 0; i < length; i++) {
                readNumber();
            }
        }
        int place = (hash ^ (hash >>> 16)) & (KEPT - 1);
        byte[] known = keptBytes[place];
        if (known == null || !Arrays.equals(known, 0, known.length, bytes, start, at)) {
            keptBytes[place] = Arrays.copyOfRange(bytes, start, at);
            kept[place] = decoded(form, from, (int) length);
        }
        return kept[place];
    }

    private String decoded(int form, int from, int length) throws DamagedException {
        if (form != CHARACTERS) {
            return new String(
                    bytes, from, length, form == UTF_8 ? StandardCharsets.UTF_8 : StandardCharsets.ISO_8859_1);
        }
        int until = at;
        at = from;
        char[] characters = new char[length];
        for (int i = 0; i < length; i++) {
            characters[i] = (char) readNumber();
        }
        at = until;
        return new String(characters);
    }
}
