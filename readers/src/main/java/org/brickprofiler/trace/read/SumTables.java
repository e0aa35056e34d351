package org.brickprofiler.trace.read;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.util.regex.Pattern;

/**
 * The formats that hold sums of kernels and no timeline: the profile of TensorRT's {@code trtexec}, tables that
 * {@code nsys stats} writes as CSV, the log of llama.cpp's Vulkan logger, and the summary of Intel's {@code unitrace}.
 * Stateless; any thread.
 */
enum SumTables {
    /** The layers of a TensorRT engine. */
    TENSOR_RT("\\A\\s*\\[\\s*\\{\\s*\"count\"\\s*:\\s*\\d+\\s*\\}", true) {
        @Override
        void read(BufferedInputStream text, EventCollector collector) throws IOException {
            TensorRtParser.parse(text, collector);
        }
    },
    /** Tables of {@code nsys stats}, after any text. */
    NSYS_STATS("(?m)^\"?Time ?\\(%\\)\"?[,;\\t]\"?Total Time \\([a-z]+\\)\"?[,;\\t]", false) {
        @Override
        void read(BufferedInputStream text, EventCollector collector) throws IOException {
            NsysStatsParser.parse(text, collector);
        }
    },
    /** Blocks of llama.cpp's Vulkan logger, among other text. */
    VULKAN("(?m)^.{0,160}?Vulkan Timings:\\s*$", false) {
        @Override
        void read(BufferedInputStream text, EventCollector collector) throws IOException {
            VulkanLogParser.parse(text, collector);
        }
    },
    /** The summary of {@code unitrace --device-timing}. */
    UNITRACE("(?m)^=== Device Timing Summary ===", false) {
        @Override
        void read(BufferedInputStream text, EventCollector collector) throws IOException {
            UnitraceParser.parse(text, collector);
        }
    };

    private final Pattern sign;
    private final boolean isJson;

    SumTables(String sign, boolean isJson) {
        this.sign = Pattern.compile(sign);
        this.isJson = isJson;
    }

    /** Reads a text of this format. */
    abstract void read(BufferedInputStream text, EventCollector collector) throws IOException;

    boolean is(String head) {
        return sign.matcher(head).find();
    }

    /**
     * Returns whether a text has one of these formats.
     *
     * @param head its beginning, one character for each byte
     * @param isJson whether it begins as JSON does
     */
    static boolean begins(String head, boolean isJson) {
        for (SumTables format : values()) {
            if (format.isJson == isJson && format.is(head)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Reads all rows.
     *
     * @param text the text, unpacked; left open
     * @param head its beginning, in which one of the formats was found
     * @param collector receives the events
     * @throws TraceFormatException when a row is damaged, or the view needs times
     * @throws IOException when the text cannot be read
     */
    static void parse(BufferedInputStream text, String head, EventCollector collector) throws IOException {
        for (SumTables format : values()) {
            if (format.is(head)) {
                format.read(text, collector);
                return;
            }
        }
    }
}
