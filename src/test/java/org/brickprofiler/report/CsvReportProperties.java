package org.brickprofiler.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.domains.Domain;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.testing.Snapshots;
import org.brickprofiler.testing.Spec;

class CsvReportProperties {

    @Spec("8.4")
    @Property(tries = 300)
    @Domain(Snapshots.class)
    void givesBackNamesAndExactNumbers(@ForAll ProfileSnapshot snapshot) {
        List<List<String>> table = CsvTable.parse(CsvReport.toCsv(snapshot));
        List<String> header = table.get(0);

        assertThat(table).hasSize(1 + snapshot.bricks().size()).allMatch(line -> line.size() == header.size());
        for (int i = 0; i < snapshot.bricks().size(); i++) {
            BrickStats brick = snapshot.bricks().get(i);
            List<String> line = table.get(i + 1);
            assertThat(line.get(0).replaceFirst("^'", "")).isEqualTo(brick.name());
            assertThat(line.get(header.indexOf("count"))).isEqualTo(Long.toString(brick.count()));
            assertThat(line.get(header.indexOf("total_ns"))).isEqualTo(Long.toString(brick.totalNs()));
            assertThat(line).allMatch(cell -> !cell.matches("(?s)[=+@\\t\\r\\n-].*"));
        }
    }
}
