package org.brickprofiler.trace.read;

import com.code_intelligence.jazzer.junit.DictionaryEntries;
import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import org.junit.jupiter.api.Timeout;

/**
 * Any bytes are read, or refused with the one exception that is documented. A bounded run is part of every build;
 * {@code -Dfuzz.duration=10m} makes it longer.
 */
final class TraceReaderFuzz {

    /** Small limits, so that inputs of a few kilobytes reach them. */
    private static final ReadLimits SMALL = new ReadLimits(20, 300, 5, 8, 6);

    private static final TraceRules RULES = TraceRules.parse("ignore <- args.stream=/^9$/\nx <- args.\"a b\"=/1/")
            .then(TraceRules.builtIn());

    /** The time is that of one input. */
    @Timeout(10)
    @FuzzTest(maxDuration = "20s")
    @DictionaryEntries({"\"traceEvents\":[", "\"ph\":\"X\"", "\"ph\":\"B\"", "\"ph\":\"E\"", "\"cat\":\"kernel\"",
        "\"ts\":", "\"dur\":", "\"tid\":", "\"args\":{\"bytes\":", "\"name\":\"ProfilerStep#1\"", "\"user_annotation\"",
        "1e999", "\"baseTimeNanoseconds\":1700000000000000000", "\"args\":{\"stream\":9}"})
    void readsOrRefuses(byte[] bytes) throws IOException {
        int variant = bytes.length % 3;
        read(bytes, ReadOptions.defaults().withKeepWarmup(variant == 1).withSkipSteps(variant == 2 ? 1 : 0));
        read(bytes, ReadOptions.defaults().withRules(RULES).withLimits(SMALL));
    }

    private static void read(byte[] bytes, ReadOptions options) throws IOException {
        try {
            TraceReading reading = TraceReader.read(new ByteArrayInputStream(bytes), options);
            Traces.assertAccounted(reading);
            if (!TraceText.render(reading).matches("(?:[ -~]*\n)+")) {
                throw new AssertionError("not printable: " + TraceText.render(reading));
            }
        } catch (TraceFormatException refused) {
            if (refused.offset() < 0) {
                throw new AssertionError("no offset", refused);
            }
        }
    }
}
