package org.brickprofiler.report;

import java.util.ArrayList;
import java.util.List;

/** Reads comma-separated values by the grammar of RFC 4180, section 2, and refuses everything else. */
final class CsvTable {

    private final String text;
    private int at;

    private CsvTable(String text) {
        this.text = text;
    }

    /** Returns the records, including the header. */
    static List<List<String>> parse(String text) {
        CsvTable table = new CsvTable(text);
        List<List<String>> records = new ArrayList<>();
        while (table.at < text.length()) {
            records.add(table.record());
        }
        return records;
    }

    private List<String> record() {
        List<String> fields = new ArrayList<>(List.of(field()));
        while (text.startsWith(",", at)) {
            at++;
            fields.add(field());
        }
        if (!text.startsWith("\r\n", at)) {
            throw new IllegalArgumentException("no CR LF at " + at + " of " + text);
        }
        at += 2;
        return fields;
    }

    private String field() {
        return text.startsWith("\"", at) ? escaped() : plain();
    }

    private String plain() {
        int begin = at;
        while (at < text.length() && ",\"\r\n".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        return text.substring(begin, at);
    }

    private String escaped() {
        StringBuilder field = new StringBuilder();
        at++;
        while (!text.startsWith("\"", at) || text.startsWith("\"\"", at)) {
            at += text.startsWith("\"", at) ? 1 : 0;
            field.append(text.charAt(at));
            at++;
        }
        at++;
        return field.toString();
    }
}
