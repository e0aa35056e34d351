package org.brickprofiler.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.domains.Domain;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.Snapshots;
import org.brickprofiler.testing.Spec;

@Domain(Snapshots.class)
@OneJdk
final class JsonReportProperties {

    private static final ObjectMapper OTHER_PARSER = new ObjectMapper();

    @Spec("8.2")
    @Property(tries = 300)
    void writtenReportsAreReadBackExactly(@ForAll ProfileSnapshot snapshot) throws IOException {
        assertThat(JsonReport.fromJson(JsonReport.toJson(snapshot))).isEqualTo(snapshot);
        assertThat(JsonReport.fromJson(JsonReport.toCompactJson(snapshot, Map.of())))
                .isEqualTo(snapshot);
    }

    @Property(tries = 100)
    void everyProfileIsJsonForOtherParsers(@ForAll ProfileSnapshot snapshot) throws IOException {
        String json = JsonReport.toJson(snapshot);

        assertThat(json).doesNotContain("\r");
        JsonNode root = OTHER_PARSER.readTree(json);
        assertThat(root.get("bricks")).hasSameSizeAs(snapshot.bricks());
        for (int i = 0; i < snapshot.bricks().size(); i++) {
            assertThat(root.get("bricks").get(i).get("name").textValue())
                    .isEqualTo(snapshot.bricks().get(i).name());
        }
        assertThat(root.findValues("pct"))
                .allSatisfy(pct -> assertThat(pct.isNumber()).isTrue());
    }

    @Property(tries = 100)
    void sharesAddUpToTheWhole(@ForAll ProfileSnapshot snapshot) throws IOException {
        JsonNode root = OTHER_PARSER.readTree(JsonReport.toJson(snapshot));

        double whole = snapshot.netOrTotalNs() == 0 ? 0 : 100;
        assertThat(sumOfPct(root.get("bricks"))).isCloseTo(whole, within(1e-9));
        assertThat(sumOfPct(root.get("categories"))).isCloseTo(whole, within(1e-9));
    }

    private static double sumOfPct(JsonNode entries) {
        double sum = 0;
        for (JsonNode entry : entries) {
            sum += entry.get("pct").doubleValue();
        }
        return sum;
    }

    @Property(tries = 100)
    void everyProfileIsPrintableText(@ForAll ProfileSnapshot snapshot) {
        assertThat(TextReport.render(snapshot).split("\n", -1))
                .allSatisfy(line -> assertThat(line).matches("|[ -~]*[!-~]"));
    }
}
