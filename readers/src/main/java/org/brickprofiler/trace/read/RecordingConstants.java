package org.brickprofiler.trace.read;

import java.io.IOException;
import org.brickprofiler.trace.read.RecordingBytes.DamagedException;
import org.eclipse.collections.impl.map.mutable.primitive.LongObjectHashMap;
import org.jspecify.annotations.Nullable;

/** The texts and the threads among the constants of a chunk of a flight recording. Immutable; one thread. */
final class RecordingConstants implements RecordingBytes.Constants {

    private static final String THREAD = "java.lang.Thread";

    private final LongObjectHashMap<String> texts = new LongObjectHashMap<>();

    /** The names of threads, empty if a thread has none. */
    private final LongObjectHashMap<String> threads = new LongObjectHashMap<>();

    private final RecordingTypes types;
    private final RecordingBytes bytes = new RecordingBytes();

    /**
     * Reads the constants of the chunk of an event. What the chunk before had of the same number stays, as for the
     * JDK's reader; of several of one number in a chunk, the first one counts.
     *
     * @param events at an event of the chunk
     * @param types the types of the chunk
     * @param earlier the constants of the chunk before; null if there is none
     * @throws DamagedException when they are malformed
     * @throws IOException when the file cannot be read
     */
    RecordingConstants(RecordingEvents events, RecordingTypes types, @Nullable RecordingConstants earlier)
            throws IOException {
        this.types = types;
        long place = events.chunk().constantsAt();
        while (place != 0) {
            events.valuesOf(events.chunk(), place, RecordingChunk.CONSTANTS, bytes);
            bytes.readNumber(); // when they were written
            bytes.readNumber(); // how long that took
            long distance = bytes.readNumber();
            bytes.readByte(); // their kind
            long pools = bytes.readNumber();
            for (long i = 0; i < pools; i++) {
                pool();
            }
            if (distance > 0) {
                throw new DamagedException("constants refer to later ones");
            }
            place = distance == 0 ? 0 : place + distance;
        }
        if (earlier != null) {
            keep(earlier.texts, texts);
            keep(earlier.threads, threads);
        }
    }

    private static void keep(LongObjectHashMap<String> earlier, LongObjectHashMap<String> all) {
        earlier.forEachKeyValue((number, text) -> {
            if (all.containsKey(number)) {
                all.put(number, text);
            }
        });
    }

    private void pool() throws IOException {
        long type = bytes.readNumber();
        String name = types.name(type);
        long count = bytes.readNumber();
        for (long i = 0; i < count; i++) {
            long number = bytes.readNumber();
            switch (name) {
                case RecordingTypes.TEXT -> {
                    String text = bytes.readText(this);
                    if (text != null) {
                        texts.put(number, text);
                    }
                }
                case THREAD -> threads.put(number, threadName(type));
                default -> types.skipValue(bytes, type);
            }
        }
    }

    private String threadName(long type) throws IOException {
        String ofSystem = "";
        String ofJava = null;
        for (RecordingTypes.Field field : types.fields(type)) {
            boolean isText =
                    types.name(field.type()).equals(RecordingTypes.TEXT) && !field.isConstant() && !field.isArray();
            if (isText && field.name().equals("osName")) {
                String text = bytes.readText(this);
                ofSystem = text == null ? "" : text;
            } else if (isText && field.name().equals("javaName")) {
                ofJava = bytes.readText(this);
            } else {
                types.skip(bytes, field);
            }
        }
        return ofJava == null ? ofSystem : ofJava;
    }

    @Override
    public @Nullable String text(long number) {
        return texts.get(number);
    }

    /** Returns the name of a thread, empty if it has none; null if the chunk has no such thread. */
    @Nullable
    String thread(long number) {
        return threads.get(number);
    }
}
