package org.brickprofiler.report.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;
import org.brickprofiler.testing.Spec;

/** Tables of any texts, read by a parser that is not part of this project. */
@Spec("8.4")
class CsvCellsProperties {

    @Provide
    Arbitrary<List<List<String>>> tables() {
        Arbitrary<String> delimiters = Arbitraries.strings()
                .withChars(",\"\r\n;\t '=+a#\\\u00e9\uff1d")
                .ofMaxLength(6);
        Arbitrary<String> any = Arbitraries.strings().ofMaxLength(4);
        return Arbitraries.oneOf(delimiters, any)
                .list()
                .ofMinSize(1)
                .ofMaxSize(5)
                .list()
                .ofMaxSize(6);
    }

    private static String csv(List<List<String>> table) {
        StringBuilder csv = new StringBuilder();
        table.forEach(line -> CsvCells.addLine(csv, line));
        return csv.toString();
    }

    private static List<List<String>> parsed(String csv) throws IOException {
        try (CSVParser parser = CSVParser.parse(csv, CSVFormat.RFC4180)) {
            return parser.stream().map(CSVRecord::toList).toList();
        }
    }

    @Property
    void anyTableOfTextsIsReadBack(@ForAll("tables") List<List<String>> table) throws IOException {
        List<List<String>> read = parsed(csv(table)).stream()
                .map(line -> line.stream()
                        .map(cell -> cell.startsWith("'") ? cell.substring(1) : cell)
                        .toList())
                .toList();
        assertThat(read).isEqualTo(table);
    }

    @Example
    void quotesProtectWhatReadersWouldSplitTrimOrSkip() {
        assertThat(csv(List.of(
                        List.of("a", "b c", ""),
                        List.of("a,b", "a;b", "a\tb", "a\r\nb"),
                        List.of("say \"a\"", " a", "a "),
                        List.of(""))))
                .isEqualTo(
                        "a,b c,\r\n\"a,b\",\"a;b\",\"a\tb\",\"a\r\nb\"\r\n\"say \"\"a\"\"\",\" a\",\"a \"\r\n\"\"\r\n");
    }
}
