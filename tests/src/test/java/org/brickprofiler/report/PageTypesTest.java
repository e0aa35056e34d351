package org.brickprofiler.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.domains.Domain;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.compare.ComparisonReport;
import org.brickprofiler.compare.ComparisonReportIT;
import org.brickprofiler.compare.RunComparison;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.PageTypes;
import org.brickprofiler.testing.Profiles;
import org.brickprofiler.testing.Snapshots;
import org.junit.jupiter.api.Test;

/** Compares the declarations that type-check the scripts of the pages with the data that Java writes. */
@OneJdk
class PageTypesTest {

    @Property(tries = 1, seed = "1", shrinking = ShrinkingMode.OFF)
    @Domain(Snapshots.class)
    void declareTheDataOfAProfile(@ForAll @Size(100) List<ProfileSnapshot> snapshots) throws IOException {
        PageTypes types = PageTypes.of("fields", "profile");
        for (ProfileSnapshot snapshot : snapshots) {
            types.check(HtmlReport.render(snapshot));
        }
        for (HtmlReport page : HtmlReportIT.pages()) {
            types.check(page.named("run.json").render());
        }
        types.assertAgree();
    }

    /** The script makes an object of each row of steps, by its columns. */
    @Test
    void declareColumnsOfSteps() throws IOException {
        JsonNode report = new ObjectMapper().readTree(JsonReport.toJson(Profiles.steps()));
        List<String> columns = new ArrayList<>();
        report.at("/steps/kept_columns").forEach(column -> columns.add(column.asText()));

        assertThat(columns).containsAll(PageTypes.of("fields", "profile").keys("KeptStep"));
    }

    @Test
    void declareTheDataOfAComparison() throws IOException {
        PageTypes types = PageTypes.of("comparison");
        for (RunComparison comparison : ComparisonReportIT.comparisons()) {
            types.check(ComparisonReport.toHtml(comparison));
        }
        types.assertAgree();
    }
}
