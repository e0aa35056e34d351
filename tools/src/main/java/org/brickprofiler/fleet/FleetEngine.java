package org.brickprofiler.fleet;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * An engine that executes SQL over Parquet files. This program sends only SQL that all engines interpret in the same
 * way: whole numbers, {@code floor} before a cast, an {@code ORDER BY} without ties, sums of {@code DECIMAL(20,0)}, and
 * {@code explode} for lists. One thread.
 */
public interface FleetEngine extends AutoCloseable {

    /** The name of the default engine. */
    String DEFAULT = DuckEngine.NAME;

    /**
     * Creates a table from the rows of files; replaces an older table of that name.
     *
     * @param name the table
     * @param parquetFiles paths or addresses, at least one; of one schema
     * @throws IOException when one cannot be read; the message is the engine's reason
     */
    void table(String name, List<String> parquetFiles) throws IOException;

    /**
     * Opens a file in the folder from which tables are read.
     *
     * @param file a path or an address, as in {@link #table}
     * @return its bytes, to be closed
     * @throws java.io.FileNotFoundException when the file does not exist
     * @throws java.nio.file.NoSuchFileException when the file does not exist
     * @throws IOException when it cannot be read
     */
    InputStream read(String file) throws IOException;

    /**
     * Creates a view; replaces an older view of that name.
     *
     * @param name the view
     * @param select a query over tables and views
     * @throws IOException when the engine refuses it
     */
    void view(String name, String select) throws IOException;

    /**
     * Executes a query.
     *
     * @param select a query over tables and views
     * @return the complete result
     * @throws IOException when the engine refuses it, or the result has more than {@link #MOST_ROWS} rows
     */
    Rows query(String select) throws IOException;

    /**
     * Confines the engine permanently to its current tables: every later query, of any author, reads only these and
     * writes nothing. Views can still be created.
     *
     * @return false if the engine cannot be confined, and works as before
     * @throws IOException when it fails
     */
    default boolean confine() throws IOException {
        return false;
    }

    /** The most rows of a result: neither a person nor a page can use more. */
    int MOST_ROWS = 1_000_000;

    /** Releases memory and temporary files. Call it once; afterwards the engine executes nothing. */
    @Override
    void close();

    /**
     * The resources of an engine.
     *
     * @param memoryBytes the limit of its memory; further data go to temporary files
     * @param threads the number of its threads
     * @param temporary a folder for temporary files; null for a new one below the system's
     * @param master the master of a distributed engine, in the engine's own terms, such as {@code local[2]}; null if
     *     not set
     */
    record Options(
            long memoryBytes,
            int threads,
            @Nullable Path temporary,
            @Nullable String master) {

        /**
         * Returns the default resources, for a machine that others use as well.
         *
         * @return 640 MiB, and all processors
         */
        public static Options defaults() {
            return new Options(640L << 20, Runtime.getRuntime().availableProcessors(), null, null);
        }
    }

    /** Opens an engine that is not part of this program; found by {@link ServiceLoader}. */
    interface Provider {

        /**
         * Returns the name of the engine on the command line.
         *
         * @return one word
         */
        String name();

        /**
         * Starts the engine.
         *
         * @param options its resources
         * @return the engine, to be closed
         * @throws IOException when it cannot be started; the message says why
         */
        FleetEngine open(Options options) throws IOException;
    }

    /**
     * Starts an engine.
     *
     * @param name {@link #DEFAULT} or the name of a {@link Provider}
     * @param options its resources
     * @return the engine, to be closed
     * @throws IOException when it cannot be started; the message gives the reason, and the way to get missing parts
     * @throws IllegalArgumentException when no engine has that name; the message lists the available ones
     */
    static FleetEngine open(String name, Options options) throws IOException {
        if (name.equals(DuckEngine.NAME)) {
            return DuckEngine.open(options);
        }
        TreeSet<String> known = new TreeSet<>(List.of(DuckEngine.NAME));
        for (Provider provider : ServiceLoader.load(Provider.class, FleetEngine.class.getClassLoader())) {
            if (provider.name().equals(name)) {
                return provider.open(options);
            }
            known.add(provider.name());
        }
        throw new IllegalArgumentException(
                "there is no engine " + name + " here; there is " + String.join(", ", known));
    }
}
