package org.brickprofiler.trace.read;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.FilterReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.SequenceInputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.internal.io.InputFile;
import org.brickprofiler.trace.read.RocmEvents.EventVisitor;
import org.brickprofiler.trace.read.RocmEvents.Kind;
import org.brickprofiler.trace.read.RocmEvents.Row;
import org.jspecify.annotations.Nullable;

/**
 * Reads the tables (CSV) of rocprofv3 and of the first rocprof. rocprofv3 writes a table for each domain of a run:
 * kernels, copies, calls of the host, markers. The tables follow one another in one text, in any order; each begins
 * with a header. Columns are found by their names, since they differ between versions.
 *
 * <p>Tables of sums and of agents hold no events. A table of counters lists its kernels once for each counter, and
 * measures them one at a time; its rows do not count. Needs commons-csv. One thread.
 */
final class RocmTables implements RocmEvents.Source {

    private static final CSVFormat CSV =
            CSVFormat.DEFAULT.builder().setIgnoreEmptyLines(true).build();

    /** The longest row; kernels of templates have names of tens of thousands of characters. */
    private static final int LONGEST_ROW = 1 << 21;

    /** The first columns of all tables, by which a header is recognised. */
    private static final Set<String> FIRST_COLUMNS =
            Set.of("kind", "domain", "index", "name", "node_id", "correlation_id", "guid");

    private static final Pattern HEADER = Pattern.compile(
            "\\s*\"?(Kind|Domain|Correlation_Id|Guid)\"?,.*\"?Start_Timestamp\"?,\"?End_Timestamp\"?.*"
                    + "|\\s*\"?Index\"?,\"?KernelName\"?,.*\"?BeginNs\"?,\"?EndNs\"?.*"
                    + "|\\s*\"?Node_Id\"?,\"?Logical_Node_Id\"?,\"?Agent_Type\"?.*",
            Pattern.CASE_INSENSITIVE);

    private static final Pattern SUMS = Pattern.compile("\\s*\"?Name\"?,\"?(Calls|TotalDuration)");

    /** The domain at the end of a table's name; the rest is the same for all tables of a process. */
    private static final Pattern DOMAIN = Pattern.compile(
            "_?(?:(?:kernel|memory_copy|memory_allocation|scratch_memory|marker|hip|hsa|rccl|rocdecode|rocjpeg|domain)"
                    + "(?:_(?:runtime|compiler|core|amd|ext|image|finalize))*(?:_api)?_(?:trace|stats)"
                    + "|agent_info|counter_collection)\\.csv(?:\\.gz)?$",
            Pattern.CASE_INSENSITIVE);

    private static final Pattern TABLE = Pattern.compile(".*\\.csv(?:\\.gz)?", Pattern.CASE_INSENSITIVE);

    private static final Pattern LAST_NUMBER = Pattern.compile(".*?(\\d+)\\D*");
    private static final int MOST_DIGITS = 18;

    private final Path file;
    private final EventCollector collector;
    private final Row row = new Row();
    private final TraceEvent counter = new TraceEvent();
    private final Set<String> processes = new TreeSet<>();
    private long eventRows;
    private long counterRows;
    private boolean isSurveyed;

    /** The kinds of tables. */
    private enum Table {
        KERNELS,
        COPIES,
        CALLS,
        ALLOCATIONS,
        V1_KERNELS,
        COUNTERS,
        AGENTS,
        SUMS
    }

    private @Nullable Table table;
    private final Map<String, Integer> columns = new HashMap<>();

    /** The number of cells of a row; larger than that of the columns if a name repeats. */
    private int width;

    private RocmTables(Path file, EventCollector collector) {
        this.file = file;
        this.collector = collector;
    }

    /** Returns whether a text begins with the header of a table of events or agents. */
    static boolean begins(String head) {
        Optional<String> first = head.lines().filter(line -> !line.isBlank()).findFirst();
        return first.isPresent() && HEADER.matcher(first.get()).matches();
    }

    /**
     * Opens the tables of one process as one text.
     *
     * @param files tables, or one folder that contains them; plain or compressed by gzip
     * @return the text, to be closed
     * @throws IOException when a file is no table, when the names of the files are those of several processes, or when
     *     a file cannot be read
     */
    static InputStream open(List<Path> files) throws IOException {
        List<Path> tables = files.size() == 1 && Files.isDirectory(files.get(0)) ? tablesIn(files.get(0)) : files;
        Set<String> runs = new TreeSet<>();
        List<Path> ofEvents = new ArrayList<>();
        for (Path table : tables) {
            String head = TraceInput.head(table);
            boolean hasEvents = begins(head);
            if (!hasEvents && !SUMS.matcher(head).lookingAt()) {
                throw new IOException(
                        "cannot read " + table
                                + " together with others: it is no table (CSV) of rocprofv3; give one file, or brick compare two");
            }
            runs.add(DOMAIN.matcher(String.valueOf(table.getFileName())).replaceFirst(""));
            if (hasEvents) {
                ofEvents.add(table);
            }
        }
        if (ofEvents.isEmpty()) {
            throw new IOException(
                    "cannot read " + files.get(0) + ": no table there has events, as ..._kernel_trace.csv has");
        }
        if (runs.size() > 1) {
            throw new IOException("cannot read " + files.get(0) + " together with others: the tables are of several"
                    + " runs or processes (" + String.join(", ", runs) + "); give those of one");
        }
        List<InputStream> texts = new ArrayList<>();
        for (Path table : ofEvents) {
            texts.add(TraceInput.unpackedWithinBound(table));
            // The last row of a table may lack its end.
            texts.add(new ByteArrayInputStream(new byte[] {'\n'}));
        }
        return new SequenceInputStream(Collections.enumeration(texts));
    }

    private static List<Path> tablesIn(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            List<Path> tables = files.filter(file ->
                            TABLE.matcher(String.valueOf(file.getFileName())).matches())
                    .sorted()
                    .toList();
            if (tables.isEmpty()) {
                throw new IOException(
                        "cannot read " + folder + ": it is a folder without tables (*.csv), as rocprofv3 writes them");
            }
            return tables;
        }
    }

    /**
     * Reads tables.
     *
     * @param file the text, unpacked
     * @param collector receives the events
     * @throws TraceFormatException when a row is damaged, when no table has events, or when the tables are of several
     *     processes
     * @throws IOException when the text cannot be read
     */
    static void read(Path file, EventCollector collector) throws IOException {
        RocmTables tables = new RocmTables(file, collector);
        tables.survey();
        RocmEvents.read(tables, collector, null);
    }

    /** Checks that the tables have events, and are those of one process, whose correlations are unique. */
    private void survey() throws IOException {
        try {
            each(Set.of(Kind.CALL, Kind.MARKER), found -> processes.add(found.process));
        } catch (TraceFormatException fault) {
            if (!fault.isDamage()) {
                throw fault;
            }
            // The passes over the events meet the damage again.
        }
        isSurveyed = true;
        if (processes.size() > 1) {
            throw collector.error(
                    0,
                    "the tables are of several processes (" + String.join(", ", processes)
                            + "), whose correlations repeat; read those of one process at a time");
        }
        if (eventRows == 0 && counterRows > 0) {
            throw collector.error(
                    0,
                    "the table has counters of kernels that ran one at a time, and not the times of the run; read"
                            + " the table ..._kernel_trace.csv");
        }
    }

    // ---- rows ----

    @Override
    public void each(Set<Kind> kinds, EventVisitor reader) throws IOException {
        table = null;
        columns.clear();
        try (Reader text = new BufferedReader(new InputStreamReader(InputFile.open(file), StandardCharsets.UTF_8));
                Bounded bounded = new Bounded(text);
                CSVParser rows = CSV.parse(bounded)) {
            Iterator<CSVRecord> all = rows.iterator();
            for (CSVRecord next = next(all, rows); next != null; next = next(all, rows)) {
                bounded.beginRow();
                if (FIRST_COLUMNS.contains(next.get(0).strip().toLowerCase(Locale.ROOT))) {
                    header(next);
                } else {
                    read(next, kinds, reader);
                }
            }
        }
    }

    private @Nullable CSVRecord next(Iterator<CSVRecord> rows, CSVParser parser) throws IOException {
        try {
            return rows.hasNext() ? rows.next() : null;
        } catch (UncheckedIOException | IllegalStateException malformed) {
            throw TraceFormatException.damage(
                    collector.source,
                    0,
                    "the table is damaged in line " + parser.getCurrentLineNumber() + ": a quoted text does not end",
                    malformed);
        }
    }

    /** A reader that refuses overlong rows, so that a missing quotation mark cannot exhaust the memory. */
    private static final class Bounded extends FilterReader {
        private long sinceRow;

        Bounded(Reader text) {
            super(text);
        }

        void beginRow() {
            sinceRow = 0;
        }

        @Override
        public int read(char[] buffer, int from, int length) throws IOException {
            int read = in.read(buffer, from, length);
            count(read);
            return read;
        }

        @Override
        public int read() throws IOException {
            int read = in.read();
            count(read < 0 ? 0 : 1);
            return read;
        }

        private void count(int characters) throws IOException {
            sinceRow += Math.max(0, characters);
            if (sinceRow > LONGEST_ROW) {
                throw new IOException("a row has more than " + LONGEST_ROW + " characters");
            }
        }
    }

    private void header(CSVRecord names) throws TraceFormatException {
        columns.clear();
        width = names.size();
        for (int i = 0; i < names.size(); i++) {
            columns.putIfAbsent(names.get(i).strip().toLowerCase(Locale.ROOT), i);
        }
        boolean hasTimes = has("start_timestamp", "end_timestamp");
        if (has("counter_name")) {
            table = Table.COUNTERS;
        } else if (hasTimes && has("kernel_name")) {
            table = Table.KERNELS;
        } else if (hasTimes && has("direction")) {
            table = Table.COPIES;
        } else if (hasTimes && has("domain", "function")) {
            table = Table.CALLS;
        } else if (hasTimes && has("operation")) {
            table = Table.ALLOCATIONS;
        } else if (has("kernelname", "beginns", "endns")) {
            table = Table.V1_KERNELS;
        } else if (has("agent_type", "node_id")) {
            table = Table.AGENTS;
        } else if (has("name", "calls") || has("name", "totaldurationns")) {
            table = Table.SUMS;
        } else {
            throw collector.error(
                    names.getCharacterPosition(),
                    "no table of rocprof or rocprofv3 has the columns " + TraceFigures.plain(String.join(", ", names)));
        }
    }

    private boolean has(String... names) {
        for (String name : names) {
            if (!columns.containsKey(name)) {
                return false;
            }
        }
        return true;
    }

    private void read(CSVRecord cells, Set<Kind> kinds, EventVisitor reader) throws IOException {
        Table of = table;
        if (of == null || cells.size() != width) {
            throw TraceFormatException.damage(
                    collector.source,
                    cells.getCharacterPosition(),
                    "row " + cells.getRecordNumber() + " has " + Plural.of(cells.size(), "cell") + " where " + width
                            + " are expected");
        }
        switch (of) {
            case COUNTERS -> {
                counterRows++;
                if (isSurveyed && kinds.contains(Kind.CALL)) {
                    counter.clear(0);
                    counter.phase = 'C';
                    counter.startNs = 0;
                    collector.accept(counter);
                }
            }
            case AGENTS -> {
                if (kinds.contains(Kind.KERNEL) && cell(cells, "agent_type").equals("GPU")) {
                    collector.head.deviceName(cell(cells, "product_name"));
                }
            }
            case SUMS -> {
                // The tables of events yield these sums.
            }
            default -> {
                eventRows++;
                Kind kind = kindOf(of, cells);
                if (kinds.contains(kind)) {
                    reader.read(row(of, kind, cells));
                }
            }
        }
    }

    private Kind kindOf(Table of, CSVRecord cells) {
        return switch (of) {
            case KERNELS, V1_KERNELS -> Kind.KERNEL;
            case COPIES -> Kind.COPY;
            default -> cell(cells, "domain").startsWith("MARKER") ? Kind.MARKER : Kind.CALL;
        };
    }

    private Row row(Table of, Kind kind, CSVRecord cells) {
        row.clear(kind);
        boolean isFirstVersion = of == Table.V1_KERNELS;
        row.startNs = time(cell(cells, isFirstVersion ? "beginns" : "start_timestamp"));
        row.endNs = time(cell(cells, isFirstVersion ? "endns" : "end_timestamp"));
        long correlation = TraceEvent.wholeNumberOf(cell(cells, "correlation_id"));
        row.correlation = correlation > 0 ? correlation : TraceEvent.NONE;
        row.process = cell(cells, "process_id");
        row.thread = cell(cells, "thread_id");
        switch (of) {
            case V1_KERNELS -> {
                row.name = cell(cells, "kernelname");
                row.device = lastNumber(cell(cells, "gpu-id"));
                row.queue = cell(cells, "queue-id");
            }
            case KERNELS -> {
                row.name = cell(cells, "kernel_name");
                row.device = lastNumber(cell(cells, "agent_id"));
                row.queue = cell(cells, "queue_id");
            }
            case COPIES -> {
                row.name = cell(cells, "direction");
                boolean isToHost = row.name.endsWith("TO_HOST");
                row.device = lastNumber(cell(cells, isToHost ? "source_agent_id" : "destination_agent_id"));
                row.queue = "copies";
            }
            case ALLOCATIONS -> row.name = cell(cells, "operation");
            default -> row.name = cell(cells, "function");
        }
        return row;
    }

    private String cell(CSVRecord cells, String column) {
        Integer at = columns.get(column);
        return at == null ? "" : cells.get(at).strip();
    }

    /** Returns the number of an agent, which later versions write as {@code Agent 4}. */
    private static long lastNumber(String agent) {
        var number = LAST_NUMBER.matcher(agent);
        return number.matches() ? TraceEvent.wholeNumberOf(number.group(1)) : TraceEvent.NONE;
    }

    /** Returns a time in whole ns, or a special value of {@link Microseconds}. */
    static long time(String text) {
        if (text.isEmpty()) {
            return Microseconds.ABSENT;
        }
        if (text.length() > MOST_DIGITS + 1) {
            return text.chars().allMatch(c -> c >= '0' && c <= '9')
                    ? Microseconds.OUT_OF_RANGE
                    : Microseconds.MALFORMED;
        }
        try {
            long ns = Long.parseLong(text);
            return Bounds.isTime(ns) ? ns : Microseconds.OUT_OF_RANGE;
        } catch (NumberFormatException noNumber) {
            return Microseconds.MALFORMED;
        }
    }
}
