package org.brickprofiler.trace.read;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.brickprofiler.internal.io.InputFile;
import org.jspecify.annotations.Nullable;

/**
 * An open SQLite database that a profiler wrote: its tables, its rows, and the progress of reading them. This class
 * uses {@code java.sql} alone, so any JDBC driver for SQLite will do. Nothing is written to the file. One thread.
 */
final class SqliteFile {

    private static final int ROWS_A_REPORT = 1 << 14;

    /** The flags SQLITE_OPEN_READONLY and SQLITE_OPEN_URI in the form that Xerial's driver accepts. */
    private static final String READ_ONLY_BY_URI = "65";

    // The header of a database; see https://www.sqlite.org/fileformat.html.
    private static final int HEADER_BYTES = 100;
    private static final int PAGE_SIZE_AT = 16;
    private static final int CHANGES_AT = 24;
    private static final int PAGES_AT = 28;
    private static final int VALID_FOR_AT = 92;
    private static final int LARGEST_PAGE = 1 << 16;

    /**
     * SQLite's codes for faults of the machine, not of the database: busy, locked, no memory, no permission, no disk,
     * no file.
     */
    private static final Set<Integer> OF_MACHINE = Set.of(3, 5, 6, 7, 8, 9, 10, 13, 14, 23);

    private final Connection database;
    private final Path file;
    private final EventCollector collector;
    private final ReadOptions.Progress progress;
    private final long totalBytes;
    private final Map<String, Set<String>> tables = new HashMap<>();
    private final Map<String, Set<String>> views = new HashMap<>();

    /** The columns that some query reads, by table. */
    private final Map<String, Set<String>> columnsRead = new HashMap<>();

    private long totalRows;
    private long rows;

    /** Handles each row of a result. */
    interface RowVisitor {
        void read(ResultSet row) throws SQLException, IOException;
    }

    private SqliteFile(Connection database, Path file, EventCollector collector, ReadOptions.Progress progress)
            throws IOException {
        this.database = database;
        this.file = file;
        this.collector = collector;
        this.progress = progress;
        this.totalBytes = Files.size(file);
    }

    /**
     * Reads the events of a database by the reader of the program that wrote it.
     *
     * @param file the database
     * @param collector receives the events
     * @param progress is called while rows are read
     * @throws TraceFormatException when no known program wrote it, or it is damaged
     * @throws IOException when it cannot be read, or no driver is available
     */
    static void read(Path file, EventCollector collector, ReadOptions.Progress progress) throws IOException {
        try (Connection connection = connect(file, collector.source)) {
            SqliteFile database = new SqliteFile(connection, file, collector, progress);
            database.readNames();
            if (RocmDatabase.isRocm(database)) {
                RocmDatabase.read(database, collector);
            } else {
                NsightReader.read(database, collector);
            }
            database.reportProgress();
        } catch (SQLException failed) {
            throw fault(failed, collector);
        } catch (TraceRule.TooCostly fault) {
            throw new TraceFormatException(
                    collector.source, collector.eventsRead(), String.valueOf(fault.getMessage()), fault);
        }
    }

    private static Connection connect(Path file, String source) throws IOException, SQLException {
        Properties options = new Properties();
        options.setProperty("open_mode", READ_ONLY_BY_URI);
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

    // ---- names ----

    private void readNames() throws SQLException, IOException {
        each(
                "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'",
                row -> tables.computeIfAbsent(row.getString(1), added -> new HashSet<>())
                        .add(row.getString(2)));
        // The columns of a view are queried one view at a time, because a view of a missing table would fail the whole
        // query.
        each("SELECT name FROM sqlite_master WHERE type = 'view'", row -> views.put(row.getString(1), Set.of()));
    }

    /** Returns the columns of each table. */
    Map<String, Set<String>> tables() {
        return tables;
    }

    boolean hasTable(String table) {
        return tables.containsKey(table);
    }

    boolean hasView(String view) {
        return views.containsKey(view);
    }

    /** Returns whether a table or a view has a column. */
    boolean hasColumn(String table, String column) throws SQLException, IOException {
        return columns(table).contains(column);
    }

    private Set<String> columns(String table) throws SQLException, IOException {
        Set<String> known = tables.getOrDefault(table, views.getOrDefault(table, Set.of()));
        if (!known.isEmpty() || !views.containsKey(table)) {
            return known;
        }
        Set<String> found = new HashSet<>();
        try (PreparedStatement query = database.prepareStatement("SELECT name FROM pragma_table_info(?)")) {
            query.setString(1, table);
            try (ResultSet row = query.executeQuery()) {
                while (row.next()) {
                    found.add(row.getString(1));
                }
            }
        }
        views.put(table, found);
        return found;
    }

    /**
     * Returns a query for columns of a table or a view, with NULL for each column that it lacks; null if there is no
     * such table.
     */
    @Nullable
    String query(String table, String... columns) throws SQLException, IOException {
        return query(table, Map.of(), columns);
    }

    /** Returns the same query, with a given expression instead of NULL for some of the missing columns. */
    @Nullable
    String query(String table, Map<String, String> otherwise, String... columns) throws SQLException, IOException {
        Set<String> known = columns(table);
        if (known.isEmpty()) {
            return null;
        }
        columnsRead.computeIfAbsent(table, added -> new HashSet<>()).addAll(Arrays.asList(columns));
        StringBuilder text = new StringBuilder("SELECT ");
        for (int i = 0; i < columns.length; i++) {
            text.append(i == 0 ? "" : ", ")
                    .append(
                            known.contains(columns[i])
                                    ? quoted(columns[i])
                                    : otherwise.getOrDefault(columns[i], "NULL"));
        }
        return text.append(" FROM ").append(quoted(table)).toString();
    }

    /** Returns the columns that some query read, by table. */
    Map<String, Set<String>> columnsRead() {
        return columnsRead;
    }

    /** Returns a name of a table or column as SQL writes it. */
    static String quoted(String name) {
        return '"' + name.replace("\"", "\"\"") + '"';
    }

    // ---- rows ----

    /** Passes each row of a query to a reader; does nothing if the query is null. */
    void each(@Nullable String query, RowVisitor reader) throws SQLException, IOException {
        if (query == null) {
            return;
        }
        try (Statement statement = database.createStatement();
                ResultSet found = statement.executeQuery(query)) {
            while (found.next()) {
                reader.read(found);
            }
        }
    }

    PreparedStatement prepare(String query) throws SQLException {
        return database.prepareStatement(query);
    }

    /** Adds the rows of a table to the total by which progress is measured. */
    void expectRows(String table) throws SQLException, IOException {
        each("SELECT max(rowid) FROM " + quoted(table), row -> totalRows += row.getLong(1));
    }

    /** Counts a row that was read. */
    void countRow() {
        if (++rows % ROWS_A_REPORT == 0) {
            reportProgress();
        }
    }

    private void reportProgress() {
        progress.at((long) ((double) totalBytes * Math.min(rows, totalRows) / Math.max(1, totalRows)), totalBytes);
    }

    /**
     * Returns the time in a column, or a special value of {@link Microseconds} if the time is missing or out of range.
     */
    static long time(ResultSet row, int column) throws SQLException {
        long ns = row.getLong(column);
        if (row.wasNull()) {
            return Microseconds.ABSENT;
        }
        return Math.abs(ns) <= Microseconds.LARGEST_NS && ns != Long.MIN_VALUE ? ns : Microseconds.OUT_OF_RANGE;
    }

    /** Returns the whole number in a column, or {@link TraceEvent#NONE} if it is missing. */
    static long number(ResultSet row, int column) throws SQLException {
        long value = row.getLong(column);
        return row.wasNull() ? TraceEvent.NONE : value;
    }

    static String orEmpty(@Nullable String text) {
        return text == null ? "" : text;
    }

    // ---- damage ----

    /** Returns the exception for a failed query: damage of the database, or a fault of the machine. */
    static IOException fault(SQLException failed, EventCollector collector) {
        String reason = String.valueOf(failed.getMessage()).lines().findFirst().orElse("");
        if (OF_MACHINE.contains(failed.getErrorCode())) {
            return new IOException("cannot read " + collector.source + ": " + reason, failed);
        }
        return TraceFormatException.damage(
                collector.source, collector.eventsRead(), "the SQLite database is damaged: " + reason, failed);
    }

    /**
     * Returns the exception for a file that is shorter than its header states; null if the file is not. SQLite itself
     * would silently read the remaining pages.
     */
    @Nullable
    TraceFormatException cutOff() throws IOException {
        byte[] bytes;
        try (InputStream in = InputFile.open(file)) {
            bytes = in.readNBytes(HEADER_BYTES);
        }
        ByteBuffer header = ByteBuffer.wrap(bytes);
        boolean countsPages = bytes.length == HEADER_BYTES && header.getInt(CHANGES_AT) == header.getInt(VALID_FOR_AT);
        if (!countsPages) {
            return null;
        }
        int written = Short.toUnsignedInt(header.getShort(PAGE_SIZE_AT));
        long wanted = (written == 1 ? LARGEST_PAGE : written) * Integer.toUnsignedLong(header.getInt(PAGES_AT));
        if (totalBytes >= wanted) {
            return null;
        }
        return TraceFormatException.damage(
                collector.source,
                collector.eventsRead(),
                String.format(
                        Locale.ROOT, "the SQLite database was cut off: it has %,d bytes of %,d", totalBytes, wanted));
    }
}
