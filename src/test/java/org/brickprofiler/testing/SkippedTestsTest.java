package org.brickprofiler.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

/** A test without its fixture is skipped, regardless of its clean-up, and the build's last line names it. */
class SkippedTestsTest {

    private static final Instant BEGIN = Instant.parse("2026-01-02T03:04:05Z");

    /** The report on a test that was skipped for another reason. */
    private static final String OTHER =
            skipped("org.opentest4j.TestAbortedException: Assumption failed: this JDK has no virtual threads");

    @TempDir
    Path folder;

    /** Sets nothing up, and therefore fails to clean up. */
    static class WithoutFixture {

        @BeforeEach
        void setUp() {
            throw new Fixture.Missing("not here");
        }

        @AfterEach
        void cleanUp() {
            throw new IllegalStateException("there is nothing to close");
        }

        @Test
        void one() {}
    }

    /** Works, and then fails to clean up. */
    static class BadCleanUp {

        @AfterEach
        void cleanUp() {
            throw new IllegalStateException("still open");
        }

        @Test
        void one() {}
    }

    private static Events run(Class<?> tests) {
        return EngineTestKit.engine("junit-jupiter")
                .enableImplicitConfigurationParameters(true)
                .selectors(selectClass(tests))
                .execute()
                .testEvents();
    }

    @Test
    void aTestWithoutItsFixtureIsSkippedDespiteExceptionsInItsCleanUp() {
        run(WithoutFixture.class)
                .assertStatistics(tests -> tests.started(1).aborted(1).failed(0));
    }

    @Test
    void anyOtherFailureToCleanUpFailsTheTest() {
        run(BadCleanUp.class)
                .assertStatistics(tests -> tests.started(1).aborted(0).failed(1));
    }

    private static String skippedFor(String reason) {
        return skipped("org.brickprofiler.testing.Fixture$Missing: " + reason);
    }

    /** Returns a skipped test as Surefire reports it. */
    private static String skipped(String thrown) {
        return "<testcase name=\"t\"><skipped type=\"T\"><![CDATA[" + thrown + "\n\tat a.B.c(B.java:1)\n]]></skipped>"
                + "</testcase>";
    }

    private void report(String name, String... cases) throws IOException {
        Path report = folder.resolve(name);
        Files.createDirectories(report.getParent());
        Files.writeString(
                report,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite>" + String.join("", cases) + "</testsuite>");
        Files.setLastModifiedTime(report, FileTime.from(BEGIN));
    }

    private Optional<String> sentence() throws Exception {
        return SkippedTests.sentence(List.of(folder.resolve("unit"), folder.resolve("integration")), BEGIN);
    }

    @Test
    void namesTheNumberOfEachFixtureAndThePackagesToInstall() throws Exception {
        report("unit/TEST-a.xml", skippedFor("the simulated CUDA driver: no program cc"), "<testcase name=\"u\"/>");
        report("unit/TEST-b.xml", skippedFor("Graphviz: no program dot"), OTHER);
        report("integration/TEST-c.xml", skippedFor("the simulated CUDA driver: no program cc"));

        assertThat(sentence())
                .contains("Skipped 3 tests: 2 of the simulated CUDA driver, 1 of Graphviz. "
                        + "What they need, on Debian or Ubuntu (amd64): sudo apt-get install gcc graphviz libc6-dev");
    }

    @Test
    void printsNothingIfNoFixtureWasMissing() throws Exception {
        assertThat(sentence()).isEmpty();

        report("unit/TEST-a.xml", "<testcase name=\"t\"/>", OTHER);
        report("unit/summary.xml", skippedFor("Graphviz: no program dot"));
        assertThat(sentence()).isEmpty();
    }

    @Test
    void reportsOfEarlierBuildsDoNotCount() throws Exception {
        report("unit/TEST-a.xml", skippedFor("Graphviz: no program dot"));
        Files.setLastModifiedTime(folder.resolve("unit/TEST-a.xml"), FileTime.from(BEGIN.minusSeconds(1)));

        assertThat(sentence()).isEmpty();
    }

    @Test
    void theReasonNamesTheFixture() {
        String before = System.getProperty("brick.native.required", "");
        try {
            System.setProperty("brick.native.required", "false");
            assertThatThrownBy(() -> Fixture.METAL.needProgram("no-such-program"))
                    .isInstanceOf(Fixture.Missing.class)
                    .hasMessage("the simulated Metal: no program no-such-program");
            System.setProperty("brick.native.required", "true");
            assertThatThrownBy(() -> Fixture.METAL.needProgram("no-such-program"))
                    .isInstanceOf(AssertionError.class)
                    .hasMessage("the simulated Metal: no program no-such-program");
        } finally {
            System.setProperty("brick.native.required", before);
        }
    }
}
