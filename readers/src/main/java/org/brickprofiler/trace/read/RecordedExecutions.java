package org.brickprofiler.trace.read;

import java.io.IOException;
import java.util.List;
import org.brickprofiler.trace.read.RecordingBytes.DamagedException;
import org.brickprofiler.trace.read.RecordingTypes.Field;
import org.jspecify.annotations.Nullable;

/**
 * Reads the samples of this library, {@code brick.Execution}, in a chunk of a flight recording. Almost all events of a
 * recording with bricks are such samples, so they do not go through the JDK's reader. One thread.
 */
final class RecordedExecutions {

    /** The fields of a sample that are read; those of earlier versions have no phase. */
    private enum Part {
        START("startTime", RecordingTypes.NUMBER),
        THREAD("eventThread", "java.lang.Thread"),
        BRICK("brick", RecordingTypes.TEXT),
        CATEGORY("category", RecordingTypes.TEXT),
        PHASE("phase", RecordingTypes.TEXT),
        ELAPSED("elapsed", RecordingTypes.NUMBER),
        END("endNs", RecordingTypes.NUMBER),
        ELEMENTS("elements", RecordingTypes.NUMBER),
        /** Any other field, which is skipped: one number, or more. */
        OTHER_NUMBER("", ""),
        OTHER("", "");

        private final String field;
        private final String type;

        Part(String field, String type) {
            this.field = field;
            this.type = type;
        }
    }

    private final RecordingChunk chunk;
    private final RecordingTypes types;
    private final RecordingConstants constants;
    private final List<Field> fields;
    private final Part[] parts;

    /** A sample; mutable. One thread at a time. */
    static final class Sample {
        /** When it was committed, ns since 1970, and its end on the profiler's clock, ns. */
        long committedNs;

        long endNs;

        /** The number of its thread and its name, empty if it has none, null if the recording does not state it. */
        long thread;

        @Nullable
        String threadName;

        String brick = "";
        String category = "";

        /** Empty outside of steps; null if samples of its version state none. */
        @Nullable
        String phase;

        long elapsedNs;
        long elements;
    }

    /**
     * Prepares to read the samples of a chunk.
     *
     * @param type the number of the type of samples in the chunk
     * @throws DamagedException when it lacks a field
     */
    RecordedExecutions(RecordingChunk chunk, RecordingTypes types, RecordingConstants constants, long type)
            throws DamagedException {
        this.chunk = chunk;
        this.types = types;
        this.constants = constants;
        this.fields = types.fields(type);
        this.parts = new Part[fields.size()];
        for (int i = 0; i < parts.length; i++) {
            parts[i] = part(fields.get(i));
        }
        List<Part> found = List.of(parts);
        for (Part part : Part.values()) {
            if (part.compareTo(Part.OTHER_NUMBER) < 0 && part != Part.PHASE && !found.contains(part)) {
                throw new DamagedException("a sample has no field " + part.field);
            }
        }
    }

    private Part part(Field field) {
        for (Part part : Part.values()) {
            if (part.field.equals(field.name())
                    && part.type.equals(types.name(field.type()))
                    && field.isConstant() == (part == Part.THREAD)
                    && !field.isArray()) {
                return part;
            }
        }
        boolean isNumber = field.isConstant() || types.name(field.type()).equals(RecordingTypes.NUMBER);
        return isNumber && !field.isArray() ? Part.OTHER_NUMBER : Part.OTHER;
    }

    /**
     * Reads a sample.
     *
     * @param bytes its values
     * @param into receives them
     * @throws DamagedException when they are malformed
     */
    void read(RecordingBytes bytes, Sample into) throws IOException {
        into.phase = null;
        for (int i = 0; i < parts.length; i++) {
            switch (parts[i]) {
                case START -> into.committedNs = chunk.unixNs(bytes.readNumber());
                case THREAD -> into.thread = bytes.readNumber();
                case BRICK -> into.brick = text(bytes, Part.BRICK);
                case CATEGORY -> into.category = text(bytes, Part.CATEGORY);
                case PHASE -> into.phase = text(bytes, Part.PHASE);
                case ELAPSED -> into.elapsedNs = bytes.readNumber();
                case END -> into.endNs = bytes.readNumber();
                case ELEMENTS -> into.elements = bytes.readNumber();
                case OTHER_NUMBER -> bytes.readNumber();
                case OTHER -> types.skip(bytes, fields.get(i));
            }
        }
        into.threadName = constants.thread(into.thread);
    }

    private String text(RecordingBytes bytes, Part part) throws DamagedException {
        String text = bytes.readText(constants);
        if (text == null) {
            throw new DamagedException("a sample has no " + part.field);
        }
        return text;
    }
}
