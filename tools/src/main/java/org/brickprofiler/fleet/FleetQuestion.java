package org.brickprofiler.fleet;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Queries of the tables of a fleet: SQL that every engine runs unchanged, with the same results. Each constant has a
 * file of its name beside this class, and so has each view that it uses. A view that is used twice is in a WITH clause:
 * DuckDB computes a WITH clause once, but a view at each use.
 */
enum FleetQuestion {
    /** The steps of all ranks by phase. */
    PHASES,
    /** How long the requests of each rank waited, by cause. */
    REQUESTS,
    /** The bricks of all ranks, windows and runs together, of all samples and by phase. */
    BRICKS("brick_part", "brick_error", "brick_sum"),
    /** The buckets of the percentiles of the bricks. */
    PERCENTILES("brick_part"),
    /** The fastest, the middle and the slowest rank of each brick, of all samples and by phase. */
    SPREAD("brick_part"),
    /** The time in which each rank computed, communicated, and was idle. */
    SHARES,
    /** How bricks changed from the first third of the windows to the last. */
    DRIFT("numbered_window"),
    /** The time of each brick on each rank. */
    RANK_BRICKS,
    /** The time of each brick in each part of the windows. */
    WINDOWS("numbered_window"),
    /** How many measurements the bricks of each rank lack. */
    LOSSES("estimated_window", "checked_brick", "incomplete_window"),
    /** Candidates for a rank that is slow in a brick, or in all. */
    STRAGGLER_BRICKS("numbered_window", "run_rank", "estimated_window", "checked_brick", "brick_stand"),
    /** Candidates for a rank that becomes slower, or faster, in a brick or in all. */
    STRAGGLER_DRIFT("numbered_window", "run_rank", "estimated_window", "checked_brick", "brick_stand"),
    /** In which windows a rank is slow in a brick. */
    STRAGGLER_BRICK_WINDOWS(
            "numbered_window", "run_rank", "estimated_window", "checked_brick", "brick_stand", "rank_stand"),
    /** The deviation of each rank, and its slow windows. */
    STRAGGLER_RANKS("run_rank", "estimated_window", "checked_brick", "rank_stand"),
    /** How long collectives take on each host. */
    STRAGGLER_LINKS("numbered_window", "run_rank", "estimated_window", "checked_brick", "incomplete_window"),
    /** The identity of each run. */
    RUNS,
    /** The bricks of each run. */
    RUN_BRICKS("brick_part", "brick_error", "brick_sum"),
    /** The steps of each run. */
    RUN_STEPS;

    /** The views, each after the views that it uses. */
    @SuppressWarnings("ImmutableEnumChecker") // List.of makes no other one
    private final List<String> views;

    FleetQuestion(String... views) {
        this.views = List.of(views);
    }

    private static String sql(String name) {
        String file = name + ".sql";
        try (InputStream in = FleetQuestion.class.getResourceAsStream(file)) {
            return new String(Objects.requireNonNull(in, file).readAllBytes(), UTF_8);
        } catch (IOException damaged) {
            throw new IllegalStateException("cannot read " + file, damaged);
        }
    }

    /** Creates the views that the query uses, and executes it. */
    Rows answer(FleetEngine engine) throws IOException {
        for (String view : views) {
            engine.view(view, sql(view));
        }
        return engine.query(sql(name().toLowerCase(Locale.ROOT)));
    }

    /** Returns the rows of the result. */
    List<Row> ask(FleetEngine engine) throws IOException {
        return rows(answer(engine));
    }

    /** Returns the rows of an answer. */
    static List<Row> rows(Rows answer) {
        Map<String, Integer> columns = new HashMap<>();
        answer.columns().forEach(column -> columns.put(column, columns.size()));
        List<Row> rows = new ArrayList<>();
        for (List<@Nullable Object> values : answer.rows()) {
            rows.add(new Row(columns, values));
        }
        return rows;
    }

    /** One row, by the names of its columns. Immutable. */
    static final class Row {

        private final Map<String, Integer> columns;
        private final List<@Nullable Object> values;

        private Row(Map<String, Integer> columns, List<@Nullable Object> values) {
            this.columns = columns;
            this.values = values;
        }

        private @Nullable Object value(String column) {
            return values.get(Objects.requireNonNull(columns.get(column), column));
        }

        /** Returns a whole number that is not null. */
        long number(String column) {
            return ifNumber(column).orElseThrow(() -> new IllegalStateException("no " + column));
        }

        OptionalLong ifNumber(String column) {
            return value(column) instanceof Number number ? OptionalLong.of(number.longValue()) : OptionalLong.empty();
        }

        OptionalDouble ifReal(String column) {
            return value(column) instanceof Number number
                    ? OptionalDouble.of(number.doubleValue())
                    : OptionalDouble.empty();
        }

        /** Returns a text that is not null. */
        String text(String column) {
            return ifText(column).orElseThrow(() -> new IllegalStateException("no " + column));
        }

        Optional<String> ifText(String column) {
            return Optional.ofNullable(value(column)).map(Object::toString);
        }
    }
}
