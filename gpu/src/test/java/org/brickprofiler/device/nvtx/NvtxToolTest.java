package org.brickprofiler.device.nvtx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.util.concurrent.atomic.LongAdder;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.VirtualThreadStarter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tools that cannot be used, or that want less than everything. */
class NvtxToolTest {

    private final String library = StandInTool.build();
    private final LongAdder withoutRange = new LongAdder();

    @AfterEach
    void behaveAsUsual() {
        StandInTool.behave(library, StandInTool.USUAL);
    }

    @Test
    void aLibraryThatIsNoToolIsRefusedByName() {
        assertThatIllegalStateException()
                .isThrownBy(() -> NvtxTool.attach("/no/such/tool.so"))
                .withMessageStartingWith("NVTX_INJECTION64_PATH=/no/such/tool.so: ")
                .withMessageContaining("/no/such/tool.so");
        assertThatIllegalStateException()
                .isThrownBy(() -> NvtxTool.attach("libc.so.6"))
                .withMessageStartingWith("NVTX_INJECTION64_PATH=libc.so.6: ")
                .withMessageContaining("InitializeInjectionNvtx2");
    }

    @Test
    void aToolThatWantsNoRangesIsNotUsed() {
        StandInTool.behave(library, StandInTool.REFUSES);
        assertThatIllegalStateException()
                .isThrownBy(() -> NvtxTool.attach(library))
                .withMessage("NVTX_INJECTION64_PATH=" + library + ": InitializeInjectionNvtx2 of the tool returned 0");
        StandInTool.behave(library, StandInTool.WANTS_NO_RANGES);
        assertThatIllegalStateException()
                .isThrownBy(() -> NvtxTool.attach(library))
                .withMessage("NVTX_INJECTION64_PATH=" + library + ": the tool does not want ranges of domains");
    }

    @Test
    void aToolWithoutRegisteredStringsGetsTexts() {
        StandInTool.behave(library, StandInTool.WANTS_NO_STRINGS);
        NvtxRanges ranges = new NvtxRanges(NvtxTool.attach(library), "without strings", new Numbers(), withoutRange);
        ranges.begin(4);
        ranges.began(1);
        ranges.end(1, 4);
        assertThat(StandInTool.lines(library)).anyMatch(line -> line.matches("push \\d+ \\d+ text:brick 4"));
        assertThat(withoutRange.sum()).isZero();
    }

    @Test
    void aThreadThatNeverStopsItsBricksDoesNotGrowWithoutEnd() {
        NvtxRanges ranges = new NvtxRanges(NvtxTool.attach(library), "unstopped", new Numbers(), withoutRange);
        for (int timer = 1; timer <= 600; timer++) {
            ranges.begin(1);
            ranges.began(timer);
        }
        assertThat(withoutRange.sum()).isEqualTo(512);
        ranges.end(600, 1);
        String domain = domainNamed("unstopped");
        assertThat(StandInTool.lines(library).stream().filter(line -> line.matches("push \\d+ " + domain + " .*")))
                .hasSize(600);
        assertThat(StandInTool.lines(library).stream().filter(line -> line.matches("pop \\d+ " + domain)))
                .hasSize(513);
    }

    private String domainNamed(String name) {
        return StandInTool.lines(library).stream()
                .filter(line -> line.matches("domain \\d+ " + name))
                .map(line -> line.split(" ", -1)[1])
                .findFirst()
                .orElseThrow();
    }

    @Test
    void bricksOnVirtualThreadsHaveNoRanges() throws Exception {
        VirtualThreadStarter virtual = VirtualThreadStarter.orSkip();
        NvtxRanges ranges = new NvtxRanges(NvtxTool.attach(library), "virtual", new Numbers(), withoutRange);
        try (CapturedLog log = new CapturedLog()) {
            virtual.start(() -> {
                        ranges.beginStep("decode");
                        ranges.begin(1);
                        ranges.began(5);
                        ranges.end(5, 1);
                        ranges.endPass(true);
                    })
                    .join();
            assertThat(log.linesWith("bricks on virtual threads have no ranges"))
                    .isOne();
        }
        assertThat(withoutRange.sum()).isOne();
        assertThat(StandInTool.lines(library))
                .noneMatch(line -> line.matches("push \\d+ " + domainNamed("virtual") + " .*"));
    }

    @Test
    void withoutAToolTheSettingChangesNothing() {
        assumeThat(System.getenv(NvtxTool.VARIABLE)).isNull();
        try (CapturedLog log = new CapturedLog()) {
            BrickProfiler profiler = BrickProfiler.builder().nvtx(true).build();
            profiler.enable();
            profiler.stopBrick(profiler.startBrick(BrickId.SAMPLING), 1);
            assertThat(profiler.brickStats(BrickId.SAMPLING).count()).isOne();
            assertThat(log.linesWith("no tool sees the bricks as ranges of NVTX: NVTX_INJECTION64_PATH is not set"))
                    .isOne();
        }
    }

    /** Names each key by its number. */
    private static final class Numbers implements SpanSink.Names {
        @Override
        public int size() {
            return 10;
        }

        @Override
        public String name(int key) {
            return "brick " + key;
        }

        @Override
        public String category(int key) {
            return "OTHER";
        }
    }
}
