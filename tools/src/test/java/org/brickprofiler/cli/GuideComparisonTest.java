package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.brickprofiler.cli.GuideShell.Part;
import org.brickprofiler.testing.OneJdk;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Runs the commands of docs/GUIDE.md that compare runs, and those on many ranks, which compare the same runs. */
@EnabledOnOs(
        value = {OS.LINUX, OS.MAC},
        disabledReason = "the commands are of a Unix shell")
@OneJdk
class GuideComparisonTest {

    @TempDir
    Path folder;

    @Test
    @Timeout(300)
    void runsAreComparedAndRanksToo() throws IOException {
        assertThat(new GuideShell(folder).run(Part.COMPARISON, 9))
                .contains("5 runs before, 5 after: ", ": no difference shown (--all lists them")
                .contains("With the profiler on, a token takes ", "net total")
                .containsPattern("2 ranks in 1 run, \\d+ windows?: no rank could be tested")
                .contains("Spread over ranks", "rank  brick ");
        assertThat(folder.resolve("fleet.html")).content().contains("\"run_id\":\"laptop\"");
        assertThat(folder.resolve("fleet.md")).content().startsWith("**2 ranks in 1 run");
        assertThat(folder.resolve("comment.md")).content().contains("\n5 runs before");
    }
}
