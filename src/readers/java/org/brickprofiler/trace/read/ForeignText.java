package org.brickprofiler.trace.read;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.internal.io.PlainText;
import org.jspecify.annotations.Nullable;

/**
 * Recognises texts that are no trace, such as tables, pages and logs of profilers, and names the file to read instead.
 */
final class ForeignText {

    private static final int LONGEST_QUOTE = 60;

    /** The byte order mark of UTF-8, one character for each byte. */
    private static final String BYTE_ORDER_MARK = "\u00ef\u00bb\u00bf";

    /** The length of a printable beginning that shows that a file is text, not a binary format. */
    private static final int LEAST_TEXT = 16;

    private static final String WHAT_IS_READ =
            "read are Chrome's JSON, Perfetto's format, flight recordings, SQLite exports"
                    + " of Nsight Systems, profiles of XLA and of AMD's tools, TornadoVM's profiles, and sums of trtexec,"
                    + " nsys stats, unitrace and llama.cpp's Vulkan logger";

    /** The texts of profilers by a sign in their first lines; the first match decides. */
    private static final List<Known> KNOWN = List.of(
            known(
                    "==PROF==|\"Metric Name\",|\"Kernel Name\",\"Context\"",
                    "it holds what Nsight Compute (ncu) measured of kernels that it replayed one by one at a locked"
                            + " clock: these are no times of a run; record the run with Nsight Systems, and read its"
                            + " SQLite export or the CSV of nsys stats"),
            known(
                    "(?m)^ *Time ?\\(%\\) +Total Time",
                    "it is a table of nsys stats in columns; write it with nsys stats --format csv, and read that"
                            + " file"),
            known(
                    "\\A\\s*\"?(Kind|Domain)\"?,\"?(Agent_Id|Function|Direction|Thread_Id)",
                    "it is a table (CSV) of rocprofv3 without starts and ends; read the tables of its events, such as"
                            + " ..._kernel_trace.csv"),
            known(
                    "\\A\\s*\"?(Index\"?,\"?KernelName|Name\"?,\"?(Calls|TotalDuration))",
                    "it is a table (CSV) of sums that AMD's rocprof or rocprofv3 writes; read the table of the events,"
                            + " such as ..._kernel_trace.csv"),
            known(
                    "=== (Host|API|L0|Kernel)[A-Za-z ]* (Timing|Summary|Properties)",
                    "it is a summary of unitrace without the times of kernels; record with unitrace --device-timing"
                            + " or --chrome-kernel-logging"),
            known(
                    "Self CPU %",
                    "it is a table of PyTorch's key_averages(); write the trace with"
                            + " prof.export_chrome_trace(\"trace.json.gz\"), and read that file"),
            known(
                    "\\A\"?build_commit\"?,\"?build_number",
                    "it is a table (CSV) of llama-bench; write it with llama-bench -o json or -o jsonl"),
            known(
                    "llama_(perf|print|context|model|new)|ggml_(vulkan|cuda_init)|Vulkan Timings|load_backend:|llm_load_",
                    "it is a log of llama.cpp, which has phases or requests and no bricks; brick report prints them"),
            known(
                    "(?i)\\A\\s*(<!doctype html|<html)",
                    "it is an HTML page; read the trace or the JSON report that it was made" + " from"),
            known("\\A\\s*<", "it is XML; write the events in another format: " + WHAT_IS_READ),
            known(
                    "\\A[^\\n,;\\t]*[,;\\t][^\\n,;\\t]*[,;\\t]",
                    "it is a table (CSV), which may hold anything; write the events" + " in another format: "
                            + WHAT_IS_READ));

    private ForeignText() {}

    /** A kind of text and the sign that identifies it. Immutable. */
    private record Known(Pattern sign, String what) {}

    private static Known known(String sign, String what) {
        return new Known(Pattern.compile(sign), what);
    }

    /**
     * Returns the fault of a text that is not TornadoVM's.
     *
     * @param head its beginning, one character for each byte
     * @return the kind of text and the file to read instead; null if the text may be JSON, is binary, or is empty
     */
    static @Nullable String fault(String head) {
        String text = head.startsWith(BYTE_ORDER_MARK) ? head.substring(BYTE_ORDER_MARK.length()) : head;
        String begin = text.stripLeading();
        if (begin.isEmpty() || begin.startsWith("{") || begin.startsWith("[") || !isText(text)) {
            return null;
        }
        for (Known known : KNOWN) {
            Matcher sign = known.sign().matcher(text);
            if (sign.find()) {
                return "no trace begins with " + quote(text) + ": " + known.what();
            }
        }
        return "no trace begins with " + quote(text) + ": " + WHAT_IS_READ;
    }

    /**
     * Returns whether a beginning is text. A Perfetto trace begins with the same byte as a text that begins with a line
     * feed.
     */
    static boolean isText(String head) {
        int looked = Math.min(head.length(), LEAST_TEXT * LEAST_TEXT);
        return head.substring(0, looked).chars().noneMatch(c -> c < ' ' && c != '\t' && c != '\n' && c != '\r');
    }

    /** Returns whether a beginning is text, and is too long for a packet of Perfetto to look like text by accident. */
    static boolean isLongText(String head) {
        return head.length() >= LEAST_TEXT && isText(head);
    }

    private static String quote(String text) {
        String line = text.strip().lines().findFirst().orElse("");
        return "'" + PlainText.shortened(PlainText.ascii(line), LONGEST_QUOTE) + "'";
    }
}
