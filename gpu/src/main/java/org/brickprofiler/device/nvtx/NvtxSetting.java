package org.brickprofiler.device.nvtx;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.internal.record.BrickRanges;
import org.brickprofiler.internal.record.SettingAction;
import org.brickprofiler.internal.record.SpanSink;
import org.jspecify.annotations.Nullable;

/** Gives profilers ranges of NVTX while a tool listens. Any thread. */
public final class NvtxSetting extends SettingAction {

    private static final Log LOG = Log.of(NvtxSetting.class);

    /** The number of profilers with ranges: each has a domain of its own, since ranges nest within a domain. */
    private static final AtomicInteger DOMAINS = new AtomicInteger();

    /** The bricks of all profilers that were started or stopped without a range. */
    private static final LongAdder WITHOUT_RANGE = new LongAdder();

    /** The tool, loaded once in a process. */
    private static final class Attached {
        static final @Nullable NvtxTool TOOL = attach();

        private static @Nullable NvtxTool attach() {
            try {
                NvtxTool tool = NvtxTool.attach();
                if (tool == null) {
                    LOG.info("no tool sees the bricks as ranges of NVTX: {} is not set", NvtxTool.VARIABLE);
                } else {
                    Runtime.getRuntime()
                            .addShutdownHook(new Thread(NvtxSetting::logWithoutRange, "brick-nvtx-summary"));
                }
                return tool;
            } catch (IllegalStateException | LinkageError refused) {
                LOG.warn("no tool sees the bricks as ranges of NVTX: {}", refused.getMessage());
                return null;
            }
        }
    }

    private static void logWithoutRange() {
        long count = WITHOUT_RANGE.sum();
        if (count > 0) {
            LOG.warn("{} had no range of NVTX", Plural.of(count, "brick"));
        }
    }

    /** Creates the action, for the service loader. */
    public NvtxSetting() {
        super(NVTX);
    }

    @Override
    protected @Nullable BrickRanges createRanges(SpanSink.Names names) {
        NvtxTool tool = Attached.TOOL;
        if (tool == null) {
            return null;
        }
        int number = DOMAINS.incrementAndGet();
        String domain = number == 1 ? "Brick Profiler" : "Brick Profiler " + number;
        return new NvtxRanges(tool, domain, names, WITHOUT_RANGE);
    }
}
