package org.brickprofiler.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.brickprofiler.testing.OneJdk;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@OneJdk
final class DuckEngineTest {

    @TempDir
    Path folder;

    @Test
    void valuesAreOfFourTypes() throws IOException {
        try (FleetEngine engine = FleetEngine.open(FleetEngine.DEFAULT, FleetEngine.Options.defaults())) {
            Rows rows = engine.query("SELECT CAST(7 AS INTEGER) AS a, sum(CAST(8 AS BIGINT)) AS b,"
                    + " sum(CAST(9 AS DECIMAL(20,0))) AS c, 0.5 AS d, 'x' AS e, 1 = 1 AS f, NULL AS g,"
                    + " CAST(9000000000000000000 AS DECIMAL(38,0)) * 10 AS h, DATE '2026-01-02' AS i");

            assertThat(rows.columns()).containsExactly("a", "b", "c", "d", "e", "f", "g", "h", "i");
            assertThat(rows.rows())
                    .containsExactly(Arrays.asList(7L, 8L, 9L, 0.5, "x", true, null, 9e19, "2026-01-02"));
        }
    }

    /** A pack can have files of earlier versions, whose tables lack columns. */
    @Test
    void aColumnThatAFileLacksIsNullThere() throws IOException {
        Path earlier = folder.resolve("earlier.parquet");
        Path later = folder.resolve("later.parquet");
        try (DuckEngine engine = DuckEngine.open(FleetEngine.Options.defaults())) {
            engine.execute(
                    "COPY (SELECT 1 AS rank) TO " + DuckEngine.literal(earlier.toString()) + " (FORMAT parquet)");
            engine.execute("COPY (SELECT 2 AS rank, 'GPU-1' AS device_uuid) TO " + DuckEngine.literal(later.toString())
                    + " (FORMAT parquet)");
            engine.table("device_window", List.of(earlier.toString(), later.toString()));
            assertThat(engine.query("SELECT rank, device_uuid FROM device_window ORDER BY 1")
                            .rows())
                    .containsExactly(Arrays.asList(1L, null), List.of(2L, "GPU-1"));
        }
    }

    @Test
    void filesAreTablesAndQueriesAreViews() throws IOException {
        Path file = folder.resolve("it's.parquet");
        try (DuckEngine engine = DuckEngine.open(FleetEngine.Options.defaults())) {
            engine.execute("COPY (SELECT 3 AS rank, [{'bucket': 5, 'n': 2}, {'bucket': 6, 'n': 1}] AS dist) TO "
                    + DuckEngine.literal(file.toString()) + " (FORMAT parquet)");
            engine.table("brick_window", List.of(file.toString()));
            engine.view("buckets", "SELECT rank, explode(dist) AS u FROM brick_window");

            assertThat(engine.query("SELECT rank, u.bucket, u.n FROM buckets ORDER BY 2")
                            .rows())
                    .containsExactly(List.of(3L, 5L, 2L), List.of(3L, 6L, 1L));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> engine.table("none", List.of()))
                    .withMessageContaining("none");
        }
    }

    @Test
    void aWrongQueryIsRefusedInOneLineAndTheNextOneAnswered() throws IOException {
        try (FleetEngine engine = DuckEngine.open(FleetEngine.Options.defaults())) {
            assertThatIOException()
                    .isThrownBy(() -> engine.query("SELECT x FROM nowhere"))
                    .withMessageContaining("nowhere")
                    .satisfies(failed -> assertThat(failed.getMessage()).doesNotContain("\n"));
            assertThat(engine.query("SELECT 1").rows()).hasSize(1);
            assertThatIOException()
                    .isThrownBy(() -> engine.query("SELECT * FROM range(1000001)"))
                    .withMessageContaining("1000000 rows");
        }
    }

    /** Each reads another file, writes one, changes the engine, or reaches for the network. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT * FROM read_text('FOLDER/secret.txt')",
                "SELECT * FROM read_csv('FOLDER/secret.txt')",
                "SELECT * FROM 'FOLDER/other.parquet'",
                "SELECT * FROM glob('FOLDER/*')",
                "SELECT * FROM query('COPY (SELECT 1) TO ''FOLDER/new.csv''')",
                "COPY (SELECT 1) TO 'FOLDER/new.csv'",
                "COPY (SELECT 9 AS rank) TO 'FOLDER/t.parquet' (FORMAT parquet, USE_TMP_FILE false)",
                "SELECT 1; COPY (SELECT 9 AS rank) TO 'FOLDER/t.parquet' (FORMAT parquet, USE_TMP_FILE false)",
                "EXPLAIN ANALYZE COPY (SELECT 9 AS rank) TO 'FOLDER/t.parquet' (FORMAT parquet, USE_TMP_FILE false)",
                "ATTACH 'FOLDER/new.db'",
                "EXPORT DATABASE 'FOLDER/new'",
                "INSTALL httpfs",
                "LOAD httpfs",
                "SELECT * FROM read_parquet('http://127.0.0.1:9/x.parquet')",
                "SET enable_external_access = true",
                "PRAGMA enable_profiling",
                "CREATE TABLE x AS SELECT 1",
                "DROP VIEW t"
            })
    void confinedItReadsItsTablesAndWritesNothing(String sql) throws IOException {
        Files.writeString(folder.resolve("secret.txt"), "secret");
        Path file = folder.resolve("t.parquet");
        try (DuckEngine engine = DuckEngine.open(FleetEngine.Options.defaults())) {
            for (String name : List.of("t", "other")) {
                engine.execute("COPY (SELECT 3 AS rank) TO "
                        + DuckEngine.literal(folder.resolve(name + ".parquet").toString()) + " (FORMAT parquet)");
            }
            byte[] before = Files.readAllBytes(file);
            engine.table("t", List.of(file.toString()));
            assertThat(engine.confine()).isTrue();

            assertThatIOException()
                    .isThrownBy(() -> engine.query(sql.replace("FOLDER", folder.toString())))
                    .satisfies(failed -> assertThat(failed.getMessage())
                            .startsWith("DuckDB: ")
                            .doesNotContain("\n"));
            assertThat(engine.query("SELECT rank FROM t ORDER BY rank").rows()).containsExactly(List.of(3L));
            assertThat(file).hasBinaryContent(before);
        }
        try (Stream<Path> there = Files.list(folder)) {
            assertThat(there.map(path -> path.getFileName().toString()))
                    .containsExactlyInAnyOrder("secret.txt", "t.parquet", "other.parquet");
        }
    }

    @Test
    void confinedItSaysWhyAnotherStatementIsRefusedAndAnswersQueries() throws IOException {
        try (FleetEngine engine = DuckEngine.open(new FleetEngine.Options(64L << 20, 2, folder, null))) {
            engine.confine();

            assertThatIOException()
                    .isThrownBy(() -> engine.query("COPY (SELECT 1) TO 'x'"))
                    .withMessageEndingWith(
                            "; a query of a pack is one SELECT over its tables, which reads nothing else and writes"
                                    + " nothing");
            assertThat(engine.query("WITH x AS (SELECT 1 AS a) SELECT a, explode([2, 3]) AS b FROM x -- end")
                            .rows())
                    .containsExactly(List.of(1L, 2L), List.of(1L, 3L));
            assertThat(engine.query("SELECT max(a) FROM (SELECT range AS a FROM range(6000000) ORDER BY hash(range));")
                            .rows())
                    .containsExactly(List.of(5_999_999L));
            engine.view("v", "SELECT 5 AS a");
            assertThat(engine.query("FROM v").rows()).containsExactly(List.of(5L));
        }
    }

    @Test
    void nothingIsLeftInItsTemporaryFolder() throws IOException {
        FleetEngine.Options options = new FleetEngine.Options(64L << 20, 2, folder, null);
        try (FleetEngine engine = DuckEngine.open(options)) {
            // More data than fit: the excess is written there temporarily.
            engine.query("SELECT max(a) FROM (SELECT range AS a FROM range(6000000) ORDER BY hash(range))");
            assertThat(folder).isNotEmptyDirectory();
        }
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void anUnknownEngineIsRefusedWithThoseThatAreThere() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FleetEngine.open("oracle", FleetEngine.Options.defaults()))
                .withMessageStartingWith("there is no engine oracle here; there is duckdb");
    }

    @Test
    void withoutTheDriverOneLineSaysHowToGetIt() throws IOException {
        assertThatIOException()
                .isThrownBy(() -> DuckPlugin.find(Optional.empty(), Optional.of(folder)))
                .withMessage("fleets need DuckDB (it is no part of this jar); this gets it, once: brick fleet plugin");
        assertThatIOException()
                .isThrownBy(() -> DuckPlugin.find(Optional.of(folder.resolve("away")), Optional.empty()))
                .withMessageContaining("BRICK_DUCKDB names " + folder.resolve("away"))
                .withMessageEndingWith("brick fleet plugin --to DIR, then BRICK_DUCKDB=DIR");
    }

    @Test
    void theDriverIsFoundBesideTheJarAndWhereASettingSays() throws IOException {
        Path beside = Files.createFile(folder.resolve("duckdb_jdbc-2.0.0.1.jar"));
        Path named = Files.createFile(folder.resolve("other.jar"));

        assertThat(DuckPlugin.find(Optional.empty(), Optional.of(folder))).isEqualTo(beside);
        assertThat(DuckPlugin.find(Optional.of(named), Optional.of(folder))).isEqualTo(named);
        assertThat(DuckPlugin.find(Optional.of(folder), Optional.empty())).isEqualTo(beside);
    }
}
