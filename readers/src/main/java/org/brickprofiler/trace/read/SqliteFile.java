package org.brickprofiler.trace.read;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.brickprofiler.internal.io.InputFile;
import org.brickprofiler.internal.io.TemporaryFiles;
import org.jspecify.annotations.Nullable;

/**
 * An open SQLite database that a profiler wrote: its tables, its rows, and the progress of reading them. This class
 * uses {@code java.sql} alone, so any JDBC driver for SQLite will do. Nothing is written to the file or to its folder.
 * The database is read as if it never changed; it is refused if changes lie beside it, or if it changes meanwhile. Of a
 * file that was cut off, a copy of its whole pages is read.
 *
 * <p>A database may define anything by its views. Values are bounded in length, the rows of a query by the size of the
 * file, and a query that finds no row for long is cancelled. One thread; a daemon thread cancels.
 */
final class SqliteFile {

    private static final int ROWS_A_REPORT = 1 << 14;

    /** The flags SQLITE_OPEN_READONLY and SQLITE_OPEN_URI in the form that Xerial's driver accepts. */
    private static final String READ_ONLY_BY_URI = "65";

    /** The setting of Xerial's driver for the folder of its native library. */
    private static final String FOLDER_OF_LIBRARY = "org.sqlite.tmpdir";

    private static volatile boolean isLibraryLoaded;

    // The header of a database; see https://www.sqlite.org/fileformat.html.
    private static final int HEADER_BYTES = 100;
    private static final int PAGE_SIZE_AT = 16;
    private static final int CHANGES_AT = 24;
    private static final int PAGES_AT = 28;
    private static final int VALID_FOR_AT = 92;
    private static final int SMALLEST_PAGE = 512;
    private static final int LARGEST_PAGE = 1 << 16;

    /** The ends of the names of files beside a database that hold changes to it. */
    private static final String WRITE_AHEAD_LOG = "-wal";

    private static final String ROLLBACK_JOURNAL = "-journal";
    private static final int LOG_HEADER_BYTES = 32;

    /** The longest value, bytes; names of kernels are far shorter. */
    private static final int LONGEST_VALUE = 1 << 24;

    private static final int LONGEST_PATTERN = 1_000;

    /** The time in which a query must find its next row: a fixed part, and a part for each byte of the file. */
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static final long PATIENCE_NS_A_BYTE = 250;

    private static final long NS_A_MS = 1_000_000L;
    private static final long NS_A_S = 1_000_000_000L;
    private static final int WAITS_A_PATIENCE = 4;

    private static final int CORRUPT = 11;
    private static final int NO_DATABASE = 26;

    /**
     * SQLite's codes for faults of the machine, not of the database: busy, locked, no memory, no permission, no disk,
     * no file.
     */
    private static final Set<Integer> OF_MACHINE = Set.of(3, 5, 6, 7, 8, 9, 10, 13, 14, 23);

    private final Connection database;
    private final Watch watch;
    private final @Nullable TraceFormatException cutOff;
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

    private SqliteFile(
            Connection database,
            Watch watch,
            long totalBytes,
            @Nullable TraceFormatException cutOff,
            EventCollector collector,
            ReadOptions.Progress progress) {
        this.database = database;
        this.watch = watch;
        this.totalBytes = totalBytes;
        this.cutOff = cutOff;
        this.collector = collector;
        this.progress = progress;
    }

    /**
     * Reads the events of a database by the reader of the program that wrote it.
     *
     * @param file the database
     * @param collector receives the events
     * @param progress is called while rows are read
     * @throws TraceFormatException when no known program wrote it, it is damaged, or its changes are in another file
     * @throws IOException when it cannot be read, or no driver is available
     */
    static void read(Path file, EventCollector collector, ReadOptions.Progress progress) throws IOException {
        read(file, collector, progress, PATIENCE.plusNanos(PATIENCE_NS_A_BYTE * Files.size(file)));
    }

    /** Reads a database, and cancels a query that finds no row within a time. */
    static void read(Path file, EventCollector collector, ReadOptions.Progress progress, Duration patience)
            throws IOException {
        requireNoChangesBeside(file.toRealPath(), collector.source);
        Header before = Header.of(file);
        TraceFormatException cutOff = before.cutOff(collector.source);
        if (cutOff != null && before.fileBytes() < before.pageBytes()) {
            throw cutOff;
        }
        if (cutOff == null) {
            read(file, before, null, collector, progress, patience);
        } else {
            Path pages = TemporaryFiles.file("brick-trace-", ".sqlite");
            try {
                before.copyWholePages(file, pages);
                read(pages, before, cutOff, collector, progress, patience);
            } finally {
                TemporaryFiles.delete(pages);
            }
        }
        requireNoChangesBeside(file.toRealPath(), collector.source);
        if (!Header.of(file).equals(before)) {
            throw new TraceFormatException(
                    collector.source,
                    0,
                    "the SQLite database changed while it was read; read it again when its program has ended");
        }
    }

    private static void read(
            Path file,
            Header header,
            @Nullable TraceFormatException cutOff,
            EventCollector collector,
            ReadOptions.Progress progress,
            Duration patience)
            throws IOException {
        Watch watch = new Watch(patience);
        try (watch;
                Connection connection = connect(file, collector.source)) {
            SqliteFile database = new SqliteFile(connection, watch, header.fileBytes(), cutOff, collector, progress);
            database.readNames();
            if (RocmDatabase.isRocm(database)) {
                RocmDatabase.read(database, collector);
            } else {
                NsightReader.read(database, collector);
            }
            database.reportProgress();
        } catch (SQLException failed) {
            throw watch.hasCancelled() ? watch.fault(collector) : cutOff == null ? fault(failed, collector) : cutOff;
        } catch (TraceRule.TooCostly fault) {
            throw new TraceFormatException(
                    collector.source, collector.eventsRead(), String.valueOf(fault.getMessage()), fault);
        }
    }

    private static Connection connect(Path file, String source) throws IOException, SQLException {
        Properties options = new Properties();
        options.setProperty("open_mode", READ_ONLY_BY_URI);
        options.setProperty("limit_length", Integer.toString(LONGEST_VALUE));
        options.setProperty("limit_like_pattern_length", Integer.toString(LONGEST_PATTERN));
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
        requireFolderOfLibrary(source);
        Connection connection;
        try {
            connection = DriverManager.getConnection(url, options);
            isLibraryLoaded = true;
        } catch (SQLException failed) {
            if (failed.getErrorCode() == CORRUPT || failed.getErrorCode() == NO_DATABASE) {
                throw failed;
            }
            Throwable cause = failed.getCause() == null ? failed : failed.getCause();
            throw new IOException("cannot read " + source + ": SQLite does not start: " + reason(cause), failed);
        }
        try (Statement settings = connection.createStatement()) {
            settings.execute("PRAGMA trusted_schema = OFF");
            settings.execute("PRAGMA cell_size_check = ON");
        } catch (SQLException failed) {
            connection.close();
            throw failed;
        }
        return connection;
    }

    /**
     * Checks that the driver can unpack its native library, since it logs its own failure with its stack.
     *
     * @throws IOException when the folder for temporary files cannot be written
     */
    private static void requireFolderOfLibrary(String source) throws IOException {
        if (!isLibraryLoaded && System.getProperty(FOLDER_OF_LIBRARY) == null) {
            try {
                TemporaryFiles.delete(TemporaryFiles.file("brick-sqlite-", ".tmp"));
            } catch (IOException failed) {
                throw new IOException(
                        "cannot read " + source + ": SQLite's library must be unpacked: " + failed.getMessage(),
                        failed);
            }
        }
    }

    // ---- the file ----

    /**
     * Checks that no file beside a database has changes that are not in it: a log of a program that is still running or
     * was killed, or the journal by which SQLite would undo a change that did not end.
     *
     * @param file the database; SQLite names the other files after the target of a link
     * @throws TraceFormatException when there is such a file
     */
    private static void requireNoChangesBeside(Path file, String source) throws IOException {
        Path log = file.resolveSibling(file.getFileName() + WRITE_AHEAD_LOG);
        if (bytesOf(log) > LOG_HEADER_BYTES) {
            throw new TraceFormatException(
                    source,
                    0,
                    "changes to the SQLite database are in " + log.getFileName() + " beside it: the program that"
                            + " writes it still runs or was killed; when it has ended, this merges them:"
                            + " sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)'");
        }
        Path journal = file.resolveSibling(file.getFileName() + ROLLBACK_JOURNAL);
        if (bytesOf(journal) > 0 && begin(journal, 1)[0] != 0) {
            throw new TraceFormatException(
                    source,
                    0,
                    "a change to the SQLite database did not end: " + journal.getFileName() + " is beside it; the"
                            + " program that writes it still runs or was killed; when it has ended, this undoes the"
                            + " change: sqlite3 FILE 'SELECT count(*) FROM sqlite_master'");
        }
    }

    private static long bytesOf(Path file) throws IOException {
        return Files.isRegularFile(file) ? Files.size(file) : 0;
    }

    private static byte[] begin(Path file, int bytes) throws IOException {
        try (InputStream in = InputFile.open(file)) {
            return in.readNBytes(bytes);
        }
    }

    /**
     * The sizes that a database states, and its state. Immutable.
     *
     * @param fileBytes the size of the file
     * @param pageBytes the size of a page; 0 if the header is cut off or states no valid one
     * @param pages the number of pages; 0 if the header does not state it
     * @param changes the number of changes
     */
    private record Header(long fileBytes, int pageBytes, long pages, int changes) {

        static Header of(Path file) throws IOException {
            ByteBuffer header = ByteBuffer.wrap(begin(file, HEADER_BYTES));
            if (header.limit() < HEADER_BYTES) {
                return new Header(Files.size(file), 0, 0, 0);
            }
            int written = Short.toUnsignedInt(header.getShort(PAGE_SIZE_AT));
            int pageBytes = written == 1 ? LARGEST_PAGE : written;
            int changes = header.getInt(CHANGES_AT);
            boolean countsPages = changes == header.getInt(VALID_FOR_AT);
            return new Header(
                    Files.size(file),
                    Integer.bitCount(pageBytes) == 1 && pageBytes >= SMALLEST_PAGE ? pageBytes : 0,
                    countsPages ? Integer.toUnsignedLong(header.getInt(PAGES_AT)) : 0,
                    changes);
        }

        /**
         * Returns the exception for a file that is shorter than its header states, or that ends within a page; null if
         * it does not. SQLite itself reads zeros for the rest of a page.
         */
        @Nullable
        TraceFormatException cutOff(String source) {
            long wholePages = pageBytes == 0 ? 0 : (fileBytes + pageBytes - 1) / pageBytes * pageBytes;
            long wantedBytes = Math.max(pageBytes * pages, wholePages);
            return fileBytes >= wantedBytes
                    ? null
                    : TraceFormatException.damage(
                            source,
                            0,
                            String.format(
                                    Locale.ROOT,
                                    "the SQLite database was cut off: it has %,d bytes of %,d",
                                    fileBytes,
                                    wantedBytes));
        }

        /** Copies the whole pages of a file that was cut off, and lets the copy state their number. */
        void copyWholePages(Path file, Path copy) throws IOException {
            long whole = fileBytes / pageBytes;
            try (FileChannel from = FileChannel.open(file, StandardOpenOption.READ);
                    FileChannel to = FileChannel.open(copy, StandardOpenOption.WRITE)) {
                long length = whole * pageBytes;
                for (long at = 0; at < length; ) {
                    long copied = to.transferFrom(from.position(at), at, length - at);
                    if (copied == 0) {
                        break;
                    }
                    at += copied;
                }
                ByteBuffer number = ByteBuffer.allocate(Integer.BYTES).putInt(0, (int) whole);
                if (whole > 0) {
                    to.write(number, PAGES_AT);
                }
            } catch (IOException failed) {
                throw TemporaryFiles.cannotWrite(failed);
            }
        }
    }

    // ---- names ----

    private void readNames() throws SQLException, IOException {
        // A virtual table has no page: a module of SQLite computes its rows.
        each(
                "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'"
                        + " AND m.rootpage > 0",
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

    /**
     * Checks that a name which a program gives to a table is not that of a view.
     *
     * @throws TraceFormatException when it is
     */
    void requireNoView(String table) throws TraceFormatException {
        if (views.containsKey(table)) {
            throw new TraceFormatException(
                    collector.source,
                    0,
                    "the SQLite database has a view " + TraceFigures.plain(table)
                            + ", where its program writes a table");
        }
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
     * Returns a query for columns of a table, with NULL for each column that it lacks; null if there is no such table.
     *
     * @throws TraceFormatException when a view has the name of the table
     */
    @Nullable
    String query(String table, String... columns) throws SQLException, IOException {
        return query(table, Map.of(), columns);
    }

    /** Returns the same query, with a given expression instead of NULL for some of the missing columns. */
    @Nullable
    String query(String table, Map<String, String> otherwise, String... columns) throws SQLException, IOException {
        requireNoView(table);
        return queryOf(table, otherwise, columns);
    }

    /** Returns the same query of a view, or of a table. */
    @Nullable
    String queryOf(String table, Map<String, String> otherwise, String... columns) throws SQLException, IOException {
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

    /**
     * Passes each row of a query to a reader; does nothing if the query is null.
     *
     * @throws TraceFormatException when the query has more rows than the file has bytes, as a view may have
     */
    void each(@Nullable String query, RowVisitor reader) throws SQLException, IOException {
        if (query == null) {
            return;
        }
        try (Statement statement = database.createStatement()) {
            watch.begin(statement, query);
            try (ResultSet found = statement.executeQuery(query)) {
                for (long row = 1; found.next(); row++) {
                    watch.pause();
                    if (row > totalBytes) {
                        throw tooManyRows(query);
                    }
                    reader.read(found);
                    watch.begin(statement, query);
                }
            } finally {
                watch.pause();
            }
        }
    }

    private TraceFormatException tooManyRows(String query) {
        return new TraceFormatException(
                collector.source,
                collector.eventsRead(),
                String.format(
                        Locale.ROOT,
                        "the SQLite database has a view without end: more than %,d rows in %s",
                        totalBytes,
                        TraceFigures.plain(query)));
    }

    /**
     * Returns the number of rows of a table or a view.
     *
     * @throws TraceFormatException when it has more rows than the file has bytes
     */
    long rows(String table) throws SQLException, IOException {
        // Counting stops at the bound.
        String query = "SELECT count(*) FROM (SELECT 1 FROM " + quoted(table) + " LIMIT " + (totalBytes + 1) + ")";
        long[] rows = new long[1];
        each(query, row -> rows[0] = row.getLong(1));
        if (rows[0] > totalBytes) {
            throw tooManyRows(query);
        }
        return rows[0];
    }

    /** Cancels the query that is under way if it finds no row for long. */
    private static final class Watch implements AutoCloseable {

        private final long patienceNs;
        private @Nullable Thread thread;

        // Guarded by this.
        private @Nullable Statement running;
        private String query = "";
        private long sinceNs;
        private boolean hasCancelled;
        private boolean isClosed;

        Watch(Duration patience) {
            this.patienceNs = patience.toNanos();
        }

        /** Begins a search for a row. */
        synchronized void begin(Statement statement, String text) {
            running = statement;
            query = text;
            sinceNs = System.nanoTime();
            if (thread == null) {
                thread = new Thread(this::watch, "brick-sqlite-watch");
                thread.setDaemon(true);
                thread.start();
            }
        }

        /** Ends the search: the row was found, or there is none. */
        synchronized void pause() {
            running = null;
        }

        private synchronized void watch() {
            try {
                while (!isClosed) {
                    Statement statement = running;
                    if (statement != null && System.nanoTime() - sinceNs > patienceNs) {
                        hasCancelled = true;
                        statement.cancel();
                    }
                    wait(1 + patienceNs / WAITS_A_PATIENCE / NS_A_MS);
                }
            } catch (InterruptedException | SQLException ended) {
                // The query goes on: this thread has been asked to end, or the driver cannot cancel.
            }
        }

        synchronized boolean hasCancelled() {
            return hasCancelled;
        }

        synchronized TraceFormatException fault(EventCollector collector) {
            return new TraceFormatException(
                    collector.source,
                    collector.eventsRead(),
                    String.format(
                            Locale.ROOT,
                            "a query of the SQLite database found no row within %,d s: %s; a view without end, or an"
                                    + " index that is missing",
                            Math.max(1, patienceNs / NS_A_S),
                            TraceFigures.plain(query)));
        }

        @Override
        public synchronized void close() {
            isClosed = true;
            notifyAll();
        }
    }

    PreparedStatement prepare(String query) throws SQLException {
        return database.prepareStatement(query);
    }

    /** Adds the rows of a table to the total by which progress is measured. */
    void expectRows(String table) throws IOException {
        try {
            each("SELECT max(rowid) FROM " + quoted(table), row -> totalRows += row.getLong(1));
        } catch (SQLException damaged) {
            // The reading of the rows meets the damage, too.
        }
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
        return Bounds.isTime(ns) ? ns : Microseconds.OUT_OF_RANGE;
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
    IOException fault(SQLException failed) {
        TraceFormatException known = cutOff;
        return watch.hasCancelled() ? watch.fault(collector) : known == null ? fault(failed, collector) : known;
    }

    private static IOException fault(SQLException failed, EventCollector collector) {
        if (OF_MACHINE.contains(failed.getErrorCode())) {
            return new IOException("cannot read " + collector.source + ": " + reason(failed), failed);
        }
        return TraceFormatException.damage(
                collector.source, collector.eventsRead(), "the SQLite database is damaged: " + reason(failed), failed);
    }

    private static String reason(Throwable failed) {
        return String.valueOf(failed.getMessage()).lines().findFirst().orElse("");
    }

    /** Returns the exception for a file that was cut off; null if it was not. The rows of its whole pages are read. */
    @Nullable
    TraceFormatException cutOff() {
        return cutOff;
    }
}
