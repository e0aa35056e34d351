package org.brickprofiler.trace.read;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.internal.base.PlainText;
import org.jspecify.annotations.Nullable;

/**
 * Recognises files that are no trace, such as the own formats, tables, pages and logs of profilers, and names the file
 * to read instead.
 */
final class ForeignText {

    private static final int LONGEST_QUOTE = 60;

    /**
     * The control characters of texts: blanks, line breaks, a bell, a backspace, and the begin of an escape sequence.
     */
    private static final String TEXT_CONTROLS = "\t\n\r\f\u0007\b\u001b";

    /** The byte order mark of UTF-8, one character for each byte. */
    private static final String BYTE_ORDER_MARK = "\u00ef\u00bb\u00bf";

    /** The length of a printable beginning that shows that a file is text, not a binary format. */
    private static final int LEAST_TEXT = 16;

    /** The number of first bytes that identify a binary format. */
    static final int LONGEST_MAGIC = 264;

    private static final String EXPORT = "; export it with nsys export --type sqlite FILE, and read the .sqlite file";

    /** Binary formats by their first bytes, one character for each byte. */
    private static final List<Known> BINARY = List.of(
            known("\u001f\u008b", "it is packed with gzip twice; unpack it once"),
            known("PK\u0003\u0004", "it is a ZIP archive; unpack it"),
            known("\\(\u00b5/\u00fd", "it is packed with zstd; unpack it"),
            known("\u00fd7zXZ", "it is packed with xz; unpack it"),
            known("BZh", "it is packed with bzip2; unpack it"),
            known("\u0004\"M\u0018", "it is packed with LZ4; unpack it"),
            known("7z\u00bc\u00af", "it is a 7z archive; unpack it"),
            known(".{257}ustar", "it is a tar archive; unpack it"),
            known(
                    "NVIDIA|QuadD|QDSTRM",
                    "it is a report of Nsight Systems (.nsys-rep or .qdrep) in NVIDIA's own format" + EXPORT),
            known(
                    "NVR\0",
                    "it is a report of Nsight Compute (.ncu-rep), which replays kernels one by one at a locked clock:"
                            + " these are no times of a run; record the run with nsys profile" + EXPORT),
            known(
                    "\u0080[\u0002-\u0005]",
                    "it is a pickle of Python, such as a memory snapshot of PyTorch; write the trace with"
                            + " prof.export_chrome_trace(\"trace.json.gz\"), and read that file"),
            known(
                    "PAR1",
                    "it is a Parquet file; brick fleet reads packs, and nsys export --type sqlite writes what"
                            + " brick report reads"),
            known("\u0089HDF", "it is an HDF5 file" + EXPORT),
            known("ARROW1", "it is an Arrow file" + EXPORT),
            known("\u0093NUMPY", "it is an array of NumPy, and has no times"),
            known(
                    "JAVA PROFILE",
                    "it is a heap dump of Java, and has no times; record with jcmd PID JFR.start settings=profile,"
                            + " and read the .jfr file"),
            known("PERFILE2", "it is a recording of Linux perf, which has samples and no bricks"),
            known("\u007fELF|\u00ca\u00fe\u00ba\u00be|MZ", "it is a program or a library, and no recording of one"),
            known(
                    "%PDF|\u0089PNG|\u00ff\u00d8\u00ff|GIF8",
                    "it is a picture or a document; read the trace that it shows"));

    /** The texts in JSON of profilers, by a sign in their beginning; they have none of the keys of Chrome's traces. */
    private static final List<Known> JSON = List.of(
            known(
                    "www\\.speedscope\\.app/file-format-schema",
                    "it is a profile for speedscope: stacks and weights without bricks; read the trace that it was made"
                            + " from"),
            known(
                    "\"schema\"\\s*:\\s*\"[0-9.]+-chakra",
                    "it is an execution trace of PyTorch (Chakra): operators and their order without times; write the"
                            + " times with prof.export_chrome_trace(\"trace.json.gz\"), and read that file"),
            known(
                    "\"frame\"\\s*:\\s*\\{[^{}]{0,256}\"metrics\"|\"metrics\"[^\\[\\]]{0,512}\"frame\"|\"frame\"\\s*:\\s*\\{[^{}]{0,256}\"ROOT\"",
                    "it is a profile of Triton's Proton: sums over a tree of calls; write a timeline with"
                            + " proton.start(name, data=\"trace\"), and read that file"),
            known(
                    "\"avg_latency\"\\s*:|\"requests_per_second\"\\s*:",
                    "it is the result of vLLM's benchmark of latency or of throughput, which has sums over whole batches;"
                            + " brick report prints the result of vllm bench serve --save-result"),
            known("\"nodes\"\\s*:\\s*\\[.{0,4096}\"callFrame\"", "it is a CPU profile of V8: samples without bricks"));

    /** The texts of profilers by a sign in their first lines; the first match decides. */
    private static final List<Known> KNOWN = List.of(
            known(
                    "&&&& RUNNING TensorRT|(?m)^.{0,64}\\[I\\] === (Model|Build|Inference|Performance) ",
                    "it is a log of TensorRT's trtexec; write the times of its layers with --dumpProfile"
                            + " --separateProfileRun --exportProfile=profile.json, and those of its runs with"
                            + " --exportTimes=times.json"),
            known(
                    "(?m)^\"?Start ?\\((ns|us|ms|s|nsec|usec|msec|sec)\\)\"?[,;\\t]\"?Duration",
                    "it is the table of single events of nsys stats (cuda_gpu_trace); export the report with nsys export"
                            + " --type sqlite, and read the .sqlite file"),
            known(
                    "\\A\\s*\"?layerName\"?[;,]",
                    "it is OpenVINO's table of averages by layer, without calls; nothing here reads it"),
            known(
                    "\\A\\s*\"?(Step Id|Device_id|Model Name|Model ID)\"?,|(?m)\\A.*\\b(Accelerator Core|aicore_time|Task Start Time)",
                    "it is a table (CSV) of Ascend's profiler; read its timeline, trace_view.json or msprof_*.json"),
            known(
                    "\\A\\s*\\| *model *\\| *size",
                    "it is a table of llama-bench; write it with llama-bench -o json or -o jsonl, and read that file"),
            known(
                    "\\A[^\\s;]+(;[^;\\n]+)+ \\d+\\s*$|(?m)\\A[^\\s;]+(;[^;\\n]+)+ \\d+\\s*$",
                    "it holds stacks with counts (collapsed stacks), which have no times and no bricks; read a flight"
                            + " recording (.jfr)"),
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
            known("\\A\\s*<", "it is XML; write the events in another format: " + TraceReader.FORMATS),
            known(
                    "\\A[^\\n,;\\t]*[,;\\t][^\\n,;\\t]*[,;\\t]",
                    "it is a table (CSV), which may hold anything; write the events" + " in another format: "
                            + TraceReader.FORMATS));

    /** The beginning of a text in JSON. A line of a log may also begin with a bracket, around a time or a level. */
    private static final Pattern JSON_BEGIN = Pattern.compile(
            "\\{|\\[\\s*([\\[{\"\\]]|-?\\d+(\\.\\d+)?([eE][+-]?\\d+)?\\s*[,\\]]|(true|false|null|NaN|-?Infinity)\\b|\\z)");

    private ForeignText() {}

    /** A kind of text and the sign that identifies it. Immutable. */
    private record Known(Pattern sign, String what) {}

    private static Known known(String sign, String what) {
        return new Known(Pattern.compile(sign, Pattern.DOTALL), what);
    }

    /**
     * Returns the fault of a file that begins as a binary format does.
     *
     * @param begin its first {@link #LONGEST_MAGIC} bytes, one character for each
     * @return the format and what to do; null if it is not among the known ones
     */
    static @Nullable String ofMagic(String begin) {
        for (Known known : BINARY) {
            if (known.sign().matcher(begin).lookingAt()) {
                return known.what();
            }
        }
        return null;
    }

    /** Returns the fault of a text in JSON that another program wrote for another purpose; null if none is known. */
    private static @Nullable String ofJson(String text) {
        if (SummaryFormat.isTrace(text)) {
            return null;
        }
        for (Known known : JSON) {
            if (known.sign().matcher(text).find()) {
                return known.what();
            }
        }
        return null;
    }

    /**
     * Returns the fault of a text that is not TornadoVM's.
     *
     * @param head its beginning, one character for each byte
     * @return the kind of text and the file to read instead; null if the text is unknown JSON, is binary, or is empty
     */
    static @Nullable String fault(String head) {
        String text = head.startsWith(BYTE_ORDER_MARK) ? head.substring(BYTE_ORDER_MARK.length()) : head;
        String begin = text.stripLeading();
        if (begin.isEmpty() || !isText(text)) {
            return null;
        }
        if (JSON_BEGIN.matcher(begin).lookingAt()) {
            return ofJson(begin);
        }
        for (Known known : KNOWN) {
            Matcher sign = known.sign().matcher(text);
            if (sign.find()) {
                return "no trace begins with " + quote(text) + ": " + known.what();
            }
        }
        return "no trace begins with " + quote(text) + ": expected " + TraceReader.FORMATS;
    }

    /**
     * Returns whether a beginning is text, which may have escape sequences of terminals. A Perfetto trace begins with
     * the same byte as a text that begins with a line feed.
     */
    static boolean isText(String head) {
        int looked = Math.min(head.length(), LEAST_TEXT * LEAST_TEXT);
        return head.substring(0, looked).chars().noneMatch(c -> c < ' ' && TEXT_CONTROLS.indexOf(c) < 0);
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
