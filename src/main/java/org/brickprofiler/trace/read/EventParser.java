package org.brickprofiler.trace.read;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.math.BigInteger;

/** Reads one event at a time; whatever gives no time or name is passed over. One thread. */
final class EventParser {

    private static final int PHASE = 1;
    private static final int NAME = 1 << 1;
    private static final int CATEGORY = 1 << 2;
    private static final int START = 1 << 3;
    private static final int ELAPSED = 1 << 4;
    private static final int PROCESS = 1 << 5;
    private static final int THREAD = 1 << 6;
    private static final int ARGS = 1 << 7;
    private static final int BYTES = 1 << 8;

    private static final BigInteger LARGEST_BYTES = BigInteger.valueOf(Long.MAX_VALUE);

    private final JsonParser parser;
    private final EventSink sink;
    private final RawEvent event = new RawEvent();

    /**
     * Reads from a parser.
     *
     * @param parser the parser; the caller closes it
     * @param sink says which arguments to keep
     */
    EventParser(JsonParser parser, EventSink sink) {
        this.parser = parser;
        this.sink = sink;
    }

    /**
     * Reads an event.
     *
     * @param offset where it begins
     * @return the event, valid until the next one is read
     * @throws IOException when it is malformed
     */
    RawEvent read(long offset) throws IOException {
        event.clear(offset);
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = parser.currentName();
            JsonToken value = parser.nextToken();
            switch (key) {
                case "ph" -> {
                    event.sawKey(PHASE);
                    event.phase = phase(value);
                }
                case "name" -> {
                    event.sawKey(NAME);
                    event.name = Names.bounded(scalar(value));
                }
                case "cat" -> {
                    event.sawKey(CATEGORY);
                    event.category = Names.bounded(scalar(value));
                }
                case "ts" -> {
                    event.sawKey(START);
                    event.startNs = time(value);
                }
                case "dur" -> {
                    event.sawKey(ELAPSED);
                    event.elapsedNs = time(value);
                }
                case "pid" -> {
                    event.sawKey(PROCESS);
                    event.process = Names.bounded(scalar(value));
                }
                case "tid" -> {
                    event.sawKey(THREAD);
                    event.thread = Names.bounded(scalar(value));
                }
                case "args" -> {
                    event.sawKey(ARGS);
                    args(value);
                }
                case "id" -> event.id = Names.bounded(scalar(value));
                case "bp" -> event.bindsEnclosing = scalar(value).equals("e");
                case "s" -> event.skipped += scalar(value).equals("t") ? 0 : 1;
                default -> {
                    event.skipped++;
                    parser.skipChildren();
                }
            }
        }
        return event;
    }

    private char phase(JsonToken value) throws IOException {
        String text = scalar(value);
        return text.length() == 1 ? text.charAt(0) : RawEvent.NO_PHASE;
    }

    /** A string, number or truth value as it is written; nothing of anything else. */
    private String scalar(JsonToken value) throws IOException {
        if (value.isScalarValue() && value != JsonToken.VALUE_NULL) {
            return parser.getText();
        }
        parser.skipChildren();
        return "";
    }

    private long time(JsonToken value) throws IOException {
        if (value.isNumeric() || value == JsonToken.VALUE_STRING) {
            return Microseconds.toNs(
                    parser.getTextCharacters(), parser.getTextOffset(), parser.getTextLength());
        }
        parser.skipChildren();
        return value == JsonToken.VALUE_NULL ? Microseconds.ABSENT : Microseconds.MALFORMED;
    }

    private void args(JsonToken value) throws IOException {
        if (value != JsonToken.START_OBJECT) {
            parser.skipChildren();
            return;
        }
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = parser.currentName();
            JsonToken argument = parser.nextToken();
            switch (key) {
                case "bytes" -> {
                    event.sawKey(BYTES);
                    event.bytes = bytes(argument);
                }
                case OwnTrace.CATEGORY -> event.ownCategory = Names.bounded(scalar(argument));
                case OwnTrace.ELEMENTS -> event.elements = Math.max(RawEvent.NO_ELEMENTS, bytes(argument));
                case OwnTrace.SAMPLE -> event.isDeviceSample = bytes(argument) == 1;
                case OwnTrace.DEVICE -> event.onDevice = true;
                default -> {
                    // A rule may look at it.
                }
            }
            if (sink.keeps(key)) {
                event.keep(key, Names.bounded(scalar(argument)));
            } else {
                parser.skipChildren();
            }
        }
    }

    private long bytes(JsonToken value) throws IOException {
        if (value != JsonToken.VALUE_NUMBER_INT) {
            return value == JsonToken.VALUE_NULL ? RawEvent.NO_BYTES : RawEvent.MALFORMED_BYTES;
        }
        BigInteger bytes = parser.getBigIntegerValue();
        boolean right = bytes.signum() >= 0 && bytes.compareTo(LARGEST_BYTES) <= 0;
        return right ? bytes.longValueExact() : RawEvent.MALFORMED_BYTES;
    }
}
