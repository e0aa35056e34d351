package org.brickprofiler.trace.read;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteFeature;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.zip.GZIPInputStream;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.internal.base.Plural;
import org.jspecify.annotations.Nullable;

/**
 * The phases and requests of a run that another program sums up, in a file without bricks: the JSON of llama-bench and
 * of {@code vllm bench serve}, responses of Ollama, the times of TensorRT's {@code trtexec}, and a log of llama.cpp.
 * Immutable.
 *
 * <p>Times of requests are never added over slots or clients that run at the same time.
 */
final class RunSummary implements TraceReader.Summary {

    /** The length of the beginning in which the format is looked for. */
    private static final int LOOKED_AT = 1 << 18;

    private static final String GZIP = "\u001f\u008b";
    private static final int ROWS_SHOWN = 20;

    /** The fast writer prints a double in the same way on every JDK. */
    private static final JsonFactory FACTORY = JsonFactory.builder()
            .enable(StreamWriteFeature.USE_FAST_DOUBLE_WRITER)
            .build();

    private final String program;
    private final boolean hasBricks;
    private final List<Fact> facts;
    private final List<Table> tables;

    /** A statement about the run. Immutable. */
    record Fact(String title, String text) {}

    /**
     * A value of a table.
     *
     * @param text the text in reports
     * @param value the value in JSON: a number, a text, or null if it is unknown
     */
    record Cell(String text, @Nullable Object value) {
        /** A value that the file does not state. */
        static final Cell UNKNOWN = new Cell("-", null);

        static Cell text(String text) {
            return new Cell(PlainText.ascii(text), text);
        }

        static Cell count(long count) {
            return new Cell(TraceFigures.count(count), count);
        }

        static Cell ns(long ns) {
            return new Cell(TraceFigures.duration(ns), ns);
        }

        /** Returns tokens per second; unknown without time. */
        static Cell perSecond(long tokens, long ns) {
            return ns == 0 ? UNKNOWN : rate(tokens * 1e9 / ns);
        }

        static Cell rate(double rate) {
            return new Cell(String.format(Locale.ROOT, "%,.2f", rate), rate);
        }
    }

    /**
     * A value of a row.
     *
     * @param heading the heading of the column in reports
     * @param key the key in JSON
     * @param value the value
     */
    record Column(String heading, String key, Cell value) {
        /** Creates a value whose key is the heading. */
        Column(String heading, Cell value) {
            this(heading, heading, value);
        }
    }

    /** A table, whose rows have the same columns; {@code key} names it in JSON. */
    private record Table(String title, String key, List<List<Column>> rows) {}

    /** Collects a summary. Not thread-safe. */
    static final class Builder {
        private final String program;
        private boolean hasBricks;
        private final List<Fact> facts = new ArrayList<>();
        private final List<Table> tables = new ArrayList<>();

        Builder(String program) {
            this.program = program;
        }

        /** States that another file of the run has its bricks. */
        Builder withBricks() {
            hasBricks = true;
            return this;
        }

        Builder fact(String title, String text) {
            facts.add(new Fact(title, PlainText.ascii(text)));
            return this;
        }

        /** Adds a table. A table without rows appears only in JSON. */
        Builder table(String title, String key, List<List<Column>> rows) {
            tables.add(new Table(title, key, List.copyOf(rows)));
            return this;
        }

        RunSummary build() {
            return new RunSummary(this);
        }
    }

    private RunSummary(Builder of) {
        program = of.program;
        hasBricks = of.hasBricks;
        facts = List.copyOf(of.facts);
        tables = List.copyOf(of.tables);
    }

    /**
     * Returns whether a file is a summary that {@link #read} reads.
     *
     * @param head its first bytes, compressed by gzip or not
     * @return true for a summary; false for a trace, even one among the lines of a log
     */
    static boolean begins(byte[] head) {
        return SummaryFormat.of(text(Objects.requireNonNull(head, "head"))) != null;
    }

    /** Returns the text of a beginning, one character for each byte, up to damage of its compression. */
    private static String text(byte[] head) {
        if (!new String(head, StandardCharsets.ISO_8859_1).startsWith(GZIP)) {
            return PlainBytes.withoutEscapes(PlainBytes.asUtf8(head));
        }
        byte[] unpacked = new byte[LOOKED_AT];
        int length = 0;
        try (InputStream bytes = new GZIPInputStream(new ByteArrayInputStream(head))) {
            for (int read = 0; read >= 0 && length < LOOKED_AT; length += Math.max(0, read)) {
                read = bytes.read(unpacked, length, LOOKED_AT - length);
            }
        } catch (IOException cut) {
            // The head may end within the compressed bytes.
        }
        return PlainBytes.withoutEscapes(PlainBytes.asUtf8(Arrays.copyOf(unpacked, length)));
    }

    /**
     * Reads a summary.
     *
     * @param bytes the file, compressed by gzip or not; left open
     * @param source its name in messages
     * @return the summary
     * @throws TraceFormatException when it is no summary, is damaged, or contradicts itself
     * @throws IOException when it cannot be read
     */
    static RunSummary read(InputStream bytes, String source) throws IOException {
        Objects.requireNonNull(bytes, "bytes");
        Objects.requireNonNull(source, "source");
        try (BufferedInputStream text = TraceInput.text(
                bytes,
                ReadOptions.Progress.UNKNOWN,
                source,
                ReadOptions.defaults().progress())) {
            SummaryFormat format = SummaryFormat.of(TraceInput.head(text));
            if (format == null) {
                throw new TraceFormatException(source, 0, "unknown summary format");
            }
            return format.read(text, source);
        }
    }

    @Override
    public String program() {
        return program;
    }

    @Override
    public String text() {
        StringBuilder text = new StringBuilder("Summary of " + program + "\n");
        if (!hasBricks) {
            fact(text, new Fact("bricks", "none: the file has sums of phases or requests, and no bricks"));
        }
        facts.forEach(each -> fact(text, each));
        tables.stream().filter(table -> !table.rows().isEmpty()).forEach(table -> table(text, table));
        return text.toString();
    }

    private static void fact(StringBuilder text, Fact fact) {
        text.append(String.format(Locale.ROOT, "  %-10s  %s\n", fact.title(), fact.text()));
    }

    private static void table(StringBuilder text, Table table) {
        int shown = Math.min(ROWS_SHOWN, table.rows().size());
        List<List<String>> lines = new ArrayList<>();
        lines.add(table.rows().get(0).stream().map(Column::heading).toList());
        for (List<Column> row : table.rows().subList(0, shown)) {
            lines.add(row.stream().map(column -> column.value().text()).toList());
        }
        int[] widths = IntStream.range(0, lines.get(0).size())
                .map(column -> lines.stream()
                        .mapToInt(line -> line.get(column).length())
                        .max()
                        .orElse(0))
                .toArray();
        lines.add(1, Arrays.stream(widths).mapToObj("-"::repeat).toList());
        text.append('\n').append(table.title()).append("\n\n");
        lines.forEach(line -> line(text, line, widths));
        if (shown < table.rows().size()) {
            text.append("and ")
                    .append(Plural.of(table.rows().size() - shown, "more row"))
                    .append("; --json prints all\n");
        }
    }

    /** Appends a line of a table: the first column begins at the left, the others end at the right. */
    private static void line(StringBuilder text, List<String> cells, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int column = 0; column < widths.length; column++) {
            String blanks = " ".repeat(widths[column] - cells.get(column).length());
            line.append(column == 0 ? cells.get(0) + blanks : "  " + blanks + cells.get(column));
        }
        text.append(line.toString().stripTrailing()).append('\n');
    }

    @Override
    public String toJson() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator json = FACTORY.createGenerator(bytes)) {
            json.useDefaultPrettyPrinter();
            write(json, values());
            json.writeRaw('\n');
        } catch (IOException impossible) {
            throw new UncheckedIOException("memory does not fail", impossible);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    @Override
    public Map<String, ?> values() {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("program", program);
        values.put("has_bricks", hasBricks);
        Map<String, String> texts = new LinkedHashMap<>();
        facts.forEach(fact -> texts.put(fact.title(), fact.text()));
        values.put("facts", texts);
        tables.forEach(table -> values.put(
                table.key(), table.rows().stream().map(RunSummary::values).toList()));
        return Collections.unmodifiableMap(values);
    }

    private static Map<String, @Nullable Object> values(List<Column> row) {
        Map<String, @Nullable Object> values = new LinkedHashMap<>();
        row.forEach(column -> values.put(column.key(), column.value().value()));
        return values;
    }

    private static void write(JsonGenerator json, @Nullable Object value) throws IOException {
        if (value instanceof Map<?, ?> map) {
            json.writeStartObject();
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                json.writeFieldName(String.valueOf(entry.getKey()));
                write(json, entry.getValue());
            }
            json.writeEndObject();
        } else if (value instanceof List<?> list) {
            json.writeStartArray();
            for (Object each : list) {
                write(json, each);
            }
            json.writeEndArray();
        } else {
            json.writeObject(value);
        }
    }
}
