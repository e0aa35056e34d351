package org.brickprofiler.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** Writes rows of a database as CSV, with texts that a spreadsheet would run, some of them in full-width forms. */
@Spec("8.4")
final class RowsCsvTest {

    @Test
    void textsAreMarkedAndQuotedAsInReportsAndNumbersStay() {
        Rows rows = new Rows(
                List.of("=1+1", "n", "\uff1dtotal"),
                List.of(
                        Arrays.asList("\uff1dcmd()", -5L, "plain"),
                        Arrays.asList("\uff0b1", -0.5, "a;=cmd()"),
                        Arrays.asList("\uff0d1", null, "\uff20x"),
                        Arrays.asList("'=1", true, "a,b"),
                        Arrays.asList("-1", 7L, "\t=1")));

        assertThat(RowsText.csv(rows).split("\r\n", -1))
                .containsExactly(
                        "'=1+1,n,'\uff1dtotal",
                        "'\uff1dcmd(),-5,plain",
                        "'\uff0b1,-0.5,\"a;=cmd()\"",
                        "'\uff0d1,,'\uff20x",
                        "''=1,true,\"a,b\"",
                        "'-1,7,\"'\t=1\"",
                        "");
    }
}
