package org.brickprofiler.metrics.prometheus;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.access.ProfilerAccess;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.Fixture;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.SourceTree;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The alerts beside the metrics. */
@OneJdk
class AlertsTest {

    private static final Path RULES = SourceTree.path("metrics", "alerts", "brick.rules.yml");
    private static final Path TESTS = SourceTree.path("metrics", "alerts", "brick.rules.test.yml");

    @TempDir
    private Path folder;

    private ProcessResult test(String rules) throws IOException {
        Fixture.PROMETHEUS.needProgram("promtool");
        Files.writeString(folder.resolve("brick.rules.yml"), rules);
        Path tests = Files.copy(TESTS, folder.resolve("test.yml"));
        return ChildProcess.of("promtool")
                .arguments(List.of("test", "rules", tests.toString()))
                .run();
    }

    @Test
    void theirTestsPass() throws IOException {
        ProcessResult result = test(Files.readString(RULES));
        assertThat(result.exitCode()).as(result.output() + result.err()).isZero();
    }

    @Test
    void theirTestsFindAChangedBound() throws IOException {
        String rules = Files.readString(RULES);
        for (String bound : List.of("> 2\n", "> 10\n", "== 0\n")) {
            assertThat(rules).containsOnlyOnce(bound);
            ProcessResult result = test(rules.replace(bound, "> 1000\n"));
            assertThat(result.exitCode()).as(bound).isNotZero();
            Files.delete(folder.resolve("test.yml"));
        }
    }

    /** A series that no page has would never raise an alert. */
    @Test
    void eachOfTheirSeriesIsOnThePage() throws IOException {
        BrickProfiler profiler = BrickProfiler.enabled();
        long request = profiler.requests().arrived(1);
        profiler.beginStep(StepInfo.prefill(1));
        profiler.requests().inStep(request, 1);
        profiler.endPass();
        profiler.requests().finished(request, Outcome.COMPLETED);
        String page = new MetricsPage().render(ProfilerAccess.sums(profiler), MetricsPage.Format.PROMETHEUS);

        Set<String> series = Pattern.compile("\\b(?:brick|gen_ai)_[a-z_]+")
                .matcher(Files.readString(RULES))
                .results()
                .map(MatchResult::group)
                .collect(Collectors.toSet());
        assertThat(series).hasSizeGreaterThan(4).allSatisfy(each -> assertThat(page)
                .containsPattern("(?m)^" + each + "[ {]"));
    }
}
