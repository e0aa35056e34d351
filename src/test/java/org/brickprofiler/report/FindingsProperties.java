package org.brickprofiler.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.regex.Pattern;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.domains.Domain;
import net.jqwik.api.domains.DomainContext;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.report.Finding.Kind;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.Snapshots;

/** What holds for the findings of any profile. */
@Domain(Snapshots.class)
@Domain(DomainContext.Global.class)
@OneJdk
class FindingsProperties {

    private static final Pattern SEVERAL_WORDS = Pattern.compile("^( \\d  |    |Next: )\\S+ \\S");

    @Property(tries = 300)
    void areFewRankedAndOfAWhole(@ForAll ProfileSnapshot snapshot) {
        List<Finding> found = Findings.of(snapshot);

        assertThat(found).hasSizeLessThanOrEqualTo(Findings.MOST).doesNotHaveDuplicates();
        assertThat(found).allSatisfy(finding -> {
            assertThat(finding.share()).isBetween(0.0, 1.0);
            assertThat(finding.share() >= Findings.LEAST_SHARE
                            || finding.kind().of().equals("none"))
                    .as(finding.toString())
                    .isTrue();
            assertThat(finding.sentence()).endsWith(".").doesNotContain("NaN", "Infinity");
        });
        for (int i = 1; i < found.size(); i++) {
            Finding above = found.get(i - 1);
            Finding below = found.get(i);
            assertThat(above.kind()).isNotIn(Kind.LARGEST_BRICK, Kind.NOTHING);
            if (above.kind().of().equals("requests") == below.kind().of().equals("requests")
                    && below.kind() != Kind.LARGEST_BRICK
                    && !above.kind().of().equals("none")) {
                assertThat(above.share()).isGreaterThanOrEqualTo(below.share());
            }
            if (below.kind().of().equals("requests")) {
                assertThat(above.kind().of()).isIn("requests", "none");
            }
        }
        // A line with one long name is longer.
        assertThat(Findings.text(found)
                        .lines()
                        .filter(line -> SEVERAL_WORDS.matcher(line).find()))
                .allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(100));
    }
}
