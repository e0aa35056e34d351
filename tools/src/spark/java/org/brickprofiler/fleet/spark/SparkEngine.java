package org.brickprofiler.fleet.spark;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.brickprofiler.fleet.FleetEngine;
import org.brickprofiler.fleet.Rows;
import org.jspecify.annotations.Nullable;

/**
 * Apache Spark, on the master that is named, or else in this process. If a session is already active, as under
 * {@code spark-submit}, this session executes the queries, and {@link #close} leaves it open. Spark's own setting
 * bounds the memory. One thread.
 */
final class SparkEngine implements FleetEngine {

    private final SparkSession session;
    private final boolean isOwn;

    private SparkEngine(SparkSession session, boolean isOwn) {
        this.session = session;
        this.isOwn = isOwn;
    }

    /**
     * Starts the engine.
     *
     * @param options its resources
     * @return the engine, to be closed
     * @throws IOException when it cannot be started; the message says why
     */
    static SparkEngine open(Options options) throws IOException {
        // The active session is that of the calling thread only.
        boolean isOwn = SparkSession.getActiveSession().isEmpty()
                && SparkSession.getDefaultSession().isEmpty();
        return new SparkEngine(answer(() -> session(options)), isOwn);
    }

    private static SparkSession session(Options options) {
        String master = options.master();
        boolean isLocal = master == null || master.startsWith("local");
        SparkSession.Builder builder = SparkSession.builder()
                .appName("brick fleet")
                .master(master == null ? "local[" + options.threads() + "]" : master)
                .config("spark.ui.enabled", false)
                .config("spark.sql.catalogImplementation", "in-memory")
                // As in the embedded engine, an overflow or a division by zero is an error, not NULL.
                .config("spark.sql.ansi.enabled", true)
                .config("spark.sql.session.timeZone", "UTC");
        if (isLocal) {
            builder.config("spark.driver.host", "127.0.0.1")
                    .config("spark.driver.bindAddress", "127.0.0.1")
                    .config("spark.sql.shuffle.partitions", options.threads())
                    // Planning the rest of a query again after each stage takes longer here than it saves.
                    .config("spark.sql.adaptive.enabled", false);
        }
        Path temporary = options.temporary();
        if (temporary != null) {
            builder.config("spark.local.dir", temporary.toString());
        }
        return builder.getOrCreate();
    }

    @Override
    public void table(String name, List<String> parquetFiles) throws IOException {
        if (parquetFiles.isEmpty()) {
            throw new IllegalArgumentException("the table " + name + " has no files");
        }
        answer(() -> {
            // No columns from the names of folders: the files contain the run, and from a folder it might be read as a
            // number.
            session.read()
                    .option("recursiveFileLookup", true)
                    .parquet(parquetFiles.toArray(String[]::new))
                    .createOrReplaceTempView(name);
            return name;
        });
    }

    @Override
    public InputStream read(String file) throws IOException {
        org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path(file);
        return path.getFileSystem(session.sparkContext().hadoopConfiguration()).open(path);
    }

    @Override
    public void view(String name, String select) throws IOException {
        answer(() -> {
            session.sql(select).createOrReplaceTempView(name);
            return name;
        });
    }

    @Override
    public Rows query(String select) throws IOException {
        Dataset<Row> asked = answer(() -> session.sql(select));
        List<Row> given = answer(() -> asked.takeAsList(MOST_ROWS + 1));
        if (given.size() > MOST_ROWS) {
            throw new IOException("the answer has more than " + MOST_ROWS + " rows: add a LIMIT");
        }
        List<List<@Nullable Object>> rows = new ArrayList<>(given.size());
        for (Row each : given) {
            List<@Nullable Object> row = new ArrayList<>(each.length());
            for (int column = 0; column < each.length(); column++) {
                row.add(Rows.value(each.get(column)));
            }
            rows.add(Collections.unmodifiableList(row));
        }
        return new Rows(List.copyOf(Arrays.asList(asked.columns())), Collections.unmodifiableList(rows));
    }

    /** Returns a result of Spark. Catches every exception, because Spark, which is written in Scala, declares none. */
    private static <T> T answer(Callable<T> question) throws IOException {
        try {
            return question.call();
        } catch (Exception failed) {
            String reason = String.valueOf(failed.getMessage())
                    .lines()
                    .filter(line -> !line.isBlank())
                    .findFirst()
                    .orElse("no reason is given");
            throw new IOException("Spark: " + reason, failed);
        }
    }

    @Override
    public void close() {
        if (isOwn) {
            session.stop();
        }
    }
}
