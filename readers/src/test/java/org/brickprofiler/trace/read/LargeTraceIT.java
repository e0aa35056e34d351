package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.ProcessResult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A trace that is more than twice as large as the heap it is read in. */
@Timeout(110)
@OneJdk
final class LargeTraceIT {

    private static final String HEAP = "-Xmx32m";
    private static final long KERNELS = 102_400;
    private static final long LEAST_BYTES = 80_000_000;

    @TempDir
    Path folder;

    @Test
    void isReadInASmallHeapAndLeavesNoFile() throws IOException {
        List<String> figures = run("profile", KERNELS, 100);

        assertThat(Long.parseLong(figures.get(0))).isGreaterThan(LEAST_BYTES);
        assertThat(figures.subList(1, figures.size()))
                .containsExactly(
                        Long.toString(4 * KERNELS + 1),
                        Long.toString(KERNELS),
                        Long.toString(3_000 * KERNELS),
                        Long.toString(3_000 * KERNELS),
                        Long.toString(5_000 * (KERNELS - 1) + 3_000),
                        "100",
                        "0");
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void itsTimelineIsReadInASmallHeapToo() throws IOException {
        List<String> figures = run("timeline", KERNELS, 100);

        assertThat(Long.parseLong(figures.get(0))).isGreaterThan(LEAST_BYTES);
        assertThat(figures.subList(1, 6))
                .containsExactly(
                        Long.toString(4 * KERNELS + 1),
                        Long.toString(2 * KERNELS),
                        Long.toString(2 * KERNELS),
                        Long.toString((3_000 + 2_125) * KERNELS),
                        Long.toString(KERNELS));
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void moreNamesThanAreKeptFitToo() throws IOException {
        List<String> figures = run("profile", KERNELS, (int) KERNELS);

        assertThat(figures.get(2)).isEqualTo(Long.toString(KERNELS));
        assertThat(figures.get(6)).isEqualTo("4059");
    }

    @Test
    void aLogOfTornadoVmIsReadInASmallHeapToo() throws IOException {
        ProcessResult process = ChildProcess.java(TornadoLog.class)
                .jvmOptions(List.of(HEAP))
                .arguments(List.of("300000"))
                .run()
                .assertSucceeded();

        assertThat(process.output().strip()).isEqualTo("3000000 30000000 1500000 60000000");
    }

    @Test
    void anExportOfNsightIsReadInASmallHeapToo() throws Exception {
        Path file = folder.resolve("export.sqlite");
        try (NsightExport export = new NsightExport(file)) {
            long thread = NsightExport.globalTid(1, 1);
            long process = NsightExport.globalPid(1);
            int kernel = export.string("my_kernel");
            String numbers = "WITH RECURSIVE i(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM i WHERE n < 99999) ";
            export.execute(
                    numbers + "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 100 * n + 50, 100 * n + 57, 0, 7, n, "
                            + process + ", " + kernel + ", " + kernel + ", NULL FROM i");
            export.execute(numbers + "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT 100 * n, 100 * n + 10, 0, "
                    + thread + ", n, " + kernel + " FROM i");
            // Five ranges around each launch, the innermost first. All innermost ranges have one name; the names of the
            // others are all different.
            for (int around = 0; around < 5; around++) {
                String name = around == 0 ? "'inner'" : "'outer ' || n";
                export.execute(numbers + "INSERT INTO NVTX_EVENTS SELECT 100 * n - " + around + ", 100 * n + 20 + "
                        + around + ", 59, NULL, " + name + ", " + thread + ", NULL, NULL, NULL FROM i");
            }
        }
        ProcessResult process = ChildProcess.java(NsightExport.class)
                .jvmOptions(List.of("-Xmx96m"))
                .arguments(List.of(file.toString()))
                .run()
                .assertSucceeded();

        assertThat(process.out().strip()).isEqualTo("700000 100000 700000 0");
    }

    private List<String> run(String view, long kernels, int names) throws IOException {
        ProcessResult process = ChildProcess.java(LargeTrace.class)
                .jvmOptions(List.of("-XX:-UsePerfData", HEAP, "-Djava.io.tmpdir=" + folder))
                .arguments(List.of(view, Long.toString(kernels), Integer.toString(names)))
                .run()
                .assertSucceeded();
        return Pattern.compile(" ").splitAsStream(process.output().strip()).toList();
    }
}
