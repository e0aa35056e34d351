package org.brickprofiler.trace.read;

import java.io.IOException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.brickprofiler.trace.read.RocmEvents.EventVisitor;
import org.brickprofiler.trace.read.RocmEvents.Kind;
import org.brickprofiler.trace.read.RocmEvents.Row;
import org.jspecify.annotations.Nullable;

/**
 * Reads the databases of AMD's profilers: those of rocmProfileData ({@code .rpd}), of rocprofv3 ({@code rocpd}), and of
 * the first rocprof. The first two are read through the views that they contain, because their tables change between
 * versions. A view omits each row that refers to a missing row; the reader counts the omitted rows.
 *
 * <p>The views are defined by <a href="https://github.com/ROCm/rocmProfileData">rocmProfileData</a> and by <a
 * href="https://github.com/ROCm/rocprofiler-sdk/tree/amd-mainline/source/share/rocprofiler-sdk-rocpd">rocprofiler-sdk</a>.
 * One thread.
 */
final class RocmDatabase implements RocmEvents.Source {

    // rocmProfileData
    private static final String RPD_WORK = "rocpd_op";
    private static final String RPD_CALLS = "rocpd_api";
    private static final String RPD_LINKS = "rocpd_api_ops";
    private static final String RPD_COPIES = "rocpd_copyapi";

    /** The call that stands for a marker of the application; its arguments are the marker's text. */
    private static final String MARKER = "UserMarker";

    // rocprofv3
    private static final String SDK_WORK = "kernels";
    private static final String SDK_COPIES = "memory_copies";
    private static final String SDK_CALLS = "regions";

    private static final int PROCESS_SHIFT = 40;

    // the first rocprof: kernels of --stats, and with --hip-trace the work and the calls of HIP, or of HSA
    private static final String V1_KERNELS = "KERN";
    private static final String V1_WORK = "OPS";
    private static final String V1_COPIES = "COPY";
    private static final List<String> V1_CALLS = List.of("HIP", "HSA");

    private final SqliteFile database;
    private final EventCollector collector;
    private final Layout layout;
    private final Row row = new Row();
    private final Map<String, Integer> processes = new HashMap<>();

    /** The table of the first rocprof whose kernels count. */
    private String v1Kernels = V1_KERNELS;

    private enum Layout {
        RPD,
        SDK,
        V1
    }

    private RocmDatabase(SqliteFile database, EventCollector collector, Layout layout) {
        this.database = database;
        this.collector = collector;
        this.layout = layout;
    }

    private static @Nullable Layout layoutOf(SqliteFile database) {
        if (database.hasTable(RPD_WORK)) {
            return Layout.RPD;
        }
        if (database.hasView(SDK_WORK)) {
            return Layout.SDK;
        }
        for (String table : List.of(V1_KERNELS, V1_WORK, V1_COPIES)) {
            if (database.tables().getOrDefault(table, Set.of()).contains("BeginNs")) {
                return Layout.V1;
            }
        }
        return null;
    }

    /** Returns whether one of AMD's profilers wrote a database. */
    static boolean isRocm(SqliteFile database) {
        return layoutOf(database) != null;
    }

    /**
     * Reads a database.
     *
     * @param database the database
     * @param collector receives the events
     * @throws TraceFormatException when it is damaged, or lacks what its version must have
     * @throws SQLException when it is damaged
     * @throws IOException when it cannot be read
     */
    static void read(SqliteFile database, EventCollector collector) throws SQLException, IOException {
        Layout layout = layoutOf(database);
        if (layout == null) {
            throw new IllegalArgumentException("no profiler of AMD wrote " + collector.source);
        }
        TraceFormatException cutOff = database.cutOff();
        RocmDatabase reader = new RocmDatabase(database, collector, layout);
        reader.prepare();
        RocmEvents.read(reader, collector, cutOff);
    }

    /** Checks the views, and counts the rows that they omit. */
    private void prepare() throws SQLException, IOException {
        switch (layout) {
            case RPD -> {
                database.expectRows(RPD_WORK);
                database.expectRows(RPD_CALLS);
                countLost(RPD_WORK, "op");
                countLost(RPD_CALLS, "api");
            }
            case SDK -> {
                countLost("rocpd_kernel_dispatch", SDK_WORK);
                countLost("rocpd_memory_copy", SDK_COPIES);
                countLost("rocpd_region", SDK_CALLS);
            }
            case V1 -> prepareV1();
        }
    }

    /** Counts the rows of a table that its view omits. */
    private void countLost(String table, String view) throws SQLException, IOException {
        if (!database.hasView(view)) {
            if (database.hasTable(table) || database.hasView(table)) {
                throw new TraceFormatException(
                        collector.source, 0, "the SQLite database has " + table + " without the view " + view);
            }
            return;
        }
        if (database.hasTable(table) || database.hasView(table)) {
            for (long lost = database.rows(table) - database.rows(view); lost > 0; lost--) {
                collector.acceptWithLostState(0);
            }
        }
    }

    // ---- rows ----

    @Override
    public void each(Set<Kind> kinds, EventVisitor reader) throws IOException {
        try {
            switch (layout) {
                case RPD -> rpd(kinds, reader);
                case SDK -> sdk(kinds, reader);
                case V1 -> v1(kinds, reader);
            }
        } catch (SQLException failed) {
            throw database.fault(failed);
        }
    }

    private Row row(Kind kind, ResultSet found) throws SQLException {
        database.countRow();
        row.clear(kind);
        row.startNs = SqliteFile.time(found, 1);
        row.endNs = SqliteFile.time(found, 2);
        return row;
    }

    private static String text(ResultSet found, int column) throws SQLException {
        return SqliteFile.orEmpty(found.getString(column));
    }

    private void rpd(Set<Kind> kinds, EventVisitor reader) throws SQLException, IOException {
        if (kinds.contains(Kind.KERNEL)) {
            boolean hasBytes = database.hasTable(RPD_COPIES);
            boolean hasLinks = database.hasTable(RPD_LINKS);
            // An operation that belongs to several calls counts once. A call states the bytes of all its copies in one
            // number: if it made several copies, the bytes of each are unknown.
            String query = "SELECT o.start, o.\"end\", o.gpuId, o.queueId, o.description, o.opType, "
                    + (hasLinks ? "l.api" : "NULL") + ", "
                    + (hasLinks && hasBytes ? "CASE WHEN n.copies = 1 THEN c.size END" : "NULL")
                    + " FROM op o"
                    + (hasLinks
                            ? " LEFT JOIN (SELECT op_id, min(api_id) AS api FROM " + RPD_LINKS
                                    + " GROUP BY op_id) l ON l.op_id = o.id"
                            : "")
                    + (hasLinks && hasBytes
                            ? " LEFT JOIN " + RPD_COPIES + " c ON c.api_ptr_id = l.api"
                                    + " LEFT JOIN (SELECT k.api_id, count(DISTINCT k.op_id) AS copies FROM " + RPD_LINKS
                                    + " k JOIN op p ON p.id = k.op_id WHERE p.opType LIKE 'Copy%' OR p.opType LIKE"
                                    + " 'Fill%' GROUP BY k.api_id) n ON n.api_id = l.api"
                            : "");
            database.each(query, found -> {
                String type = text(found, 6);
                Row work = row(kindOf(type), found);
                work.device = SqliteFile.number(found, 3);
                work.queue = text(found, 4);
                work.name = text(found, 5).isEmpty() ? type : text(found, 5);
                work.correlation = SqliteFile.number(found, 7);
                work.bytes = work.kind == Kind.KERNEL ? TraceEvent.NONE : SqliteFile.number(found, 8);
                reader.read(work);
            });
        } else {
            Kind kind = kinds.contains(Kind.MARKER) ? Kind.MARKER : Kind.CALL;
            String query = "SELECT start, \"end\", pid, tid, apiName, args, id FROM api WHERE apiName "
                    + (kind == Kind.MARKER ? "=" : "<>") + " '" + MARKER + "'";
            database.each(query, found -> {
                Row call = row(kind, found);
                call.process = text(found, 3);
                call.thread = text(found, 4);
                call.name = text(found, kind == Kind.MARKER ? 6 : 5);
                call.correlation = SqliteFile.number(found, 7);
                reader.read(call);
            });
        }
    }

    private static Kind kindOf(String type) {
        return type.startsWith("Copy") ? Kind.COPY : type.startsWith("Fill") ? Kind.FILL : Kind.KERNEL;
    }

    private void sdk(Set<Kind> kinds, EventVisitor reader) throws SQLException, IOException {
        if (kinds.contains(Kind.KERNEL)) {
            Map<String, String> newer = Map.of("agent_abs_index", "agent_absolute_index");
            String query = database.queryOf(
                    SDK_WORK,
                    presentOf(SDK_WORK, newer),
                    "start",
                    "end",
                    "pid",
                    "nid",
                    "agent_abs_index",
                    "queue_id",
                    "name",
                    "stack_id");
            database.each(query, found -> {
                Row kernel = row(Kind.KERNEL, found);
                kernel.device = SqliteFile.number(found, 5);
                kernel.queue = text(found, 6);
                kernel.name = text(found, 7);
                kernel.correlation = correlation(found, 3, 8);
                reader.read(kernel);
            });
            copies(reader);
        } else {
            Kind wanted = kinds.contains(Kind.MARKER) ? Kind.MARKER : Kind.CALL;
            String query = database.queryOf(
                    SDK_CALLS,
                    Map.of(),
                    "start",
                    "end",
                    "pid",
                    "nid",
                    "tid",
                    "name",
                    "stack_id",
                    "category",
                    "extdata");
            database.each(query, found -> {
                boolean isMarker = text(found, 8).startsWith("MARKER");
                if (isMarker == (wanted == Kind.MARKER)) {
                    Row call = row(wanted, found);
                    call.process = text(found, 3);
                    call.thread = text(found, 5);
                    call.name = isMarker ? RocmJson.message(text(found, 9), text(found, 6)) : text(found, 6);
                    call.correlation = correlation(found, 3, 7);
                    reader.read(call);
                }
            });
        }
    }

    private void copies(EventVisitor reader) throws SQLException, IOException {
        Map<String, String> newer = Map.of(
                "dst_agent_abs_index", "dst_agent_absolute_index", "src_agent_abs_index", "src_agent_absolute_index");
        String query = database.queryOf(
                SDK_COPIES,
                presentOf(SDK_COPIES, newer),
                "start",
                "end",
                "pid",
                "nid",
                "dst_agent_abs_index",
                "dst_agent_type",
                "src_agent_abs_index",
                "queue_id",
                "name",
                "size",
                "stack_id");
        database.each(query, found -> {
            Row copy = row(Kind.COPY, found);
            copy.device = SqliteFile.number(found, text(found, 6).equals("GPU") ? 5 : 7);
            copy.queue = text(found, 8);
            copy.name = text(found, 9);
            copy.bytes = SqliteFile.number(found, 10);
            copy.correlation = correlation(found, 3, 11);
            reader.read(copy);
        });
    }

    /** Returns the quoted later names of columns, by their first names, as far as the view has them. */
    private Map<String, String> presentOf(String view, Map<String, String> laterNames)
            throws SQLException, IOException {
        Map<String, String> present = new HashMap<>();
        for (Map.Entry<String, String> name : laterNames.entrySet()) {
            if (database.hasColumn(view, name.getValue())) {
                present.put(name.getKey(), SqliteFile.quoted(name.getValue()));
            }
        }
        return present;
    }

    /**
     * Returns the number that a call shares with its work, unique across processes. The column of the node must follow
     * the column of the process.
     */
    private long correlation(ResultSet found, int process, int stack) throws SQLException {
        return correlation(text(found, process) + ' ' + text(found, process + 1), found.getLong(stack));
    }

    private long correlation(String key, long ofProcess) {
        if (ofProcess <= 0 || ofProcess >= 1L << PROCESS_SHIFT) {
            return TraceEvent.NONE;
        }
        return ((long) processes.computeIfAbsent(key, added -> processes.size()) << PROCESS_SHIFT) | ofProcess;
    }

    /**
     * Decides which table of the first rocprof has the kernels. {@code --hip-trace} writes them to OPS and leaves KERN
     * empty; with {@code --timestamp on} both have them, and count once.
     */
    private void prepareV1() throws SQLException, IOException {
        for (String table : List.of(V1_KERNELS, V1_WORK, V1_COPIES)) {
            if (database.hasTable(table)) {
                database.expectRows(table);
            }
        }
        long profiled = database.hasTable(V1_KERNELS) ? database.rows(V1_KERNELS) : 0;
        long traced = database.hasTable(V1_WORK) ? database.rows(V1_WORK) : 0;
        v1Kernels = traced >= profiled && traced > 0 ? V1_WORK : V1_KERNELS;
        long repeated = Math.min(profiled, traced);
        String other = v1Kernels.equals(V1_WORK) ? V1_KERNELS : V1_WORK;
        for (long i = 0; i < repeated; i++) {
            collector.acceptOmitted(Omission.Reason.OTHER_TABLE, other);
        }
    }

    private void v1(Set<Kind> kinds, EventVisitor reader) throws SQLException, IOException {
        if (kinds.contains(Kind.KERNEL)) {
            if (v1Kernels.equals(V1_KERNELS)) {
                v1Dispatches(reader);
            } else {
                v1Work(V1_WORK, reader);
            }
            v1Work(V1_COPIES, reader);
        } else if (kinds.contains(Kind.CALL)) {
            for (String calls : V1_CALLS) {
                v1Calls(calls, reader);
            }
        }
    }

    private void v1Dispatches(EventVisitor reader) throws SQLException, IOException {
        String query = database.query(V1_KERNELS, "BeginNs", "EndNs", "gpu-id", "queue-id", "KernelName");
        database.each(query, found -> {
            Row kernel = row(Kind.KERNEL, found);
            kernel.device = SqliteFile.number(found, 3);
            kernel.queue = text(found, 4);
            kernel.name = unquoted(text(found, 5));
            reader.read(kernel);
        });
    }

    /** rocprof quotes names in its text, and therefore also in the database that it creates from the text. */
    private static String unquoted(String name) {
        boolean isQuoted = name.length() > 1 && name.startsWith("\"") && name.endsWith("\"");
        return isQuoted ? name.substring(1, name.length() - 1) : name;
    }

    /** Reads the kernels of OPS, or the copies and fills of COPY. A copy of HSA states no device. */
    private void v1Work(String table, EventVisitor reader) throws SQLException, IOException {
        // Earlier versions state the process in a column of its own, and the device in that of the process.
        String process = database.hasColumn(table, "proc-id") ? "proc-id" : "pid";
        String query = database.query(table, "BeginNs", "EndNs", "dev-id", "queue-id", "Name", process, "Index");
        database.each(query, found -> {
            String name = unquoted(text(found, 5));
            Row work = row(table.equals(V1_WORK) ? Kind.KERNEL : kindOf(name), found);
            work.kind = table.equals(V1_COPIES) && work.kind == Kind.KERNEL ? Kind.COPY : work.kind;
            work.device = SqliteFile.number(found, 3);
            work.queue = text(found, 4).isEmpty() ? "copies" : text(found, 4);
            work.name = name;
            work.correlation = correlation(text(found, 6), found.getLong(7));
            reader.read(work);
        });
    }

    private void v1Calls(String table, EventVisitor reader) throws SQLException, IOException {
        String query = database.query(table, "BeginNs", "EndNs", "pid", "tid", "Name", "Index");
        boolean isHip = table.equals("HIP");
        database.each(query, found -> {
            Row call = row(Kind.CALL, found);
            call.process = text(found, 3);
            call.thread = text(found, 4);
            call.name = text(found, 5);
            // HSA numbers its calls apart from HIP, whose numbers the work has.
            call.correlation = isHip ? correlation(text(found, 3), found.getLong(6)) : TraceEvent.NONE;
            reader.read(call);
        });
    }
}
