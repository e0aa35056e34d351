package org.brickprofiler.trace.read;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.eclipse.collections.impl.map.mutable.primitive.LongIntHashMap;
import org.eclipse.collections.impl.map.mutable.primitive.LongObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads an export of Nsight Systems ({@code nsys export --type sqlite}), and hands out its events in Kineto's terms:
 * kernels, copies and fills of streams, the calls that launched them, and NVTX ranges as annotations. Each device event
 * gets the innermost range around its launch. The launch is the call of the same process with its correlation, which is
 * not unique across processes; the ranges are those of the launching thread.
 *
 * <p>The tables and their columns are those of the <a
 * href="https://docs.nvidia.com/nsight-systems/UserGuide/index.html">exporter's schema</a>. A missing table or column
 * counts as empty, since Nsight Systems writes only the data that it has, and versions differ. The name of a range is
 * its domain, followed by its text or its registered string. A CUDA graph that was traced as one block is named so.
 *
 * <p>This class uses {@code java.sql} alone; any JDBC driver for SQLite will do. The offset of an event is its number.
 * One thread.
 */
final class NsightReader {

    private static final String KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL";
    private static final String COPIES = "CUPTI_ACTIVITY_KIND_MEMCPY";
    private static final String FILLS = "CUPTI_ACTIVITY_KIND_MEMSET";
    private static final String GRAPHS = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
    private static final String CALLS = "CUPTI_ACTIVITY_KIND_RUNTIME";

    /** A table of rocmProfileData, whose own script converts it to a trace. */
    private static final String ROCM_OPERATIONS = "rocpd_op";

    private static final String ROCM_NEXT =
            "; it is of rocmProfileData: convert it with rpd2tracing.py, and read the JSON";
    private static final String RANGES = "NVTX_EVENTS";
    private static final List<String> OF_DEVICE = List.of(KERNELS, COPIES, FILLS, GRAPHS);

    // The types of NVTX events, by the exporter's ENUM_NSYS_EVENT_TYPE.
    private static final int MARK = 34;
    private static final int PUSH_POP_RANGE = 59;
    private static final int START_END_RANGE = 60;
    private static final int DOMAIN = 75;

    /**
     * Stands in for the process of a kernel if the export does not have it: the process of all calls, if they have only
     * one.
     */
    private static final String ONLY_PROCESS = "(SELECT CASE WHEN min(globalTid >> 24) = max(globalTid >> 24)"
            + " THEN max(globalTid) END FROM " + CALLS + ")";

    /** The directions of copies, by CUPTI's CUpti_ActivityMemcpyKind. */
    private static final Map<Long, String> DIRECTIONS = Map.of(
            1L, "HtoD", 2L, "DtoH", 3L, "HtoA", 4L, "AtoH", 5L, "AtoA", 6L, "AtoD", 7L, "DtoA", 8L, "DtoD", 9L, "HtoH",
            10L, "PtoP");

    /** The suffix that PyTorch appends to the names of operators; it makes nearly every range's name unique. */
    private static final Pattern OF_ONE_CALL = Pattern.compile(", (op_id|seq|sizes|input_op_ids) = .*", Pattern.DOTALL);

    private static final int NUMBER_BITS = 24;
    private static final long NUMBER_MASK = (1L << NUMBER_BITS) - 1;
    private static final int CORRELATION_BITS = 32;
    private static final int MOST_STRINGS = 1 << 16;
    private static final int ROWS_A_REPORT = 1 << 14;

    /** The flags SQLITE_OPEN_READONLY and SQLITE_OPEN_URI in the form that Xerial's driver takes. */
    private static final String READ_ONLY_BY_URI = "65";

    /**
     * SQLite's codes for faults of the machine, not of the database: busy, locked, no memory, no permission, no disk,
     * no file.
     */
    private static final Set<Integer> OF_MACHINE = Set.of(3, 5, 6, 7, 8, 9, 10, 13, 14, 23);

    private final Connection database;
    private final EventCollector collector;
    private final Report report;
    private final TraceEvent event = new TraceEvent();
    private final Map<String, Set<String>> tables = new HashMap<>();

    /** The columns that some query reads, by table. */
    private final Map<String, Set<String>> columnsRead = new HashMap<>();

    private final LongIntHashMap processes = new LongIntHashMap();
    private final LongObjectHashMap<HostThread> threads = new LongObjectHashMap<>();
    private @Nullable PreparedStatement stringById;
    private final LongObjectHashMap<String> strings = new LongObjectHashMap<>();
    private final Map<String, Integer> rangeNumbers = new HashMap<>();
    private final List<String> rangeNames = new ArrayList<>();
    private final Map<String, Integer> texts = new HashMap<>();
    private final LaunchRanges launches = new LaunchRanges();
    private long events;

    /** A thread of the host. Immutable. */
    private record HostThread(int number, String process, String thread) {}

    /** Reports the progress of the reading, in rows. */
    private static final class Report {
        private final ReadOptions.Progress progress;
        private final long totalBytes;
        private long totalRows;
        private long rows;

        Report(ReadOptions.Progress progress, long totalBytes) {
            this.progress = progress;
            this.totalBytes = totalBytes;
        }

        void row() {
            if (++rows % ROWS_A_REPORT == 0) {
                at();
            }
        }

        void at() {
            progress.at((long) ((double) totalBytes * Math.min(rows, totalRows) / Math.max(1, totalRows)), totalBytes);
        }
    }

    /** Handles each row of a result. */
    private interface RowReader {
        void read(ResultSet row) throws SQLException, IOException;
    }

    private NsightReader(Connection database, EventCollector collector, Report report) {
        this.database = database;
        this.collector = collector;
        this.report = report;
    }

    /**
     * Reads an export.
     *
     * @param file the database; nothing is written to it
     * @param collector takes the events
     * @param progress is called while rows are read
     * @throws TraceFormatException when it is no export of Nsight Systems, or is damaged
     * @throws IOException when it cannot be read, or no driver is available
     */
    static void read(Path file, EventCollector collector, ReadOptions.Progress progress) throws IOException {
        Properties options = new Properties();
        options.setProperty("open_mode", READ_ONLY_BY_URI);
        NsightReader reader = null;
        try (Connection database = connect(file, options, collector.source)) {
            reader = new NsightReader(database, collector, new Report(progress, Files.size(file)));
            reader.readAll();
        } catch (SQLException failed) {
            long read = reader == null ? 0 : reader.events;
            String reason =
                    String.valueOf(failed.getMessage()).lines().findFirst().orElse("");
            if (OF_MACHINE.contains(failed.getErrorCode())) {
                throw new IOException("cannot read " + collector.source + ": " + reason, failed);
            }
            throw TraceFormatException.damage(
                    collector.source, read, "the SQLite database is damaged: " + reason, failed);
        } catch (TraceRule.TooCostly fault) {
            long read = reader == null ? 0 : reader.events;
            throw new TraceFormatException(collector.source, read, String.valueOf(fault.getMessage()), fault);
        }
    }

    private static Connection connect(Path file, Properties options, String source) throws IOException, SQLException {
        // A file that does not change needs no locks and no files beside it: its folder may be read-only.
        String url = "jdbc:sqlite:" + file.toUri() + "?immutable=1";
        try {
            DriverManager.getDriver(url);
        } catch (SQLException none) {
            throw new IOException(
                    "cannot read " + source
                            + ": an SQLite database needs org.xerial:sqlite-jdbc on the class path, which"
                            + " the command line has",
                    none);
        }
        return DriverManager.getConnection(url, options);
    }

    private void readAll() throws SQLException, IOException {
        readTables();
        readHead();
        for (String table : OF_DEVICE) {
            each(query(table, "correlationId", "globalPid"), row -> {
                long key = key(row, 1, 2);
                if (key != TraceEvent.NONE) {
                    launches.want(key);
                }
            });
        }
        readThreadNames();
        readCalls();
        launches.sort(threads.size());
        if (tables.containsKey(RANGES)) {
            readRanges();
        }
        readKernels();
        readCopies();
        readFills();
        readGraphs();
        if (collector.wantsKeys()) {
            countUnread();
        }
        report.at();
        collector.end(events);
    }

    // ---- tables ----

    private void readTables() throws SQLException, IOException {
        each(
                "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'",
                row -> tables.computeIfAbsent(row.getString(1), added -> new HashSet<>())
                        .add(row.getString(2)));
        List<String> known = new ArrayList<>(OF_DEVICE);
        known.addAll(List.of(CALLS, RANGES));
        known.retainAll(tables.keySet());
        if (known.isEmpty()) {
            throw new TraceFormatException(
                    collector.source,
                    0,
                    "it is an SQLite database, but no export of Nsight Systems with CUDA or NVTX: it"
                            + " has none of the tables " + String.join(", ", OF_DEVICE) + ", " + CALLS + ", " + RANGES
                            + (tables.containsKey(ROCM_OPERATIONS) ? ROCM_NEXT : ""));
        }
        for (String table : known) {
            each("SELECT max(rowid) FROM " + table, row -> report.totalRows += row.getLong(1));
        }
    }

    /**
     * Returns a query for columns of a table, with NULL for each column that the table lacks; null if there is no such
     * table.
     */
    private @Nullable String query(String table, String... columns) {
        Set<String> known = tables.get(table);
        if (known == null) {
            return null;
        }
        StringBuilder text = new StringBuilder("SELECT ");
        columnsRead.computeIfAbsent(table, added -> new HashSet<>()).addAll(Arrays.asList(columns));
        for (int i = 0; i < columns.length; i++) {
            String otherwise = columns[i].equals("globalPid") && tables.containsKey(CALLS) ? ONLY_PROCESS : "NULL";
            text.append(i == 0 ? "" : ", ").append(known.contains(columns[i]) ? '"' + columns[i] + '"' : otherwise);
        }
        return text.append(" FROM ").append(table).toString();
    }

    /** Counts the values in those columns of events that no query reads. */
    private void countUnread() throws SQLException, IOException {
        for (Map.Entry<String, Set<String>> table : columnsRead.entrySet()) {
            Set<String> unread = new TreeSet<>(tables.getOrDefault(table.getKey(), Set.of()));
            unread.removeAll(table.getValue());
            if (hasEvents(table.getKey()) && !unread.isEmpty()) {
                String counts = unread.stream()
                        .map(column -> "count(\"" + column.replace("\"", "\"\"") + "\")")
                        .collect(Collectors.joining(", ", "SELECT ", " FROM " + table.getKey()));
                each(counts, row -> {
                    int at = 0;
                    for (String column : unread) {
                        long values = row.getLong(++at);
                        if (values > 0) {
                            collector.skipArguments(column, values);
                        }
                    }
                });
            }
        }
    }

    private static boolean hasEvents(String table) {
        return OF_DEVICE.contains(table) || table.equals(CALLS) || table.equals(RANGES);
    }

    private void each(@Nullable String query, RowReader reader) throws SQLException, IOException {
        if (query == null) {
            return;
        }
        try (Statement statement = database.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            while (rows.next()) {
                reader.read(rows);
            }
        }
    }

    /** Returns a string by its number; empty if there is none. */
    private String string(long id) throws SQLException {
        String known = strings.get(id);
        if (known == null) {
            if (strings.size() == MOST_STRINGS) {
                strings.clear();
            }
            known = Names.bounded(lookUp(id));
            strings.put(id, known);
        }
        return known;
    }

    private String lookUp(long id) throws SQLException {
        PreparedStatement query = stringById;
        if (query == null) {
            if (!tables.containsKey("StringIds")) {
                return "";
            }
            query = database.prepareStatement("SELECT value FROM StringIds WHERE id = ?");
            stringById = query;
        }
        query.setLong(1, id);
        try (ResultSet row = query.executeQuery()) {
            return row.next() ? orEmpty(row.getString(1)) : "";
        }
    }

    private static String orEmpty(@Nullable String text) {
        return text == null ? "" : text;
    }

    // ---- processes, threads and times ----

    private void readHead() throws SQLException, IOException {
        each(query("TARGET_INFO_SESSION_START_TIME", "utcEpochNs"), row -> collector.head.baseTimeNs = row.getLong(1));
        each(
                query("TARGET_INFO_GPU", "id", "name", "totalMemory"),
                row -> collector.head.device(row.getLong(1), orEmpty(row.getString(2)), "CUDA", row.getLong(3)));
    }

    private void readThreadNames() throws SQLException, IOException {
        each(query("ThreadNames", "globalTid", "nameId"), row -> {
            begin('M', "thread_name", "__metadata");
            place(thread(row.getLong(1)));
            event.keep("name", string(row.getLong(2)));
            collector.accept(event);
        });
    }

    /** Returns a thread by its global identifier in Nsight Systems: machine, virtual machine, process, thread. */
    private HostThread thread(long globalTid) {
        HostThread known = threads.get(globalTid);
        if (known == null) {
            known = new HostThread(
                    threads.size(),
                    Long.toString((globalTid >>> NUMBER_BITS) & NUMBER_MASK),
                    Long.toString(globalTid & NUMBER_MASK));
            threads.put(globalTid, known);
        }
        return known;
    }

    /**
     * Returns a key that is unique across processes for a number that is unique within one; {@link TraceEvent#NONE} if
     * the row has no number.
     */
    private long key(ResultSet row, int number, int globalId) throws SQLException {
        long ofProcess = row.getLong(number);
        if (row.wasNull()) {
            return TraceEvent.NONE;
        }
        int process = processes.getIfAbsentPut(row.getLong(globalId) >>> NUMBER_BITS, processes.size());
        return ((long) process << CORRELATION_BITS) | (ofProcess & ((1L << CORRELATION_BITS) - 1));
    }

    // ---- events ----

    private void begin(char phase, String name, String category) {
        report.row();
        event.clear(events++);
        event.phase = phase;
        event.name = name;
        event.category = category;
    }

    private void place(HostThread thread) {
        event.process = thread.process();
        event.thread = thread.thread();
    }

    /** Takes the times of a row; either may be missing. */
    private void times(ResultSet row, int start, int end) throws SQLException {
        event.startNs = time(row, start);
        long endNs = time(row, end);
        boolean areTimes = Microseconds.isTime(event.startNs) && Microseconds.isTime(endNs);
        event.elapsedNs = areTimes ? endNs - event.startNs : endNs;
    }

    private static long time(ResultSet row, int column) throws SQLException {
        long ns = row.getLong(column);
        if (row.wasNull()) {
            return Microseconds.ABSENT;
        }
        return Math.abs(ns) <= Microseconds.LARGEST_NS && ns != Long.MIN_VALUE ? ns : Microseconds.OUT_OF_RANGE;
    }

    private void readCalls() throws SQLException, IOException {
        each(query(CALLS, "start", "end", "globalTid", "correlationId", "nameId"), row -> {
            begin('X', string(row.getLong(5)), "cuda_runtime");
            times(row, 1, 2);
            HostThread thread = thread(row.getLong(3));
            place(thread);
            long key = key(row, 4, 3);
            event.correlation = key;
            if (launches.isWanted(key) && Microseconds.isTime(event.startNs)) {
                launches.launch(key, thread.number(), event.startNs);
                event.flowsOut.add(key);
            }
            collector.accept(event);
        });
    }

    // ---- ranges ----

    private void readRanges() throws SQLException, IOException {
        Map<Long, String> domains = new HashMap<>();
        String named = query(RANGES, "globalTid", "domainId", "text", "textId");
        boolean hasDomains = tables.getOrDefault(RANGES, Set.of()).contains("domainId");
        if (hasDomains) {
            each(named + " WHERE eventType = " + DOMAIN, row -> {
                String name = nameOf(row, 3, 4);
                if (!name.isEmpty()) {
                    domains.put(key(row, 2, 1), name);
                }
            });
        }
        String query =
                query(RANGES, "start", "end", "eventType", "globalTid", "endGlobalTid", "text", "textId", "domainId");
        each(query + " WHERE eventType IN (" + MARK + ", " + PUSH_POP_RANGE + ", " + START_END_RANGE + ")", row -> {
            int type = row.getInt(3);
            long globalTid = row.getLong(4);
            String domain = domains.isEmpty() ? "" : orEmpty(domains.get(key(row, 8, 4)));
            int range = range(row, domain);
            long endGlobalTid = type == START_END_RANGE ? row.getLong(5) : globalTid;
            boolean isOfOneThread = endGlobalTid == globalTid || endGlobalTid == 0;
            begin(type == MARK ? 'i' : isOfOneThread ? 'X' : 'b', rangeNames.get(range), "user_annotation");
            times(row, 1, 2);
            HostThread thread = thread(globalTid);
            place(thread);
            if (event.phase == 'X' && Microseconds.isTime(event.startNs) && Microseconds.isTime(event.elapsedNs)) {
                launches.range(thread.number(), event.startNs, event.startNs + event.elapsedNs, range);
            }
            collector.accept(event);
        });
    }

    private String nameOf(ResultSet row, int text, int textId) throws SQLException, IOException {
        String written = row.getString(text);
        return written != null ? written : string(row.getLong(textId));
    }

    /** Returns the number of a range's name. */
    private int range(ResultSet row, String domain) throws SQLException, IOException {
        String text = nameOf(row, 6, 7);
        String whole = domain.isEmpty() ? text : domain + ':' + text;
        Integer known = texts.get(whole);
        if (known == null) {
            String name = Names.bounded(OF_ONE_CALL.matcher(whole).replaceFirst(""));
            boolean hasRoom = rangeNames.size() < MOST_STRINGS || rangeNumbers.containsKey(name);
            known = rangeNumbers.computeIfAbsent(hasRoom ? name : Names.OTHERS, added -> {
                rangeNames.add(added);
                return rangeNames.size() - 1;
            });
            if (texts.size() == MOST_STRINGS) {
                texts.clear();
            }
            texts.put(whole, known);
        }
        return known;
    }

    // ---- the device ----

    private void readKernels() throws SQLException, IOException {
        String query = query(
                KERNELS,
                "start",
                "end",
                "deviceId",
                "streamId",
                "correlationId",
                "globalPid",
                "demangledName",
                "shortName");
        each(query, row -> {
            String name = string(row.getLong(7));
            begin('X', name.isEmpty() ? string(row.getLong(8)) : name, "kernel");
            onDevice(row);
        });
    }

    private void readCopies() throws SQLException, IOException {
        String query = query(
                COPIES, "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "copyKind", "bytes");
        each(query, row -> {
            long kind = row.getLong(7);
            begin('X', "Memcpy " + DIRECTIONS.getOrDefault(kind, "of kind " + kind), "gpu_memcpy");
            event.bytes = row.getLong(8);
            onDevice(row);
        });
    }

    private void readFills() throws SQLException, IOException {
        String query = query(FILLS, "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "bytes");
        each(query, row -> {
            begin('X', "Memset", "gpu_memset");
            event.bytes = row.getLong(7);
            onDevice(row);
        });
    }

    private void readGraphs() throws SQLException, IOException {
        String query = query(GRAPHS, "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphId");
        each(query, row -> {
            begin('X', "CUDA graph " + row.getLong(7) + ", traced as one block", "kernel");
            onDevice(row);
        });
    }

    /** Reads the first six columns, which all tables of the device share, and hands the event out. */
    private void onDevice(ResultSet row) throws SQLException, IOException {
        times(row, 1, 2);
        long device = row.getLong(3);
        long stream = row.getLong(4);
        long globalPid = row.getLong(6);
        long key = key(row, 5, 6);
        boolean isFirstProcess = key >>> CORRELATION_BITS == 0;
        event.process = "device " + device;
        event.thread = isFirstProcess
                ? Long.toString(stream)
                : stream + " of process " + ((globalPid >>> NUMBER_BITS) & NUMBER_MASK);
        int range = launches.of(key);
        event.correlation = key;
        if (range != LaunchRanges.NO_LAUNCH) {
            event.flowsIn.add(key);
        }
        argument(TraceEvent.DEVICE, Long.toString(device));
        argument(TraceEvent.STREAM, Long.toString(stream));
        if (tables.containsKey(RANGES)) {
            event.range = range == LaunchRanges.NO_LAUNCH
                    ? TraceProfile.Range.NO_LAUNCH
                    : range == LaunchRanges.NO_RANGE ? TraceProfile.Range.NO_RANGE : rangeNames.get(range);
            argument(TraceEvent.RANGE, range >= 0 ? rangeNames.get(range) : "");
        }
        collector.accept(event);
    }

    private void argument(String key, String value) {
        if (!value.isEmpty() && collector.wants(key)) {
            collector.keep(event, key, value, null);
        }
    }
}
