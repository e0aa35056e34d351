package org.brickprofiler.fleet;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * An engine that answers SQL over Parquet files. This program sends only SQL that every engine understands alike: whole
 * numbers, {@code floor} before a cast, an {@code ORDER BY} that leaves no ties, sums of {@code DECIMAL(20,0)}, and
 * {@code explode} for lists. One thread.
 */
public interface FleetEngine extends AutoCloseable {

    /** The engine that is taken if none is named. */
    String DEFAULT = DuckEngine.NAME;

    /**
     * Makes the rows of some files a table, in place of an older one of that name.
     *
     * @param name the table
     * @param parquetFiles paths or addresses, at least one; of one schema
     * @throws IOException when one cannot be read; the message is the engine's reason
     */
    void table(String name, List<String> parquetFiles) throws IOException;

    /**
     * Opens a file where tables are read from.
     *
     * @param file a path or an address, as of {@link #table}
     * @return its bytes, to be closed
     * @throws java.io.FileNotFoundException when there is none
     * @throws java.nio.file.NoSuchFileException when there is none
     * @throws IOException when it cannot be read
     */
    InputStream read(String file) throws IOException;

    /**
     * Gives a query a name, in place of an older one.
     *
     * @param name the view
     * @param select a query over tables and views
     * @throws IOException when the engine refuses it
     */
    void view(String name, String select) throws IOException;

    /**
     * Asks.
     *
     * @param select a query over tables and views
     * @return the whole answer
     * @throws IOException when the engine refuses it, or the answer has more than {@link #MOST_ROWS} rows
     */
    Rows query(String select) throws IOException;

    /**
     * Confines the engine to what it has as tables now, for good: a query reads these and nothing else, whoever wrote
     * it, and writes nothing. Views can still be made.
     *
     * @return false if the engine cannot be confined, and answers as before
     * @throws IOException when it fails
     */
    default boolean confine() throws IOException {
        return false;
    }

    /** More rows are nothing that a person or a page takes. */
    int MOST_ROWS = 1_000_000;

    /** Gives back what it holds: memory, temporary files. Once; it cannot be asked any more. */
    @Override
    void close();

    /**
     * How an engine is to run.
     *
     * @param memoryBytes what it may hold in memory; the rest goes to temporary files
     * @param threads how many it may compute with
     * @param temporary a folder for temporary files; null for one of its own below the system's
     * @param master where a distributed engine runs, in its own terms, such as {@code local[2]}; null if not set
     */
    record Options(
            long memoryBytes,
            int threads,
            @Nullable Path temporary,
            @Nullable String master) {

        /**
         * Of a machine that others use as well.
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
         * Returns how it is named on the command line.
         *
         * @return one word
         */
        String name();

        /**
         * Starts it.
         *
         * @param options how it is to run
         * @return the engine, to be closed
         * @throws IOException when it cannot be started; the message says why
         */
        FleetEngine open(Options options) throws IOException;
    }

    /**
     * Starts an engine.
     *
     * @param name {@link #DEFAULT} or what a {@link Provider} is named
     * @param options how it is to run
     * @return the engine, to be closed
     * @throws IOException when it cannot be started; the message says why, and how to get what is missing
     * @throws IllegalArgumentException when there is none of that name; the message lists those that are there
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
