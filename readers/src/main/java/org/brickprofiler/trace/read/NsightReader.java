package org.brickprofiler.trace.read;

import java.io.IOException;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.brickprofiler.trace.read.Omission.Reason;
import org.eclipse.collections.impl.map.mutable.primitive.LongIntHashMap;
import org.eclipse.collections.impl.map.mutable.primitive.LongObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads an export of Nsight Systems ({@code nsys export --type sqlite}), and passes its events on in Kineto's terms:
 * kernels, copies and fills of streams, the calls that launched them, and NVTX ranges as annotations. Each device event
 * gets the innermost range around its launch. The launch is the call of the same process with its correlation, which is
 * not unique across processes; the ranges are those of the launching thread.
 *
 * <p>The tables and their columns are those of the <a
 * href="https://docs.nvidia.com/nsight-systems/UserGuide/index.html">exporter's schema</a>. A missing table or column
 * counts as empty, since Nsight Systems writes only the data that it has, and versions differ. The name of a range is
 * its domain, followed by its text or its registered string. A CUDA graph that was traced as one block is one event,
 * whose name says so. If it was traced by node, an event of a replay gets the innermost range around the creation of
 * its node, and only without one the range around the launch of the graph.
 *
 * <p>The offset of an event is its number. One thread.
 */
final class NsightReader {

    private static final String KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL";
    private static final String COPIES = "CUPTI_ACTIVITY_KIND_MEMCPY";
    private static final String FILLS = "CUPTI_ACTIVITY_KIND_MEMSET";
    private static final String GRAPHS = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
    private static final String CALLS = "CUPTI_ACTIVITY_KIND_RUNTIME";

    private static final String RANGES = "NVTX_EVENTS";
    private static final String NODES = "CUDA_GRAPH_NODE_EVENTS";
    private static final List<String> OF_DEVICE = List.of(KERNELS, COPIES, FILLS, GRAPHS);

    // The types of NVTX events, by the exporter's ENUM_NSYS_EVENT_TYPE.
    private static final int MARK = 34;
    private static final int PUSH_POP_RANGE = 59;
    private static final int START_END_RANGE = 60;
    private static final int DOMAIN = 75;

    /**
     * The substitute for the process of a kernel if the export does not state it: the process of all calls, if they are
     * of only one process.
     */
    private static final String ONLY_PROCESS = "(SELECT CASE WHEN min(globalTid >> 24) = max(globalTid >> 24)"
            + " THEN max(globalTid) END FROM " + CALLS + ")";

    /** The directions of copies, by CUPTI's CUpti_ActivityMemcpyKind. */
    private static final Map<Long, String> DIRECTIONS = Map.of(
            1L, "HtoD", 2L, "DtoH", 3L, "HtoA", 4L, "AtoH", 5L, "AtoA", 6L, "AtoD", 7L, "DtoA", 8L, "DtoD", 9L, "HtoH",
            10L, "PtoP");

    /** Copies of pages of unified memory, whose kinds Nsight Systems adds to those of CUPTI. */
    private static final Map<Long, String> UNIFIED = Map.of(11L, "HtoD", 12L, "DtoH", 13L, "DtoD");

    /** The kinds of copies of an export, which may have more of them than this program knows. */
    private static final String KINDS = "ENUM_CUDA_MEMCPY_OPER";

    private static final Pattern KIND = Pattern.compile("CUDA_MEMCPY_KIND_(UVM_)?([HDAP])TO([HDAP])");

    private static final String DIAGNOSTICS = "DIAGNOSTIC_EVENT";
    private static final Pattern ABOUT_DEVICE = Pattern.compile("CUDA|CUPTI|GPU|driver", Pattern.CASE_INSENSITIVE);
    private static final int MOST_DIAGNOSTICS = 3;
    private static final int LONGEST_DIAGNOSTIC = 300;

    private static final int NUMBER_BITS = 24;
    private static final long NUMBER_MASK = (1L << NUMBER_BITS) - 1;
    private static final int CORRELATION_BITS = 32;
    private static final int MOST_STRINGS = 1 << 16;

    private final SqliteFile database;
    private final EventCollector collector;
    private final TraceEvent event = new TraceEvent();
    private final LongIntHashMap processes = new LongIntHashMap();
    private final LongObjectHashMap<HostThread> threads = new LongObjectHashMap<>();
    private @Nullable PreparedStatement stringById;
    private final LongObjectHashMap<String> strings = new LongObjectHashMap<>();
    private final RangeNames ranges = new RangeNames();
    private final LaunchRanges launches = new LaunchRanges();
    private final GraphNodes nodes = new GraphNodes();
    private final Map<Long, String> directions = new HashMap<>();
    private long events;
    private long work;

    /** The first damage of a table. */
    private @Nullable TraceFormatException damage;

    /** A thread of the host. Immutable. */
    private record HostThread(int number, String process, String thread) {}

    private NsightReader(SqliteFile database, EventCollector collector) {
        this.database = database;
        this.collector = collector;
    }

    /**
     * Reads an export.
     *
     * @param database the database
     * @param collector receives the events
     * @throws TraceFormatException when it is no export of Nsight Systems, or a limit is reached
     * @throws SQLException when it is damaged
     * @throws IOException when it cannot be read
     */
    static void read(SqliteFile database, EventCollector collector) throws SQLException, IOException {
        new NsightReader(database, collector).readAll();
    }

    private void readAll() throws SQLException, IOException {
        collector.head.marksAllWork = true;
        readTables();
        readHead();
        for (String table : OF_DEVICE) {
            each(query(table, "correlationId", "globalPid", "graphNodeId"), row -> {
                long key = key(row, 1, 2);
                if (key != TraceEvent.NONE) {
                    launches.want(key);
                }
                long node = row.getLong(3);
                if (!row.wasNull()) {
                    nodes.want(process(row, 2), node);
                }
            });
        }
        readThreadNames();
        readCalls();
        readNodes();
        launches.sort(threads.size());
        nodes.sort(threads.size());
        if (database.hasTable(RANGES)) {
            readRanges();
        }
        readKernels();
        readCopies();
        readFills();
        readGraphs();
        if (collector.wantsKeys()) {
            countUnread();
        }
        TraceFormatException found = damage == null ? database.cutOff() : damage;
        if (found != null) {
            throw found;
        }
        if (work == 0) {
            collector.head.withoutWork(withoutWork());
        }
        collector.end(events);
    }

    /** Passes each row of a query to a reader, up to damage: the other tables may be whole. */
    private void each(@Nullable String query, SqliteFile.RowVisitor reader) throws SQLException, IOException {
        try {
            database.each(query, reader);
        } catch (SQLException failed) {
            IOException fault = database.fault(failed);
            if (!(fault instanceof TraceFormatException ofFile) || !ofFile.isDamage()) {
                throw fault;
            }
            damage = damage == null ? ofFile : damage;
        }
    }

    /** Returns the fault of an export without work of a device, with the reasons that Nsight Systems noted. */
    private String withoutWork() throws SQLException, IOException {
        List<String> reasons = new ArrayList<>();
        List<String> others = new ArrayList<>();
        String query = query(DIAGNOSTICS, "text", "severity");
        each(query == null ? null : query + " ORDER BY severity DESC", row -> {
            String text = SqliteFile.orEmpty(row.getString(1)).strip().replaceAll("[^ -~]+", " ");
            String shown = text.length() > LONGEST_DIAGNOSTIC ? text.substring(0, LONGEST_DIAGNOSTIC) + "..." : text;
            List<String> list = ABOUT_DEVICE.matcher(text).find() ? reasons : others;
            if (!shown.isEmpty() && !list.contains(shown) && list.size() < MOST_DIAGNOSTICS) {
                list.add(shown);
            }
        });
        List<String> noted = reasons.isEmpty() ? others : reasons;
        return "the export has no work of a device: no kernel, copy or fill in the tables "
                + String.join(", ", OF_DEVICE)
                + (noted.isEmpty()
                        ? "; nsys profile --trace=cuda,nvtx records it, if the driver lets it"
                        : "; Nsight Systems noted: " + String.join("; ", noted));
    }

    // ---- tables ----

    private void readTables() throws SQLException, IOException {
        List<String> known = new ArrayList<>(OF_DEVICE);
        known.addAll(List.of(CALLS, RANGES));
        for (String table : known) {
            database.requireNoView(table);
        }
        known.retainAll(database.tables().keySet());
        if (known.isEmpty()) {
            throw new TraceFormatException(
                    collector.source,
                    0,
                    "it is an SQLite database, but no export of Nsight Systems with CUDA or NVTX: it"
                            + " has none of the tables " + String.join(", ", OF_DEVICE) + ", " + CALLS + ", " + RANGES
                            + "; and no profile of rocmProfileData, rocprofv3 or rocprof");
        }
        if (database.hasTable(NODES)) {
            known.add(NODES);
        }
        for (String table : known) {
            database.expectRows(table);
        }
    }

    /**
     * Returns a query for columns of a table, with NULL for each column that the table lacks; null if there is no such
     * table.
     */
    private @Nullable String query(String table, String... columns) throws SQLException, IOException {
        Map<String, String> otherwise = database.hasTable(CALLS) ? Map.of("globalPid", ONLY_PROCESS) : Map.of();
        return database.query(table, otherwise, columns);
    }

    /** Counts the values in those columns of events that no query reads. */
    private void countUnread() throws SQLException, IOException {
        for (Map.Entry<String, Set<String>> table : database.columnsRead().entrySet()) {
            Set<String> unread = new TreeSet<>(database.tables().getOrDefault(table.getKey(), Set.of()));
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

    /** Returns a string by its number; empty if there is none. */
    private String string(long id) throws SQLException, IOException {
        String known = strings.get(id);
        if (known == null) {
            if (strings.size() == MOST_STRINGS) {
                strings.clear();
            }
            known = TraceNames.bounded(lookUp(id));
            strings.put(id, known);
        }
        return known;
    }

    private String lookUp(long id) throws SQLException, IOException {
        PreparedStatement query = stringById;
        if (query == null) {
            database.requireNoView("StringIds");
            if (!database.hasTable("StringIds")) {
                return "";
            }
            query = database.prepare("SELECT value FROM StringIds WHERE id = ?");
            stringById = query;
        }
        query.setLong(1, id);
        try (ResultSet row = query.executeQuery()) {
            return row.next() ? SqliteFile.orEmpty(row.getString(1)) : "";
        }
    }

    // ---- processes, threads and times ----

    private void readHead() throws SQLException, IOException {
        each(query("TARGET_INFO_SESSION_START_TIME", "utcEpochNs"), row -> collector.head.baseTimeNs = row.getLong(1));
        each(
                query("TARGET_INFO_GPU", "id", "name", "totalMemory"),
                row -> collector.head.device(
                        row.getLong(1), SqliteFile.orEmpty(row.getString(2)), "CUDA", row.getLong(3)));
    }

    private void readThreadNames() throws SQLException, IOException {
        each(query("ThreadNames", "globalTid", "nameId"), row -> {
            begin('M', "thread_name", "__metadata");
            place(thread(row.getLong(1)));
            event.keep("name", string(row.getLong(2)));
            collector.accept(event);
        });
    }

    /**
     * Returns a thread by its global identifier in Nsight Systems, which consists of the machine, the virtual machine,
     * the process and the thread.
     */
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
        return ((long) process(row, globalId) << CORRELATION_BITS) | (ofProcess & ((1L << CORRELATION_BITS) - 1));
    }

    /** Returns the number of a process. */
    private int process(ResultSet row, int globalId) throws SQLException {
        return processes.getIfAbsentPut(row.getLong(globalId) >>> NUMBER_BITS, processes.size());
    }

    // ---- events ----

    private void begin(char phase, String name, String category) {
        database.countRow();
        event.clear(events++);
        event.phase = phase;
        event.name = name;
        event.category = category;
    }

    private void place(HostThread thread) {
        event.process = thread.process();
        event.thread = thread.thread();
    }

    /** Sets the times of the event from a row; either may be missing. */
    private void times(ResultSet row, int start, int end) throws SQLException {
        event.startNs = SqliteFile.time(row, start);
        long endNs = SqliteFile.time(row, end);
        boolean areTimes = Microseconds.isTime(event.startNs) && Microseconds.isTime(endNs);
        event.elapsedNs = areTimes ? endNs - event.startNs : endNs;
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

    // ---- nodes of CUDA graphs ----

    private void readNodes() throws SQLException, IOException {
        each(query(NODES, "graphNodeId", "originalGraphNodeId", "globalTid", "start"), row -> {
            database.countRow();
            long node = row.getLong(1);
            long original = row.getLong(2);
            boolean isCopy = !row.wasNull();
            long startNs = SqliteFile.time(row, 4);
            if (isCopy) {
                nodes.copied(process(row, 3), node, original);
            } else if (Microseconds.isTime(startNs)) {
                nodes.created(process(row, 3), node, thread(row.getLong(3)).number(), startNs);
            }
        });
    }

    // ---- ranges ----

    private void readRanges() throws SQLException, IOException {
        Map<Long, String> domains = new HashMap<>();
        String named = query(RANGES, "globalTid", "domainId", "text", "textId");
        boolean hasDomains = database.hasColumn(RANGES, "domainId");
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
            String domain = domains.isEmpty() ? "" : SqliteFile.orEmpty(domains.get(key(row, 8, 4)));
            int range = range(row, domain);
            long endGlobalTid = type == START_END_RANGE ? row.getLong(5) : globalTid;
            boolean isOfOneThread = endGlobalTid == globalTid || endGlobalTid == 0;
            begin(type == MARK ? 'i' : isOfOneThread ? 'X' : 'b', ranges.name(range), "user_annotation");
            times(row, 1, 2);
            HostThread thread = thread(globalTid);
            place(thread);
            if (event.phase == 'X' && Microseconds.isTime(event.startNs) && Microseconds.isTime(event.elapsedNs)) {
                launches.range(thread.number(), event.startNs, event.startNs + event.elapsedNs, range);
                nodes.range(thread.number(), event.startNs, event.startNs + event.elapsedNs, range);
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
        return ranges.number(domain.isEmpty() ? text : domain + ':' + text);
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
                "graphNodeId",
                "demangledName",
                "shortName");
        each(query, row -> {
            String name = string(row.getLong(8));
            begin('X', name.isEmpty() ? string(row.getLong(9)) : name, "kernel");
            onDevice(row);
        });
    }

    private void readKinds() throws SQLException, IOException {
        directions.putAll(DIRECTIONS);
        UNIFIED.forEach((kind, direction) -> directions.put(kind, direction + " (unified memory)"));
        each(query(KINDS, "id", "name"), row -> {
            Matcher kind = KIND.matcher(SqliteFile.orEmpty(row.getString(2)));
            if (kind.matches()) {
                directions.put(
                        row.getLong(1),
                        kind.group(2) + "to" + kind.group(3) + (kind.group(1) == null ? "" : " (unified memory)"));
            }
        });
    }

    private void readCopies() throws SQLException, IOException {
        readKinds();
        String query = query(
                COPIES,
                "start",
                "end",
                "deviceId",
                "streamId",
                "correlationId",
                "globalPid",
                "graphNodeId",
                "copyKind",
                "bytes");
        each(query, row -> {
            long kind = row.getLong(8);
            begin('X', "Memcpy " + directions.getOrDefault(kind, "of kind " + kind), "gpu_memcpy");
            event.bytes = SqliteFile.number(row, 9);
            onDevice(row);
        });
    }

    private void readFills() throws SQLException, IOException {
        String query = query(
                FILLS, "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphNodeId", "bytes");
        each(query, row -> {
            begin('X', "Memset", "gpu_memset");
            event.bytes = SqliteFile.number(row, 8);
            onDevice(row);
        });
    }

    private void readGraphs() throws SQLException, IOException {
        String query = query(
                GRAPHS, "start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphNodeId", "graphId");
        each(query, row -> {
            begin('X', "CUDA graph " + row.getLong(8) + ", traced as one block", "kernel");
            onDevice(row);
        });
    }

    /** Reads the first seven columns, which all tables of the device share, and passes the event to the collector. */
    private void onDevice(ResultSet row) throws SQLException, IOException {
        work++;
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
        int launchedIn = launches.of(key);
        event.correlation = key;
        if (launchedIn != LaunchRanges.NO_LAUNCH) {
            event.flowsIn.add(key);
        }
        argument(TraceEvent.DEVICE, Long.toString(device));
        argument(TraceEvent.STREAM, Long.toString(stream));
        if (database.hasTable(RANGES)) {
            int createdIn = createdIn(row);
            int range = createdIn >= 0 ? createdIn : launchedIn;
            event.range = ranges.nameAround(range);
            argument(TraceEvent.RANGE, range >= 0 ? ranges.name(range) : "");
        }
        collector.accept(event);
    }

    /** Returns the range around the creation of the node of a CUDA graph that an event of the device executes. */
    private int createdIn(ResultSet row) throws SQLException {
        long node = row.getLong(7);
        if (row.wasNull()) {
            return LaunchRanges.NO_RANGE;
        }
        int range = nodes.of(process(row, 6), node);
        if (range == LaunchRanges.NO_LAUNCH) {
            collector.omissions.add(Reason.UNKNOWN_CAPTURE);
        }
        return range;
    }

    private void argument(String key, String value) {
        if (!value.isEmpty() && collector.wants(key)) {
            collector.keep(event, key, value, null);
        }
    }
}
