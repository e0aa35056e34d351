package org.brickprofiler.trace.read;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.io.JsonEOFException;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import java.io.CharConversionException;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.brickprofiler.internal.io.JsonFault;
import org.brickprofiler.trace.Span;
import org.jspecify.annotations.Nullable;

/**
 * Reads the text of a trace in Chrome's format and passes its events to a collector one at a time. Fields without a
 * meaning here are skipped. Numbers and names are parsed from the parser's buffer without an intermediate string. One
 * thread.
 */
final class ChromeParser {

    /** The longest key that is cached; the keys of real traces are shorter. */
    private static final int LONGEST_KEY = 512;

    private static final String EVENTS = "traceEvents";
    private static final long NONE = TraceEvent.NONE;

    // The keys of an event; a bit for each detects a key that occurs twice.
    private static final int PHASE = 1;
    private static final int NAME = 1 << 1;
    private static final int CATEGORY = 1 << 2;
    private static final int START = 1 << 3;
    private static final int ELAPSED = 1 << 4;
    private static final int PROCESS = 1 << 5;
    private static final int THREAD = 1 << 6;
    private static final int ARGUMENTS = 1 << 7;
    private static final int BYTES = 1 << 8;

    /** The begin of the description that rocmProfileData gives to slices around kernels on the row of their queue. */
    private static final String MARKER_FRAME = "UserMarker frame: ";

    /** The begin of the name that it gives to such slices around the kernels of a graph. */
    private static final String GRAPH_FRAME = "Graph ";

    /** A key of the metadata that XLA's profiler writes before the events, and browsers after them. */
    private static final String XLA_SIGN = "highres-ticks";

    private final JsonParser parser;
    private final EventCollector collector;
    private final int longestText;
    private final TraceNames names = new TraceNames();
    private final TraceEvent event = new TraceEvent();

    /** The argument {@code phase} of the event; empty if it has none. */
    private String phaseWord = "";

    /** The processes that are devices by their names, as far as the file was read. */
    private final Set<String> deviceProcesses = new HashSet<>();

    /** The arguments by which XLA names an operation and its scope. */
    private final Map<String, String> xlaArgs = new HashMap<>();

    /** The unrounded times of an event, in microseconds; null if they need not be added before rounding. */
    private @Nullable BigDecimal startUs;

    private @Nullable BigDecimal elapsedUs;

    /** Whether the last token ended an event of a bare array, which may lack its closing bracket. */
    private boolean mayEndHere;

    private ChromeParser(JsonParser parser, EventCollector collector, ReadOptions.Limits limits) {
        this.parser = parser;
        this.collector = collector;
        this.longestText = Math.min(limits.stringLength(), TraceNames.LONGEST);
    }

    /**
     * Reads a trace.
     *
     * @param text the text, unpacked; left open
     * @param limits the limits of memory
     * @param collector receives the events
     * @throws TraceFormatException when the text is no trace, or is damaged
     * @throws IOException when the text cannot be read
     */
    static void parse(InputStream text, ReadOptions.Limits limits, EventCollector collector) throws IOException {
        try (JsonParser parser = factory(limits).createParser(text)) {
            ChromeParser trace = new ChromeParser(parser, collector, limits);
            try {
                trace.document();
            } catch (JsonProcessingException malformed) {
                throw fault(malformed, parser, collector.source);
            } catch (TraceInput.DamagedException | CharConversionException damaged) {
                throw damage(collector, offset(parser.currentLocation()), damaged);
            } catch (TraceRule.TooCostly tooCostly) {
                throw new TraceFormatException(
                        collector.source,
                        offset(parser.currentLocation()),
                        String.valueOf(tooCostly.getMessage()),
                        tooCostly);
            }
        } catch (TraceInput.DamagedException | CharConversionException damaged) {
            // The parser reads the first bytes when it is created.
            throw damage(collector, 0, damaged);
        }
    }

    /** Returns a factory of parsers for the JSON of profilers, which is read leniently where that is safe. */
    static JsonFactory factory(ReadOptions.Limits limits) {
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

    // ---- the document ----

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
        if (!collector.isOpenArray() && parser.nextToken() != null) {
            throw damage("there is more text after the end of the trace");
        }
        collector.end(offset());
    }

    private void object() throws IOException {
        TraceHead head = collector.head;
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
                case "baseTimeNanoseconds" -> head.baseTimeNs = wholeNumber(value, head.baseTimeNs);
                case "producer" ->
                    head.producer(text(value, ""), TraceHead.CHROME_PRODUCERS, collector.eventsRead(), offset());
                case "droppedSpans" -> {
                    long offset = offset();
                    head.lostSpans(wholeNumber(value, 0), offset);
                }
                case "cutOff" -> head.cutOff(value == JsonToken.VALUE_TRUE ? 1 : 0, offset());
                case "slowSteps" -> {
                    long offset = offset();
                    slowSteps(value, offset);
                }
                case "timesAsRecorded" -> head.hasNetTimes = value == JsonToken.VALUE_TRUE;
                case "clockErrorNs" -> head.clockErrorNs = wholeNumber(value, head.clockErrorNs);
                case "traceName" -> head.processName = TraceNames.bounded(text(value, head.processName));
                case "distributedInfo" -> distributedInfo(value);
                case "metadata" -> metadata(value);
                case "deviceProperties" -> devices(value);
                default -> parser.skipChildren();
            }
        }
        if (!found) {
            throw error("there is no " + EVENTS + ": the text is JSON, but no trace");
        }
    }

    /** Reads the explanation of chosen steps: an array of texts that together make one. */
    private void slowSteps(JsonToken value, long offset) throws IOException {
        if (value != JsonToken.START_ARRAY) {
            parser.skipChildren();
            return;
        }
        for (JsonToken part = parser.nextToken(); part != JsonToken.END_ARRAY; part = parser.nextToken()) {
            collector.head.slowSteps(text(part, ""), offset);
        }
    }

    /** Restores the name that an event of this library's trace had in the timeline, and sets its phase. */
    private void useOwnNames() {
        String ownName = event.isStep() && event.ownName == null && !phaseWord.isEmpty() ? phaseWord : event.ownName;
        event.name = ownName == null ? event.name : ownName;
        event.statedPhase = phaseWord.isEmpty() ? null : Span.StatedPhase.of(phaseWord);
    }

    private void array(boolean mayStayOpen) throws IOException {
        try {
            JsonToken token = parser.nextToken();
            while (token != JsonToken.END_ARRAY) {
                mayEndHere = false;
                if (token == JsonToken.START_OBJECT) {
                    phaseWord = "";
                    readEvent();
                    if (collector.head.isOwn()) {
                        useOwnNames();
                    }
                    event.category = event.isMarker && event.category.isEmpty() ? TraceEvent.AROUND : event.category;
                    describeOperation();
                    collector.accept(event);
                } else if (token == JsonToken.VALUE_NULL) {
                    collector.acceptNothing();
                } else {
                    throw damage("an element of the array of events is no object");
                }
                mayEndHere = mayStayOpen;
                token = parser.nextToken();
            }
        } catch (JsonProcessingException malformed) {
            // Chrome's format allows a bare array without its end, so that a program that crashes leaves a readable
            // trace.
            if (!mayEndHere || !isEarlyEnd(malformed)) {
                throw malformed;
            }
            collector.openArray(offset(parser.currentLocation()));
        }
    }

    /** Returns a whole number that fits a {@code long}, or {@code otherwise} for any other value. */
    private long wholeNumber(JsonToken value, long otherwise) throws IOException {
        if (value == JsonToken.VALUE_NUMBER_INT && parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
            return parser.getLongValue();
        }
        parser.skipChildren();
        return otherwise;
    }

    /** Returns a string, or {@code otherwise} for any other value. */
    private String text(JsonToken value, String otherwise) throws IOException {
        if (value == JsonToken.VALUE_STRING) {
            return parser.getText();
        }
        parser.skipChildren();
        return otherwise;
    }

    private void metadata(JsonToken value) throws IOException {
        if (value != JsonToken.START_OBJECT) {
            parser.skipChildren();
            return;
        }
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            collector.head.isXla |= parser.currentName().equals(XLA_SIGN) && collector.eventsRead() == 0;
            parser.nextToken();
            parser.skipChildren();
        }
    }

    private void distributedInfo(JsonToken value) throws IOException {
        if (value != JsonToken.START_OBJECT) {
            parser.skipChildren();
            return;
        }
        boolean isDerived = false;
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = parser.currentName();
            JsonToken info = parser.nextToken();
            switch (key) {
                case "rank" -> collector.head.rank = wholeNumber(info, collector.head.rank);
                case TraceEvent.DERIVED -> isDerived = info == JsonToken.VALUE_TRUE;
                case "world_size" -> collector.head.worldSize = wholeNumber(info, collector.head.worldSize);
                default -> parser.skipChildren();
            }
        }
        if (isDerived && collector.head.isOwn()) {
            collector.head.rank = NONE;
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
        long id = NONE;
        long memoryBytes = NONE;
        String name = "";
        String backend = "";
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = parser.currentName();
            JsonToken value = parser.nextToken();
            switch (key) {
                case "id" -> id = wholeNumber(value, NONE);
                case "totalGlobalMem" -> memoryBytes = wholeNumber(value, NONE);
                case "name" -> name = text(value, name);
                case "backend" -> backend = text(value, backend);
                default -> parser.skipChildren();
            }
        }
        collector.head.device(id, name, backend, memoryBytes);
    }

    // ---- an event ----

    /**
     * Names an operation of XLA as {@link XSpaceReader} does, which reads the same profile. Both round ends, not
     * durations, so that operations that follow one another do not overlap.
     */
    private void describeOperation() {
        if (event.phase == 'M' && event.name.equals("process_name") && RowNames.isDevice(event.label)) {
            deviceProcesses.add(event.process);
        }
        String operation = xlaArgs.getOrDefault(XlaName.OPERATION, "");
        boolean isOnDevice = deviceProcesses.contains(event.process);
        if (event.phase != 'X' || collector.head.isOwn()) {
            return;
        }
        if (operation.isEmpty() && !isOnDevice) {
            if (collector.head.isXla) {
                XlaName.describeStep(event, xlaArgs.getOrDefault(XlaName.STEP, ""));
            }
            return;
        }
        XlaName.describe(event, event.name, operation, XlaName.Scope.of(xlaArgs), isOnDevice, collector);
        BigDecimal start = startUs;
        BigDecimal elapsed = elapsedUs;
        if (start != null && elapsed != null) {
            long endNs = Microseconds.toNs(start.add(elapsed));
            event.elapsedNs = Microseconds.isTime(endNs) ? endNs - event.startNs : event.elapsedNs;
        }
    }

    private void readEvent() throws IOException {
        event.clear(offset());
        xlaArgs.clear();
        startUs = null;
        elapsedUs = null;
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = parser.currentName();
            JsonToken value = parser.nextToken();
            switch (key) {
                case "ph" -> {
                    event.sawKey(PHASE);
                    String phase = scalar(value);
                    event.phase = phase.length() == 1 ? phase.charAt(0) : TraceEvent.NO_PHASE;
                }
                case "name" -> {
                    event.sawKey(NAME);
                    event.name = scalar(value);
                }
                case "cat" -> {
                    event.sawKey(CATEGORY);
                    event.category = scalar(value);
                }
                case "ts" -> {
                    event.sawKey(START);
                    event.startNs = time(value);
                    startUs = exact(value);
                }
                case "dur" -> {
                    event.sawKey(ELAPSED);
                    event.elapsedNs = time(value);
                    elapsedUs = exact(value);
                }
                case "pid" -> {
                    event.sawKey(PROCESS);
                    event.process = scalar(value);
                }
                case "tid" -> {
                    event.sawKey(THREAD);
                    event.thread = scalar(value);
                }
                case "args" -> {
                    event.sawKey(ARGUMENTS);
                    arguments(value);
                }
                case "id" -> event.id = identifier(value);
                // The profiler that DJL calls writes the shapes beside the arguments.
                case "shape" -> shapes(value, event.inputs);
                case "bp" -> event.bindsEnclosing = scalar(value).equals("e");
                case "s" -> event.skipped += scalar(value).equals("t") ? 0 : 1;
                default -> {
                    event.skipped++;
                    parser.skipChildren();
                }
            }
        }
    }

    /** Returns a string, number or truth value as it is written; empty for any other value. */
    private String scalar(JsonToken value) throws IOException {
        if (value == JsonToken.VALUE_STRING || value.isNumeric()) {
            char[] text = parser.getTextCharacters();
            int length = parser.getTextLength();
            // The parser itself refuses strings beyond its limit.
            return length <= longestText
                    ? names.of(text, parser.getTextOffset(), length)
                    : TraceNames.bounded(parser.getText());
        }
        if (value.isBoolean()) {
            return parser.getText();
        }
        parser.skipChildren();
        return "";
    }

    /** Returns an identifier that links events. Identifiers repeat too rarely to be cached. */
    private String identifier(JsonToken value) throws IOException {
        if (value != JsonToken.VALUE_NUMBER_INT) {
            return scalar(value);
        }
        return collector.wantsKeys() ? TraceNames.bounded(parser.getText()) : "";
    }

    private long time(JsonToken value) throws IOException {
        if (value.isNumeric() || value == JsonToken.VALUE_STRING) {
            return Microseconds.toNs(parser.getTextCharacters(), parser.getTextOffset(), parser.getTextLength());
        }
        parser.skipChildren();
        return value == JsonToken.VALUE_NULL ? Microseconds.ABSENT : Microseconds.MALFORMED;
    }

    /** Returns an unrounded number of microseconds if a device was named before; null if it is no time. */
    private @Nullable BigDecimal exact(JsonToken value) throws IOException {
        return value.isNumeric() && !deviceProcesses.isEmpty()
                ? Microseconds.exact(parser.getTextCharacters(), parser.getTextOffset(), parser.getTextLength())
                : null;
    }

    private void arguments(JsonToken value) throws IOException {
        if (value != JsonToken.START_OBJECT) {
            parser.skipChildren();
            return;
        }
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = parser.currentName();
            JsonToken argument = parser.nextToken();
            switch (key) {
                case TraceEvent.BYTES -> {
                    event.sawKey(BYTES);
                    event.bytes = bytes(argument);
                }
                case TraceEvent.BRICK -> event.ownName = scalar(argument);
                case TraceEvent.PHASE -> phaseWord = scalar(argument);
                case TraceEvent.CATEGORY -> event.ownCategory = scalar(argument);
                case TraceEvent.ELEMENTS -> event.elements = Math.max(NONE, bytes(argument));
                case TraceEvent.CORRELATION -> event.correlation = Math.max(NONE, bytes(argument));
                case XlaName.CORRELATION -> event.correlation = TraceEvent.wholeNumberOf(scalar(argument));
                case TraceEvent.SAMPLE -> event.isDeviceSample = bytes(argument) == 1;
                case TraceEvent.DEVICE -> event.onDevice = true;
                case "name" -> {
                    event.label = scalar(argument);
                    xlaArgs.put(key, event.label);
                }
                case XlaName.OPERATION, XlaName.FRAMEWORK_OPERATION, XlaName.STEP -> xlaArgs.put(key, scalar(argument));
                // rocmProfileData draws a slice around the kernels of a graph.
                case "kernels" -> event.isMarker |= event.name.startsWith(GRAPH_FRAME);
                case "desc" -> event.isMarker |= scalar(argument).startsWith(MARKER_FRAME);
                case OnnxRuntime.OPERATOR -> event.operator = scalar(argument);
                case OnnxRuntime.PROVIDER -> event.provider = scalar(argument);
                case "Input Dims" -> shapes(argument, event.inputs);
                case "Input type" -> types(argument);
                case "input_type_shape" -> typedShapes(argument, event.inputs);
                case "output_type_shape" -> typedShapes(argument, event.outputs);
                case "sort_index" -> event.sortIndex = Math.max(NONE, bytes(argument));
                default -> {
                    // A rule may test this argument.
                }
            }
            boolean isWanted = collector.wants(key);
            if (isWanted || collector.wantsKeys()) {
                // The arguments of a counter are its series. The phase may follow the arguments, so it may be unknown
                // here.
                boolean mayBeSeries = event.phase == 'C' || event.phase == TraceEvent.NO_PHASE;
                String listed = mayBeSeries && argument.isScalarValue() ? scalar(argument) : "";
                String text = isWanted && argument == JsonToken.VALUE_NUMBER_INT
                        ? parser.getText()
                        : isWanted ? scalar(argument) : listed;
                collector.keep(event, key, text, listed);
            }
            parser.skipChildren();
        }
    }

    /** Reads tensors as ONNX Runtime writes them: {@code [{"float":[1,16,256]},{"int64":[4]}]}. */
    private void typedShapes(JsonToken value, TensorShapes tensors) throws IOException {
        if (value != JsonToken.START_ARRAY) {
            parser.skipChildren();
            return;
        }
        for (JsonToken item = parser.nextToken(); item != JsonToken.END_ARRAY; item = parser.nextToken()) {
            if (item != JsonToken.START_OBJECT) {
                tensors.incomplete();
                parser.skipChildren();
                continue;
            }
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                tensors.begin(parser.currentName());
                if (parser.nextToken() == JsonToken.START_ARRAY) {
                    dimensions(tensors);
                } else {
                    tensors.incomplete();
                    parser.skipChildren();
                }
            }
        }
    }

    /** Reads tensors as PyTorch's profilers write them: {@code [[1,16,256],[],[[2,3],[2,3]]]}, the last a list. */
    private void shapes(JsonToken value, TensorShapes tensors) throws IOException {
        if (value != JsonToken.START_ARRAY) {
            parser.skipChildren();
            return;
        }
        for (JsonToken item = parser.nextToken(); item != JsonToken.END_ARRAY; item = parser.nextToken()) {
            tensors.begin("");
            if (item == JsonToken.START_ARRAY) {
                dimensions(tensors);
            } else {
                tensors.incomplete();
                parser.skipChildren();
            }
        }
    }

    /** Reads the types of tensors as Kineto writes them; they may precede the dimensions. */
    private void types(JsonToken value) throws IOException {
        if (value != JsonToken.START_ARRAY) {
            parser.skipChildren();
            return;
        }
        for (JsonToken item = parser.nextToken(); item != JsonToken.END_ARRAY; item = parser.nextToken()) {
            event.inputs.nextType(scalar(item));
        }
    }

    private void dimensions(TensorShapes tensors) throws IOException {
        for (JsonToken item = parser.nextToken(); item != JsonToken.END_ARRAY; item = parser.nextToken()) {
            if (item == JsonToken.VALUE_NUMBER_INT) {
                tensors.dimension(wholeNumber(item, NONE));
            } else {
                tensors.incomplete();
                parser.skipChildren();
            }
        }
    }

    private long bytes(JsonToken value) throws IOException {
        if (value == JsonToken.VALUE_STRING) {
            long whole = TraceEvent.wholeNumberOf(parser.getText());
            return whole >= 0 ? whole : TraceEvent.MALFORMED_BYTES;
        }
        if (value != JsonToken.VALUE_NUMBER_INT) {
            return value == JsonToken.VALUE_NULL ? NONE : TraceEvent.MALFORMED_BYTES;
        }
        if (parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
            boolean isNegative = parser.getTextCharacters()[parser.getTextOffset()] == '-';
            return isNegative ? TraceEvent.MALFORMED_BYTES : Long.MAX_VALUE;
        }
        return parser.getLongValue() >= 0 ? parser.getLongValue() : TraceEvent.MALFORMED_BYTES;
    }

    // ---- faults ----

    private long offset() {
        return offset(parser.currentTokenLocation());
    }

    private static long offset(JsonLocation at) {
        return Math.max(0, at.getByteOffset() >= 0 ? at.getByteOffset() : at.getCharOffset());
    }

    private TraceFormatException error(String fault) {
        return collector.error(offset(), fault);
    }

    private TraceFormatException damage(String fault) {
        return TraceFormatException.damage(collector.source, offset(), fault);
    }

    private static TraceFormatException damage(EventCollector collector, long offset, IOException damaged) {
        String fault = damaged instanceof CharConversionException
                ? "the text is in no encoding of JSON here"
                : String.valueOf(damaged.getMessage());
        return TraceFormatException.damage(collector.source, offset, fault, damaged);
    }

    /** Returns the fault of a malformed text. */
    static TraceFormatException fault(JsonProcessingException malformed, JsonParser parser, String source) {
        JsonLocation at = malformed.getLocation();
        long offset = offset(at == null ? parser.currentLocation() : at);
        String message = malformed.getOriginalMessage();
        if (malformed instanceof StreamConstraintsException) {
            return new TraceFormatException(source, offset, JsonFault.words(message), malformed);
        }
        // The parser reports the place after a control character.
        boolean isBehind = message.startsWith("Illegal character") && offset > 0;
        String fault = isEarlyEnd(malformed) ? JsonFault.EARLY_END : JsonFault.words(message);
        return TraceFormatException.damage(source, isBehind ? offset - 1 : offset, fault, malformed);
    }

    /** Returns whether the text ended early: Jackson has no exception type for an end between elements of an array. */
    private static boolean isEarlyEnd(JsonProcessingException malformed) {
        String message = malformed.getOriginalMessage();
        return malformed instanceof JsonEOFException
                || (message != null && message.startsWith("Unexpected end-of-input"));
    }
}
