package org.brickprofiler.fleet;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.internal.io.TemporaryFiles;
import org.jspecify.annotations.Nullable;

/**
 * DuckDB in this process, through its JDBC driver, which {@link DuckPlugin} finds. It uses no network and no settings
 * of the user: memory, threads and the folder for temporary files are set explicitly. One thread.
 */
final class DuckEngine implements FleetEngine {

    static final String NAME = "duckdb";

    /** Parts of DuckDB's own messages. */
    private static final String NO_SELECT = "Expected a single SELECT";

    private static final String NO_ACCESS = "disabled by configuration";

    private final Connection connection;
    private final Path temporary;

    /** The files of its tables. */
    private final Set<String> read = new LinkedHashSet<>();

    private boolean confined;

    private DuckEngine(Connection connection, Path temporary) {
        this.connection = connection;
        this.temporary = temporary;
    }

    /**
     * Starts DuckDB.
     *
     * @param options its resources
     * @return the engine, to be closed
     * @throws IOException when the driver is missing, or does not start
     */
    static DuckEngine open(Options options) throws IOException {
        Path temporary;
        try {
            temporary = options.temporary() == null
                    ? TemporaryFiles.folder("brick-fleet")
                    : TemporaryFiles.keep(Files.createTempDirectory(options.temporary(), ".engine"));
        } catch (IOException failed) {
            throw new IOException("cannot make a folder for temporary files: " + AtomicFile.reason(failed), failed);
        }
        DuckEngine engine = null;
        try {
            Connection connection = DuckPlugin.driver().connect("jdbc:duckdb:", settings(options, temporary));
            engine = new DuckEngine(Objects.requireNonNull(connection, "connection"), temporary);
            engine.execute("CREATE TEMP MACRO explode(list) AS unnest(list)");
            return engine;
        } catch (SQLException failed) {
            throw new IOException("DuckDB does not start: " + reason(failed), failed);
        } finally {
            if (engine == null) {
                TemporaryFiles.delete(temporary);
            }
        }
    }

    private static Properties settings(Options options, Path temporary) {
        Properties settings = new Properties();
        settings.setProperty("memory_limit", options.memoryBytes() + "B");
        settings.setProperty("threads", Integer.toString(options.threads()));
        settings.setProperty("temp_directory", temporary.toString());
        settings.setProperty("autoinstall_known_extensions", "false");
        settings.setProperty("autoload_known_extensions", "false");
        return settings;
    }

    /** Returns the connection, for statements that only DuckDB supports. */
    Connection connection() {
        return connection;
    }

    @Override
    public void table(String name, List<String> parquetFiles) throws IOException {
        if (parquetFiles.isEmpty()) {
            throw new IllegalArgumentException("the table " + name + " has no files");
        }
        read.addAll(parquetFiles);
        String files = parquetFiles.stream().map(DuckEngine::literal).collect(Collectors.joining(", "));
        view(name, "SELECT * FROM read_parquet([" + files + "], hive_partitioning = false, union_by_name = true)");
    }

    @Override
    public InputStream read(String file) throws IOException {
        if (file.contains("://")) {
            throw new IOException(
                    "cannot read " + file + ": DuckDB is asked for files of this machine only; Spark reads others");
        }
        return Files.newInputStream(Path.of(file));
    }

    @Override
    public void view(String name, String select) throws IOException {
        execute("CREATE OR REPLACE TEMP VIEW \"" + name + "\" AS " + select);
    }

    /**
     * Returns a text as an SQL literal.
     *
     * @param text any text
     * @return the text in quotes
     */
    static String literal(String text) {
        return "'" + text.replace("'", "''") + "'";
    }

    /**
     * Executes a statement without a result.
     *
     * @param sql the statement
     * @throws IOException when it fails
     */
    void execute(String sql) throws IOException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException failed) {
            throw refused(failed);
        }
    }

    /**
     * Restricts DuckDB by its settings to the files of its tables, and denies it the network. The settings do not
     * prevent it from writing to these files, so only a SELECT is executed from now on.
     */
    @Override
    public boolean confine() throws IOException {
        execute("SET allowed_paths = [" + read.stream().map(DuckEngine::literal).collect(Collectors.joining(", "))
                + "]");
        execute("SET enable_external_access = false");
        execute("SET lock_configuration = true");
        confined = true;
        return true;
    }

    /** Lets DuckDB's own parser and binder check that a text is a single query, which reads nothing but tables. */
    private void requireSelect(String select) throws IOException {
        try (PreparedStatement checked = connection.prepareStatement("SELECT * FROM query(" + literal(select) + ")")) {
            checked.getMetaData();
        } catch (SQLException failed) {
            throw refused(failed);
        }
    }

    @Override
    public Rows query(String select) throws IOException {
        if (confined) {
            requireSelect(select);
        }
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(select)) {
            ResultSetMetaData shape = result.getMetaData();
            int width = shape.getColumnCount();
            List<String> columns = new ArrayList<>();
            for (int column = 1; column <= width; column++) {
                columns.add(shape.getColumnLabel(column));
            }
            List<List<@Nullable Object>> rows = new ArrayList<>();
            while (result.next()) {
                if (rows.size() == MOST_ROWS) {
                    throw new IOException("the answer has more than " + MOST_ROWS + " rows: add a LIMIT");
                }
                List<@Nullable Object> row = new ArrayList<>(width);
                for (int column = 1; column <= width; column++) {
                    row.add(Rows.value(result.getObject(column)));
                }
                rows.add(Collections.unmodifiableList(row));
            }
            return new Rows(List.copyOf(columns), Collections.unmodifiableList(rows));
        } catch (SQLException failed) {
            throw refused(failed);
        }
    }

    private IOException refused(SQLException failed) {
        String reason = reason(failed);
        boolean leadsOut = confined && (reason.contains(NO_SELECT) || reason.contains(NO_ACCESS));
        return new IOException(
                "DuckDB: " + reason
                        + (leadsOut
                                ? "; a query of a pack is one SELECT over its tables, which reads nothing else and writes nothing"
                                : ""),
                failed);
    }

    /** Returns the first paragraph of the message; the others repeat the statement. */
    private static String reason(SQLException failed) {
        return String.valueOf(failed.getMessage())
                .lines()
                .takeWhile(line -> !line.startsWith("LINE "))
                .filter(line -> !line.isBlank())
                .collect(Collectors.joining(" "));
    }

    @Override
    public void close() {
        try {
            connection.close();
        } catch (SQLException nothingToSave) {
            // Its database is in memory.
        }
        TemporaryFiles.delete(temporary);
    }
}
