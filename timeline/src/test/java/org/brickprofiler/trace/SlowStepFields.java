package org.brickprofiler.trace;

import java.util.List;

/** The tables of the fields of slow steps, for tests of other packages. */
public final class SlowStepFields {

    private SlowStepFields() {}

    /** A table of fields. */
    public record Table(String title, List<Field> fields) {}

    /** A field, in words. */
    public record Field(String key, String meaning, String type, String written) {}

    /** Returns all tables, the outermost first. */
    public static List<Table> all() {
        return SlowStepJson.TABLES.stream()
                .map(table -> new Table(
                        table.title(),
                        table.fields().stream()
                                .map(field -> new Field(field.key(), field.meaning(), field.type(), field.written()))
                                .toList()))
                .toList();
    }
}
