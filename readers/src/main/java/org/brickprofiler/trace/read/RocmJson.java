package org.brickprofiler.trace.read;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.brickprofiler.internal.io.InputFile;
import org.brickprofiler.trace.read.RocmEvents.EventVisitor;
import org.brickprofiler.trace.read.RocmEvents.Kind;
import org.brickprofiler.trace.read.RocmEvents.Row;
import org.eclipse.collections.impl.map.mutable.primitive.LongObjectHashMap;

/**
 * Reads the JSON of rocprofv3: for each process its agents, the names of its kernels and calls, and its records.
 * Records refer to names by number; the names precede the records. One thread.
 */
final class RocmJson implements RocmEvents.Source {

    private static final Pattern BEGIN = Pattern.compile("\\s*\\{\\s*\"rocprofiler-sdk-tool\"\\s*:\\s*\\[");
    private static final String TOOL = "rocprofiler-sdk-tool";

    /** More names than a program has kernels, calls or different markers. */
    private static final int MOST_NAMES = 1 << 20;

    private static final int PROCESS_SHIFT = 40;
    private static final JsonFactory MESSAGES = new JsonFactory();

    /** The kinds of records by the names of their arrays, except for {@link #CALLS}. */
    private static final Map<String, Kind> KINDS =
            Map.of("kernel_dispatch", Kind.KERNEL, "memory_copy", Kind.COPY, "marker_api", Kind.MARKER);

    private static final Set<String> CALLS = Set.of(
            "hip_api", "hsa_api", "rccl_api", "rocdecode_api", "rocjpeg_api", "memory_allocation", "scratch_memory");

    private final Path file;
    private final EventCollector collector;
    private final ReadOptions.Limits limits;
    private final Row row = new Row();

    // The process that is being read.
    private int processes;
    private String pid = "";
    private final LongObjectHashMap<String> kernels = new LongObjectHashMap<>();
    private final LongObjectHashMap<String> messages = new LongObjectHashMap<>();
    private final LongObjectHashMap<AgentNode> agents = new LongObjectHashMap<>();
    private final List<List<String>> operations = new ArrayList<>();

    /** A processor or a device. Immutable. */
    private record AgentNode(long node, boolean isGpu) {}

    /** The scalar fields of an object, and those of its nested objects as {@code parent.child}; a record has few. */
    private final Map<String, String> fields = new HashMap<>();

    private RocmJson(Path file, EventCollector collector, ReadOptions.Limits limits) {
        this.file = file;
        this.collector = collector;
        this.limits = limits;
    }

    /** Returns whether a text begins as this format does. */
    static boolean begins(String head) {
        return BEGIN.matcher(head).lookingAt();
    }

    /**
     * Reads a file.
     *
     * @param file the text, unpacked
     * @param collector receives the events
     * @param limits the limits of memory
     * @throws TraceFormatException when the text is damaged
     * @throws IOException when it cannot be read
     */
    static void read(Path file, EventCollector collector, ReadOptions.Limits limits) throws IOException {
        RocmEvents.read(new RocmJson(file, collector, limits), collector, null);
    }

    /** Returns the message in the data of a marker; another text if there is none. */
    static String message(String json, String otherwise) {
        if (json.isEmpty()) {
            return otherwise;
        }
        try (JsonParser parser = MESSAGES.createParser(json)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                return otherwise;
            }
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String key = parser.currentName();
                JsonToken value = parser.nextToken();
                if (key.equals("message") && value == JsonToken.VALUE_STRING) {
                    return parser.getText().isEmpty() ? otherwise : parser.getText();
                }
                parser.skipChildren();
            }
            return otherwise;
        } catch (IOException malformed) {
            return otherwise;
        }
    }

    @Override
    public void each(Set<Kind> kinds, EventVisitor reader) throws IOException {
        processes = 0;
        try (InputStream in = new BufferedInputStream(InputFile.open(file));
                JsonParser json = ChromeParser.factory(limits).createParser(in)) {
            try {
                json.nextToken();
                while (json.nextToken() == JsonToken.FIELD_NAME) {
                    String key = json.currentName();
                    if (json.nextToken() == JsonToken.START_ARRAY && key.equals(TOOL)) {
                        while (json.nextToken() == JsonToken.START_OBJECT) {
                            process(json, kinds, reader);
                        }
                    } else {
                        json.skipChildren();
                    }
                }
                if (json.currentToken() != JsonToken.END_OBJECT) {
                    throw TraceFormatException.damage(collector.source, offset(json), "the text ends too early");
                }
            } catch (JsonProcessingException malformed) {
                throw ChromeParser.fault(malformed, json, collector.source);
            }
        }
    }

    private static long offset(JsonParser json) {
        return Math.max(0, json.currentLocation().getByteOffset());
    }

    private void process(JsonParser json, Set<Kind> kinds, EventVisitor reader) throws IOException {
        pid = Integer.toString(processes++);
        kernels.clear();
        messages.clear();
        agents.clear();
        operations.clear();
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String key = json.currentName();
            JsonToken value = json.nextToken();
            switch (key) {
                case "metadata" -> {
                    object(json);
                    pid = fields.getOrDefault("pid", pid);
                }
                case "agents" -> array(json, value, () -> agent());
                case "kernel_symbols" -> array(json, value, () -> kernel());
                case "strings" -> strings(json, value);
                case "buffer_records" -> records(json, value, kinds, reader);
                default -> json.skipChildren();
            }
        }
    }

    /** Processes an element of an array, whose fields were read. */
    private interface Element {
        void take() throws IOException;
    }

    private void array(JsonParser json, JsonToken value, Element element) throws IOException {
        if (value != JsonToken.START_ARRAY) {
            json.skipChildren();
            return;
        }
        for (JsonToken at = json.nextToken(); at != JsonToken.END_ARRAY; at = json.nextToken()) {
            if (at == JsonToken.START_OBJECT) {
                object(json);
                element.take();
            } else if (at == null) {
                throw TraceFormatException.damage(collector.source, offset(json), "the text ends too early");
            } else {
                json.skipChildren();
            }
        }
    }

    /** Reads the scalars of the current object and of the objects in it; arrays are skipped. */
    private void object(JsonParser json) throws IOException {
        fields.clear();
        if (json.currentToken() == JsonToken.START_OBJECT) {
            members(json, "");
        } else {
            json.skipChildren();
        }
    }

    private void members(JsonParser json, String prefix) throws IOException {
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String key = prefix.isEmpty() ? json.currentName() : prefix + '.' + json.currentName();
            JsonToken value = json.nextToken();
            if (value == JsonToken.START_OBJECT && prefix.indexOf('.') < 0) {
                members(json, key);
            } else if (value == JsonToken.START_OBJECT || value == JsonToken.START_ARRAY) {
                json.skipChildren();
            } else if (value != null && value.isScalarValue()) {
                fields.put(key, json.getText());
            }
        }
    }

    private long number(String field) {
        return TraceEvent.wholeNumberOf(fields.getOrDefault(field, ""));
    }

    private void agent() {
        boolean isGpu = number("type") == 2;
        String name = fields.getOrDefault("product_name", fields.getOrDefault("name", ""));
        agents.put(number("id.handle"), new AgentNode(number("node_id"), isGpu));
        if (isGpu) {
            collector.head.deviceName(name);
        }
    }

    private void kernel() throws TraceFormatException {
        String name = "";
        for (String key : List.of("formatted_kernel_name", "demangled_kernel_name", "kernel_name")) {
            name = name.isEmpty() ? fields.getOrDefault(key, "") : name;
        }
        put(kernels, number("kernel_id"), name);
    }

    private void put(LongObjectHashMap<String> names, long number, String name) throws TraceFormatException {
        if (names.size() == MOST_NAMES) {
            throw collector.error(0, "there are more than " + MOST_NAMES + " names of kernels or markers");
        }
        names.put(number, TraceNames.bounded(name));
    }

    // ---- the names of calls and markers ----

    private void strings(JsonParser json, JsonToken value) throws IOException {
        if (value != JsonToken.START_OBJECT) {
            json.skipChildren();
            return;
        }
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String key = json.currentName();
            JsonToken list = json.nextToken();
            switch (key) {
                case "buffer_records" -> kindNames(json, list);
                case "marker_api" ->
                    array(json, list, () -> put(messages, number("key"), fields.getOrDefault("value", "")));
                default -> json.skipChildren();
            }
        }
    }

    private void kindNames(JsonParser json, JsonToken value) throws IOException {
        if (value != JsonToken.START_ARRAY) {
            json.skipChildren();
            return;
        }
        while (json.nextToken() == JsonToken.START_OBJECT) {
            List<String> names = new ArrayList<>();
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                boolean areNames = json.currentName().equals("operations");
                if (json.nextToken() == JsonToken.START_ARRAY && areNames) {
                    while (json.nextToken() == JsonToken.VALUE_STRING) {
                        names.add(TraceNames.bounded(json.getText()));
                    }
                } else {
                    json.skipChildren();
                }
            }
            operations.add(names);
        }
    }

    private String operation() {
        long kind = number("kind");
        long operation = number("operation");
        List<String> names = kind >= 0 && kind < operations.size() ? operations.get((int) kind) : List.of();
        return operation >= 0 && operation < names.size() ? names.get((int) operation) : "operation " + operation;
    }

    // ---- records ----

    private void records(JsonParser json, JsonToken value, Set<Kind> kinds, EventVisitor reader) throws IOException {
        if (value != JsonToken.START_OBJECT) {
            json.skipChildren();
            return;
        }
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String key = json.currentName();
            JsonToken list = json.nextToken();
            Kind kind = CALLS.contains(key) ? Kind.CALL : KINDS.get(key);
            if (kind != null && kinds.contains(kind)) {
                array(json, list, () -> reader.read(record(kind)));
            } else {
                json.skipChildren();
            }
        }
    }

    private Row record(Kind kind) {
        row.clear(kind);
        row.startNs = RocmTables.time(fields.getOrDefault("start_timestamp", ""));
        row.endNs = RocmTables.time(fields.getOrDefault("end_timestamp", ""));
        long internal = number("correlation_id.internal");
        boolean isKnown = internal > 0 && internal < 1L << PROCESS_SHIFT;
        row.correlation = isKnown ? ((long) processes << PROCESS_SHIFT) | internal : TraceEvent.NONE;
        row.process = pid;
        row.thread = fields.getOrDefault("thread_id", "");
        switch (kind) {
            case KERNEL -> {
                long kernel = number("dispatch_info.kernel_id");
                String name = kernels.get(kernel);
                row.name = name == null ? "kernel " + kernel : name;
                row.device = nodeOf("dispatch_info.agent_id.handle");
                row.queue = fields.getOrDefault("dispatch_info.queue_id.handle", "");
            }
            case COPY -> {
                AgentNode to = agents.get(number("dst_agent_id.handle"));
                row.name = operation();
                row.device = nodeOf(to != null && to.isGpu() ? "dst_agent_id.handle" : "src_agent_id.handle");
                row.queue = "copies";
                row.bytes = number("bytes");
            }
            case MARKER -> {
                String message = messages.get(internal);
                row.name = message == null ? operation() : message;
            }
            default -> row.name = operation();
        }
        return row;
    }

    private long nodeOf(String field) {
        AgentNode agent = agents.get(number(field));
        return agent == null ? number(field) : agent.node();
    }
}
