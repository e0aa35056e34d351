package org.brickprofiler.trace.read;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.io.JsonEOFException;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import java.io.CharConversionException;
import java.io.IOException;
import java.io.InputStream;
import java.util.OptionalLong;

/** Walks through the text of a trace and hands out its events. One thread. */
final class TraceParser {

    /** Longer keys than any trace has; the parser keeps those it has met. */
    private static final int LONGEST_KEY = 512;

    private static final String EVENTS = "traceEvents";

    private final JsonParser parser;
    private final EventParser events;
    private final EventSink sink;
    private final String source;

    /** Whether the last token was the end of an event in an array that has none around it. */
    private boolean mayEndHere;

    private TraceParser(JsonParser parser, EventSink sink, String source) {
        this.parser = parser;
        this.events = new EventParser(parser, sink);
        this.sink = sink;
        this.source = source;
    }

    /**
     * Reads a trace.
     *
     * @param text the text, unpacked; left open
     * @param source what to call it in messages
     * @param limits what bounds the memory
     * @param sink takes the events
     * @throws TraceFormatException when the text is no trace, or is damaged
     * @throws IOException when the text cannot be read
     */
    static void parse(InputStream text, String source, ReadLimits limits, EventSink sink) throws IOException {
        try (JsonParser parser = factory(limits).createParser(text)) {
            TraceParser trace = new TraceParser(parser, sink, source);
            try {
                trace.document();
            } catch (JsonProcessingException malformed) {
                throw trace.fault(malformed);
            } catch (TraceInput.DamagedException | CharConversionException damaged) {
                throw trace.error(String.valueOf(damaged.getMessage()), damaged);
            } catch (Rule.TooCostly tooCostly) {
                throw trace.error(String.valueOf(tooCostly.getMessage()), tooCostly);
            }
        } catch (TraceInput.DamagedException | CharConversionException damaged) {
            // The parser looks at the first bytes when it is made.
            throw new TraceFormatException(source, 0, String.valueOf(damaged.getMessage()), damaged);
        }
    }

    private static JsonFactory factory(ReadLimits limits) {
        return JsonFactory.builder()
                .streamReadConstraints(StreamReadConstraints.builder()
                        .maxNestingDepth(limits.nestingDepth())
                        .maxStringLength(limits.stringLength())
                        .maxNameLength(LONGEST_KEY)
                        .build())
                .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
                .disable(StreamReadFeature.AUTO_CLOSE_SOURCE)
                .enable(JsonReadFeature.ALLOW_TRAILING_COMMA)
                .enable(JsonReadFeature.ALLOW_UNESCAPED_CONTROL_CHARS)
                .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
                .build();
    }

    private void document() throws IOException {
        JsonToken first = parser.nextToken();
        if (first == null) {
            throw error("the text is empty");
        }
        switch (first) {
            case START_ARRAY -> array(true);
            case START_OBJECT -> object();
            default -> throw error("the text is neither an array of events nor an object with " + EVENTS);
        }
        if (!sink.isOpenArray() && parser.nextToken() != null) {
            throw error("there is more text after the end of the trace");
        }
        sink.end(offset());
    }

    private void object() throws IOException {
        boolean found = false;
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = parser.currentName();
            JsonToken value = parser.nextToken();
            switch (key) {
                case EVENTS -> {
                    if (found) {
                        throw error("there are two " + EVENTS);
                    }
                    if (value != JsonToken.START_ARRAY) {
                        throw error(EVENTS + " is not an array");
                    }
                    found = true;
                    array(false);
                }
                case "baseTimeNanoseconds" -> wholeNumber(value).ifPresent(sink.head()::baseTime);
                case "producer" -> {
                    if (value == JsonToken.VALUE_STRING) {
                        sink.head().producer(parser.getText(), OwnTrace.CHROME, sink.eventsRead(), offset());
                    } else {
                        parser.skipChildren();
                    }
                }
                case "droppedSpans" -> {
                    long offset = offset();
                    wholeNumber(value).ifPresent(spans -> sink.head().lostSpans(spans, offset));
                }
                case "clockErrorNs" -> wholeNumber(value).ifPresent(sink.head()::clockError);
                case "traceName" -> {
                    if (value == JsonToken.VALUE_STRING) {
                        sink.head().processName(parser.getText());
                    } else {
                        parser.skipChildren();
                    }
                }
                case "distributedInfo" -> distributedInfo(value);
                case "deviceProperties" -> devices(value);
                default -> parser.skipChildren();
            }
        }
        if (!found) {
            throw error("there is no " + EVENTS + ": the text is JSON, but no trace");
        }
    }

    private void array(boolean mayStayOpen) throws IOException {
        try {
            JsonToken token = parser.nextToken();
            while (token != JsonToken.END_ARRAY) {
                mayEndHere = false;
                if (token == JsonToken.START_OBJECT) {
                    sink.accept(events.read(offset()));
                } else if (token == JsonToken.VALUE_NULL) {
                    sink.ignoreElement();
                } else {
                    throw error("an element of the array of events is no object");
                }
                mayEndHere = mayStayOpen;
                token = parser.nextToken();
            }
        } catch (JsonProcessingException malformed) {
            // The format lets a bare array do without its end, so that a program that dies leaves a trace.
            if (!mayEndHere || !isEarlyEnd(malformed)) {
                throw malformed;
            }
            sink.openArray(offset(parser.currentLocation()));
        }
    }

    private OptionalLong wholeNumber(JsonToken value) throws IOException {
        if (value == JsonToken.VALUE_NUMBER_INT && parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
            return OptionalLong.of(parser.getLongValue());
        }
        parser.skipChildren();
        return OptionalLong.empty();
    }

    private void distributedInfo(JsonToken value) throws IOException {
        if (value != JsonToken.START_OBJECT) {
            parser.skipChildren();
            return;
        }
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = parser.currentName();
            OptionalLong number = wholeNumber(parser.nextToken());
            switch (key) {
                case "rank" -> number.ifPresent(sink.head()::rank);
                case "world_size" -> number.ifPresent(sink.head()::worldSize);
                default -> {
                    // Says nothing of the process.
                }
            }
        }
    }

    private void devices(JsonToken value) throws IOException {
        if (value != JsonToken.START_ARRAY) {
            parser.skipChildren();
            return;
        }
        for (JsonToken item = parser.nextToken(); item != JsonToken.END_ARRAY; item = parser.nextToken()) {
            if (item == JsonToken.START_OBJECT) {
                device();
            } else {
                parser.skipChildren();
            }
        }
    }

    private void device() throws IOException {
        OptionalLong id = OptionalLong.empty();
        OptionalLong memoryBytes = OptionalLong.empty();
        String name = "";
        String backend = "";
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = parser.currentName();
            JsonToken value = parser.nextToken();
            if (value == JsonToken.VALUE_STRING && key.equals("name")) {
                name = parser.getText();
            } else if (value == JsonToken.VALUE_STRING && key.equals("backend")) {
                backend = parser.getText();
            } else if (key.equals("id")) {
                id = wholeNumber(value);
            } else if (key.equals("totalGlobalMem")) {
                memoryBytes = wholeNumber(value);
            } else {
                parser.skipChildren();
            }
        }
        sink.head().device(id, name, backend, memoryBytes);
    }

    private long offset() {
        JsonLocation at = parser.currentTokenLocation();
        return offset(at);
    }

    private static long offset(JsonLocation at) {
        return Math.max(0, at.getByteOffset() >= 0 ? at.getByteOffset() : at.getCharOffset());
    }

    private TraceFormatException error(String fault) {
        return new TraceFormatException(source, offset(), fault);
    }

    private TraceFormatException error(String fault, Exception cause) {
        return new TraceFormatException(source, offset(parser.currentLocation()), fault, cause);
    }

    private TraceFormatException fault(JsonProcessingException malformed) {
        JsonLocation at = malformed.getLocation();
        // The parser's own message for this case names its source object and no more.
        String fault = isEarlyEnd(malformed) ? "the text ends too early" : malformed.getOriginalMessage();
        return new TraceFormatException(
                source, offset(at == null ? parser.currentLocation() : at), fault, malformed);
    }

    /** The end between the elements of an array has no exception of its own. */
    private static boolean isEarlyEnd(JsonProcessingException malformed) {
        String message = malformed.getOriginalMessage();
        return malformed instanceof JsonEOFException
                || (message != null && message.startsWith("Unexpected end-of-input"));
    }
}
