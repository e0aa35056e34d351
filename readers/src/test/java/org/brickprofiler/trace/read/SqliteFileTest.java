package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.brickprofiler.trace.read.Traces.refused;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Databases that are incomplete, changing or hostile. */
@Timeout(100)
final class SqliteFileTest {

    private static final ReadOptions OPTIONS = ReadOptions.defaults();
    private static final String KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL";
    private static final String ENDLESS =
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS start, i + 1 AS \"end\", 1 AS pid,"
                    + " 1 AS nid, 0 AS agent_abs_index, 0 AS queue_id, 'k' AS name, 0 AS stack_id FROM n";

    @TempDir
    Path folder;

    private Path file() {
        return folder.resolve("a.sqlite");
    }

    private Path sql(String... statements) throws SQLException {
        try (Connection database = DriverManager.getConnection("jdbc:sqlite:" + file());
                Statement statement = database.createStatement()) {
            for (String each : statements) {
                statement.execute(each);
            }
        }
        return file();
    }

    private void write(int kernels) throws SQLException {
        try (NsightExport export = new NsightExport(file())) {
            for (int i = 0; i < kernels; i++) {
                export.kernel(1, i, 1_000 + 10L * i, 1_005 + 10L * i, "k");
            }
        }
    }

    private static Set<String> names(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return new TreeSet<>(
                    files.map(each -> each.getFileName().toString()).toList());
        }
    }

    // ---- changes beside the file ----

    /** 400 rows are in the file, and 600 in its log. */
    @Test
    void aDatabaseWhoseChangesAreInALogIsRefused() throws Exception {
        write(400);
        Path copies = Files.createDirectory(folder.resolve("copy"));
        Path copy = copies.resolve("a.sqlite");
        try (Connection database = DriverManager.getConnection("jdbc:sqlite:" + file());
                Statement statement = database.createStatement()) {
            statement.execute("PRAGMA journal_mode = WAL");
            statement.execute("INSERT INTO " + KERNELS + " SELECT * FROM " + KERNELS);
            for (String end : List.of("", "-wal")) {
                Files.copy(folder.resolve("a.sqlite" + end), copies.resolve("a.sqlite" + end));
            }
        }
        byte[] before = Files.readAllBytes(copy);
        Path link = Files.createSymbolicLink(folder.resolve("link.sqlite"), copy);

        for (Path each : List.of(copy, link)) {
            assertThat(refused(() -> Traces.read(each, OPTIONS)).fault())
                    .startsWith("changes to the SQLite database are in a.sqlite-wal beside it")
                    .endsWith("sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)'");
        }
        assertThat(copy).hasBinaryContent(before);
        assertThat(names(copies)).containsExactly("a.sqlite", "a.sqlite-wal");
        Files.write(copies.resolve("a.sqlite-wal"), new byte[0]);
        assertThat(Traces.read(copy, OPTIONS).eventsCounted()).isEqualTo(400);
    }

    /** The file has rows of a transaction that did not end. */
    @Test
    void aDatabaseWithAJournalIsRefused() throws Exception {
        write(400);
        Path journal = folder.resolve("a.sqlite-journal");
        Files.write(journal, new byte[] {(byte) 0xd9, (byte) 0xd5, 5, (byte) 0xf9, 32, (byte) 0xa1, 99, (byte) 0xd7});

        assertThat(refused(() -> Traces.read(file(), OPTIONS)).fault())
                .startsWith("a change to the SQLite database did not end: a.sqlite-journal is beside it");
        assertThat(journal).hasSize(8);

        // A journal that SQLite keeps, and has marked as over.
        Files.write(journal, new byte[512]);
        assertThat(Traces.read(file(), OPTIONS).eventsCounted()).isEqualTo(400);
    }

    @Test
    void aDatabaseThatChangesMeanwhileIsRefused() throws Exception {
        write(40_000);
        boolean[] changed = new boolean[1];

        assertThat(refused(() -> TraceReader.profile(file(), OPTIONS.withProgress((bytesRead, totalBytes) -> {
                            if (bytesRead > totalBytes / 3 && !changed[0]) {
                                changed[0] = true;
                                insertRow();
                            }
                        })))
                        .fault())
                .startsWith("the SQLite database changed while it was read");
        assertThat(changed[0]).isTrue();
    }

    private void insertRow() {
        try {
            sql("INSERT INTO " + KERNELS + " (start, end) VALUES (1, 2)");
        } catch (SQLException failed) {
            throw new IllegalStateException(failed);
        }
    }

    // ---- files that are cut off ----

    @ParameterizedTest
    @ValueSource(ints = {1, 2_048, 4_096, 6_000})
    void aCutOffExportIsRefusedOrReadUpToItsLastWholePage(int missing) throws Exception {
        write(400);
        byte[] bytes = Files.readAllBytes(file());
        Files.write(file(), Arrays.copyOf(bytes, bytes.length - missing));

        TraceFormatException refused = refused(() -> Traces.read(file(), OPTIONS));
        assertThat(refused.fault())
                .isEqualTo(String.format(
                        "the SQLite database was cut off: it has %,d bytes of %,d",
                        bytes.length - missing, bytes.length));
        TraceProfile salvaged = TraceReader.profile(file(), OPTIONS.withSalvage(true));
        assertThat(salvaged.omissions()).extracting(Omission::reason).contains(Omission.Reason.DAMAGE);
        assertThat(salvaged.eventsCounted()).isBetween(1L, 399L);
        assertThat(salvaged.wallNs()).isLessThanOrEqualTo(3_995);
        assertThat(salvaged.snapshot().totalNs()).isEqualTo(5 * salvaged.eventsCounted());
        assertThat(names(folder)).containsExactly("a.sqlite");
    }

    // ---- views ----

    @ParameterizedTest
    @ValueSource(strings = {KERNELS, "NVTX_EVENTS", "StringIds", "TARGET_INFO_GPU"})
    void aViewInPlaceOfATableIsRefused(String table) throws Exception {
        try (NsightExport export = new NsightExport(file(), table)) {
            export.execute("DROP TABLE IF EXISTS " + table);
            export.execute("CREATE VIEW " + table + " AS " + ENDLESS);
            if (!table.equals(KERNELS)) {
                export.insert(KERNELS, "start", 1, "end", 2, "demangledName", 1);
            }
        }

        assertThat(refused(() -> Traces.read(file(), OPTIONS)).fault())
                .isEqualTo("the SQLite database has a view " + table + ", where its program writes a table");
    }

    @Test
    void aViewWithoutEndIsRefused() throws Exception {
        sql("CREATE VIEW kernels AS " + ENDLESS, "CREATE TABLE rocpd_kernel_dispatch (id)");

        assertThat(refused(() -> Traces.read(file(), OPTIONS)).fault())
                .startsWith("the SQLite database has a view without end: more than 8,192 rows in SELECT");
    }

    @Test
    void aQueryThatFindsNoRowIsCancelled() throws Exception {
        sql("CREATE VIEW kernels AS " + ENDLESS + " WHERE i < 0");
        TimelineCollector timeline =
                new TimelineCollector(new TraceHead("a.sqlite"), OPTIONS.limits(), EventStore.KEPT);

        assertThat(refused(() ->
                                SqliteFile.read(file(), timeline, (bytesRead, totalBytes) -> {}, Duration.ofMillis(50)))
                        .fault())
                .startsWith("a query of the SQLite database found no row within 1 s: SELECT");
        timeline.close();
    }

    @Test
    void aHugeValueIsRefused() throws Exception {
        sql("CREATE VIEW kernels AS " + ENDLESS.replace("'k'", "printf('%.*c', 900000000, 'x')"));

        assertThat(refused(() -> Traces.read(file(), OPTIONS)).fault()).contains("String or BLOB exceeds size limit");
    }
}
