package org.brickprofiler.trace.write;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.trace.Timeline;

/** A Chrome trace as a parser that is not ours reads it. */
final class ChromeTrace {

    private static final ObjectMapper PARSER =
            new ObjectMapper().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

    /** A row: a process and a thread. */
    record Row(long pid, long tid) {
        static Row of(JsonNode event) {
            return new Row(event.get("pid").longValue(), event.get("tid").longValue());
        }
    }

    final String text;
    final JsonNode root;
    final List<JsonNode> events = new ArrayList<>();

    ChromeTrace(byte[] json) throws IOException {
        text = new String(json, StandardCharsets.UTF_8);
        root = PARSER.readTree(json);
        root.get("traceEvents").forEach(events::add);
    }

    static ChromeTrace of(Timeline timeline) throws IOException {
        return of(timeline, TraceFiles.Origin.OWN);
    }

    static ChromeTrace of(Timeline timeline, TraceFiles.Origin origin) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ChromeWriter.write(timeline, out, origin);
        return new ChromeTrace(out.toByteArray());
    }

    List<JsonNode> of(String phase) {
        return events.stream()
                .filter(event -> event.get("ph").textValue().equals(phase))
                .toList();
    }

    List<JsonNode> of(String phase, String category) {
        return of(phase).stream()
                .filter(event -> event.get("cat").textValue().equals(category))
                .toList();
    }

    /** The slices that stand for spans of the timeline. */
    List<JsonNode> spans() {
        return of("X").stream()
                .filter(event -> !event.get("args").has("derived"))
                .toList();
    }

    /** The names of the rows. */
    Map<Row, String> rowNames() {
        Map<Row, String> names = new HashMap<>();
        for (JsonNode event : of("M")) {
            if (event.get("name").textValue().equals("thread_name")) {
                assertThat(names.put(
                                Row.of(event), event.get("args").get("name").textValue()))
                        .as("named once")
                        .isNull();
            }
        }
        return names;
    }

    static long ns(JsonNode micros) {
        return micros.decimalValue().multiply(BigDecimal.valueOf(1_000)).longValueExact();
    }
}
