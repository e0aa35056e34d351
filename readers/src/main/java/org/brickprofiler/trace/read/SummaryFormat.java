package org.brickprofiler.trace.read;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The formats of summaries without bricks. Patterns in the beginning of a text identify its format. Stateless; any
 * thread.
 */
enum SummaryFormat {
    /** The tests of llama-bench, as an array or with one object on each line. */
    LLAMA_BENCH(true, "\"n_gen\"\\s*:", "\"avg_ns\"\\s*:") {
        @Override
        RunSummary read(BufferedInputStream text, String source) throws IOException {
            return JsonSummaries.llamaBench(text, source);
        }
    },
    /**
     * The result of {@code vllm bench serve}, and of SGLang's program that is modelled on it. If the result has
     * details, lists of all requests precede the means.
     */
    VLLM_BENCH(true, "\"(mean_ttft_ms|total_input_tokens)\"\\s*:", "\"output_throughput\"\\s*:") {
        @Override
        RunSummary read(BufferedInputStream text, String source) throws IOException {
            return JsonSummaries.vllmBench(text, source);
        }
    },
    /** Responses of Ollama. Only the last object of a streamed response has times. */
    OLLAMA(
            true,
            "\"total_duration\"\\s*:|\"created_at\"\\s*:",
            "\"eval_duration\"\\s*:|\"done\"\\s*:\\s*(false|true)") {
        @Override
        RunSummary read(BufferedInputStream text, String source) throws IOException {
            return JsonSummaries.ollama(text, source);
        }
    },
    /** The times of the runs of a TensorRT engine. */
    TENSOR_RT_TIMES(true, "\\A\\s*\\[\\s*\\{\\s*\"start(Enq|In)Ms\"\\s*:") {
        @Override
        RunSummary read(BufferedInputStream text, String source) throws IOException {
            return JsonSummaries.tensorRtTimes(text, source);
        }
    },
    /** A log of llama.cpp: of its server, or of a program that prints llama_perf. */
    LLAMA_LOG(
            false,
            "(?m)^.{0,160}\\b(llama_(perf|print|context|model|new)|ggml_vulkan:|load_backend:|llm_load_|slot +print_timing:)") {
        @Override
        RunSummary read(BufferedInputStream text, String source) throws IOException {
            return LlamaLogSummary.read(text, source);
        }
    };

    /** A key of Chrome's traces, whose arguments may have any other key. */
    private static final Pattern EVENT = Pattern.compile("\"(traceEvents|ph)\"\\s*:");

    private final boolean isJson;
    private final Pattern sign;
    private final Pattern further;

    SummaryFormat(boolean isJson, String sign) {
        this(isJson, sign, "");
    }

    SummaryFormat(boolean isJson, String sign, String further) {
        this.isJson = isJson;
        this.sign = Pattern.compile(sign);
        this.further = Pattern.compile(further);
    }

    /**
     * Reads a summary.
     *
     * @param text the text, unpacked; left open
     * @param source its name in messages
     */
    abstract RunSummary read(BufferedInputStream text, String source) throws IOException;

    /** Returns the format of a text by its beginning, one character for each byte; null for any other text. */
    static @Nullable SummaryFormat of(String head) {
        String begin = head.stripLeading();
        boolean isJson = begin.startsWith("{") || begin.matches("(?s)\\[\\s*\\{.*");
        boolean isTrace = SumTables.begins(head, isJson) || (isJson ? isTrace(head) : TornadoParser.beginsIn(head));
        if (isTrace || !ForeignText.isText(head)) {
            return null;
        }
        for (SummaryFormat format : values()) {
            if (format.isJson == isJson && format.is(head)) {
                return format;
            }
        }
        return null;
    }

    /** Returns whether a text has a key of Chrome's traces. */
    static boolean isTrace(String head) {
        return EVENT.matcher(head).find();
    }

    private boolean is(String head) {
        return sign.matcher(head).find() && further.matcher(head).find();
    }
}
