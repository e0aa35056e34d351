package org.brickprofiler.trace;

import java.util.List;

/** The tables of the fields of slow steps and of lines of bricks, for tests of other packages. */
public final class EntryFields {

    private EntryFields() {}

    /** A table of fields. */
    public record Table(String title, List<Field> fields) {}

    /** A field, in words. */
    public record Field(String key, String meaning, String type, String written) {}

    /** Returns the tables of slow steps, the outermost first. */
    public static List<Table> slowSteps() {
        return tables(SlowStepJson.TABLES);
    }

    /** Returns the tables of the lines of bricks, the outermost first. */
    public static List<Table> lines() {
        return tables(LineProfileJson.TABLES);
    }

    private static List<Table> tables(List<JsonTable<?>> tables) {
        return tables.stream()
                .map(table -> new Table(
                        table.title(),
                        table.fields().stream()
                                .map(field -> new Field(field.key(), field.meaning(), field.type(), field.written()))
                                .toList()))
                .toList();
    }
}
