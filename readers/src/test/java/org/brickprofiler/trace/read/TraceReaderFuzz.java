package org.brickprofiler.trace.read;

import com.code_intelligence.jazzer.junit.DictionaryEntries;
import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import org.brickprofiler.trace.write.ChromeWriter;
import org.brickprofiler.trace.write.PerfettoWriter;
import org.brickprofiler.trace.write.TraceFiles;
import org.junit.jupiter.api.Timeout;

/**
 * Any bytes are read, or refused with the one exception that is documented. A bounded run is part of every build;
 * {@code -Dfuzz.duration=10m} makes it longer.
 */
final class TraceReaderFuzz {

    /** Small limits, so that inputs of a few kilobytes reach them. */
    private static final ReadOptions.Limits SMALL = new ReadOptions.Limits(20, 300, 5, 8, 6);

    /** Fewer events than most inputs contain, so that most events go through a file. */
    private static final int KEPT_EVENTS = 3;

    private static final TraceRules RULES = TraceRules.parse("ignore <- args.stream=/^9$/\nx <- args.\"a b\"=/1/")
            .then(TraceRules.builtIn());

    /** The timeout applies to one input. */
    @Timeout(10)
    @FuzzTest(maxDuration = "20s")
    @DictionaryEntries({
        "\"traceEvents\":[",
        "\"ph\":\"X\"",
        "\"ph\":\"B\"",
        "\"ph\":\"E\"",
        "\"cat\":\"kernel\"",
        "\"ts\":",
        "\"dur\":",
        "\"tid\":",
        "\"args\":{\"bytes\":",
        "\"name\":\"ProfilerStep#1\"",
        "\"user_annotation\"",
        "{\"g\":{\"TOTAL_KERNEL_TIME\":\"7\",\"g.t\":{\"TASK_KERNEL_TIME\":\"7\"",
        "1e999",
        "\"baseTimeNanoseconds\":1700000000000000000",
        "\"args\":{\"stream\":9}"
    })
    void readsOrRefuses(byte[] bytes) throws IOException {
        int variant = bytes.length % 3;
        read(bytes, ReadOptions.defaults().withKeepWarmup(variant == 1).withSkipSteps(variant == 2 ? 1 : 0));
        read(bytes, ReadOptions.defaults().withRules(RULES).withLimits(SMALL));
        timeline(bytes);
    }

    /** A trace that was read can be written in either format and with either origin. */
    private static void timeline(byte[] bytes) throws IOException {
        try (TraceTimeline reading =
                TraceReader.timeline(new ByteArrayInputStream(bytes), ReadOptions.defaults(), KEPT_EVENTS)) {
            PerfettoWriter.write(reading.timeline(), OutputStream.nullOutputStream(), TraceFiles.Origin.OWN);
            ChromeWriter.write(reading.timeline(), OutputStream.nullOutputStream(), TraceFiles.Origin.OTHER);
            if (!reading.differences().matches("[ -~]*")) {
                throw new AssertionError("not printable: " + reading.differences());
            }
        } catch (TraceFormatException refused) {
            if (refused.offset() < 0) {
                throw new AssertionError("no offset", refused);
            }
        }
    }

    private static void read(byte[] bytes, ReadOptions options) throws IOException {
        try {
            TraceProfile reading = TraceReader.profile(new ByteArrayInputStream(bytes), options);
            Traces.assertAccounted(reading);
            if (!reading.summary().matches("(?:[ -~]*\n)+")) {
                throw new AssertionError("not printable: " + reading.summary());
            }
        } catch (TraceFormatException refused) {
            if (refused.offset() < 0) {
                throw new AssertionError("no offset", refused);
            }
        }
    }
}
