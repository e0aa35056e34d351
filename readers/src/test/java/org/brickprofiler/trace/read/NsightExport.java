package org.brickprofiler.trace.read;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A database in the schema of Nsight Systems' exporter, with those tables and columns that a test asks for. */
final class NsightExport implements AutoCloseable {

    static final int PUSH_POP = 59;
    static final int START_END = 60;
    static final int MARK = 34;
    static final int DOMAIN = 75;

    /** The start of the recording in the tables of this class, Unix time in ns. */
    static final long EPOCH_NS = 1_779_630_014_975_716_426L;

    private static final String DEVICE = "start, end, deviceId, streamId, correlationId, globalPid, ";
    private static final Map<String, String> COLUMNS = new TreeMap<>(Map.of(
            "CUPTI_ACTIVITY_KIND_KERNEL",
            DEVICE + "demangledName, shortName, graphNodeId",
            "CUPTI_ACTIVITY_KIND_MEMCPY",
            DEVICE + "copyKind, bytes",
            "CUPTI_ACTIVITY_KIND_MEMSET",
            DEVICE + "bytes",
            "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
            DEVICE + "graphId, graphExecId",
            "CUPTI_ACTIVITY_KIND_RUNTIME",
            "start, end, eventClass, globalTid, correlationId, nameId",
            "CUDA_GRAPH_NODE_EVENTS",
            "start, end, eventClass, globalTid, nameId, graphNodeId, originalGraphNodeId",
            "NVTX_EVENTS",
            "start, end, eventType, rangeId, text, globalTid, endGlobalTid, textId, domainId",
            "ThreadNames",
            "nameId, priority, globalTid",
            "TARGET_INFO_GPU",
            "id, name, totalMemory"));

    private final Connection database;
    private final List<String> strings = new ArrayList<>();

    /**
     * Creates a database.
     *
     * @param file the file
     * @param lacking names of tables and columns that the database lacks
     */
    NsightExport(Path file, String... lacking) throws SQLException {
        database = DriverManager.getConnection("jdbc:sqlite:" + file);
        database.setAutoCommit(false);
        List<String> without = Arrays.asList(lacking);
        execute("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)");
        execute("CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, systemClockNs INTEGER)");
        execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (" + EPOCH_NS + ", 35255823190)");
        for (Map.Entry<String, String> table : COLUMNS.entrySet()) {
            if (!without.contains(table.getKey())) {
                List<String> columns = new ArrayList<>(List.of(table.getValue().split(", ")));
                columns.removeAll(without);
                execute("CREATE TABLE " + table.getKey() + " (\"" + String.join("\", \"", columns) + "\")");
            }
        }
    }

    void execute(String sql) throws SQLException {
        try (Statement statement = database.createStatement()) {
            statement.execute(sql);
        }
    }

    /** Inserts a row: a column, its value, the next column. */
    void insert(String table, @Nullable Object... columnsAndValues) throws SQLException {
        StringBuilder names = new StringBuilder();
        StringBuilder places = new StringBuilder();
        for (int i = 0; i < columnsAndValues.length; i += 2) {
            names.append(i == 0 ? "" : ", ")
                    .append('"')
                    .append(columnsAndValues[i])
                    .append('"');
            places.append(i == 0 ? "?" : ", ?");
        }
        try (PreparedStatement insert =
                database.prepareStatement("INSERT INTO " + table + " (" + names + ") VALUES (" + places + ")")) {
            for (int i = 1; i < columnsAndValues.length; i += 2) {
                insert.setObject(i / 2 + 1, columnsAndValues[i]);
            }
            insert.executeUpdate();
        }
    }

    /** Returns the identifier of a string, and registers the string if it is new. */
    int string(String text) throws SQLException {
        if (!strings.contains(text)) {
            strings.add(text);
            insert("StringIds", "id", strings.size(), "value", text);
        }
        return strings.indexOf(text) + 1;
    }

    static long globalPid(int process) {
        return 0x0100_0100_0000_0000L | ((long) process << 24);
    }

    static long globalTid(int process, int thread) {
        return globalPid(process) | thread;
    }

    void kernel(int process, int correlation, long start, long end, String name) throws SQLException {
        insert(
                "CUPTI_ACTIVITY_KIND_KERNEL",
                "start",
                start,
                "end",
                end,
                "deviceId",
                0,
                "streamId",
                7,
                "correlationId",
                correlation,
                "globalPid",
                globalPid(process),
                "demangledName",
                string(name),
                "shortName",
                string("short"));
    }

    /** Inserts a launch that takes a microsecond. */
    void launch(int process, int thread, int correlation, long start) throws SQLException {
        insert(
                "CUPTI_ACTIVITY_KIND_RUNTIME",
                "start",
                start,
                "end",
                start + 1_000,
                "eventClass",
                0,
                "globalTid",
                globalTid(process, thread),
                "correlationId",
                correlation,
                "nameId",
                string("cudaLaunchKernel_v7000"));
    }

    /** Inserts a kernel of a replay of a CUDA graph. */
    void replayed(int process, int correlation, long start, long end, String name, long node) throws SQLException {
        kernel(process, correlation, start, end, name);
        execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = " + node + " WHERE start = " + start);
    }

    /** Inserts the creation of a node of a CUDA graph; a copy has an original. */
    void node(int process, int thread, long start, long node, @Nullable Long original) throws SQLException {
        insert(
                "CUDA_GRAPH_NODE_EVENTS",
                "start",
                start,
                "end",
                start,
                "eventClass",
                0,
                "globalTid",
                globalTid(process, thread),
                "nameId",
                string("Graph Node Creation"),
                "graphNodeId",
                node,
                "originalGraphNodeId",
                original);
    }

    void range(int process, int thread, long start, long end, String text) throws SQLException {
        insert(
                "NVTX_EVENTS",
                "start",
                start,
                "end",
                end,
                "eventType",
                PUSH_POP,
                "text",
                text,
                "globalTid",
                globalTid(process, thread));
    }

    /** Returns the database's own result: for each innermost range, or {@code (no range)}, number and ns of kernels. */
    Map<String, List<Long>> kernelsByRange() throws SQLException {
        Map<String, List<Long>> found = new TreeMap<>();
        String query = """
                SELECT coalesce(name, '(no range)'), count(*), sum(ns) FROM (
                  SELECT k.end - k.start AS ns, (
                    SELECT n.text FROM NVTX_EVENTS n
                    WHERE n.globalTid = r.globalTid AND n.start <= r.start AND n.end > r.start
                    ORDER BY n.start DESC, n.end LIMIT 1) AS name
                  FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r
                  ON r.correlationId = k.correlationId AND r.globalTid >> 24 = k.globalPid >> 24)
                GROUP BY name""";
        try (Statement statement = database.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            while (rows.next()) {
                found.put(rows.getString(1), List.of(rows.getLong(2), rows.getLong(3)));
            }
        }
        return found;
    }

    /**
     * Reads an export, and prints the numbers of events read and counted, and the ns of the kernels that were launched
     * in the range {@code inner} and elsewhere.
     *
     * @param arguments the file
     */
    public static void main(String[] arguments) throws IOException {
        TraceProfile read = TraceReader.profile(Path.of(arguments[0]), ReadOptions.defaults());
        long inner = 0;
        long others = 0;
        for (TraceProfile.Range range : read.ranges()) {
            inner += range.name().equals("inner") ? range.elapsedNs() : 0;
            others += range.name().equals("inner") ? 0 : range.elapsedNs();
        }
        System.out.println(read.eventsRead() + " " + read.eventsCounted() + " " + inner + " " + others);
    }

    @Override
    public void close() throws SQLException {
        database.commit();
        database.close();
    }
}
