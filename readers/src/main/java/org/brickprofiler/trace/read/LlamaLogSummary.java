package org.brickprofiler.trace.read;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.trace.read.RunSummary.Cell;
import org.brickprofiler.trace.read.RunSummary.Column;
import org.jspecify.annotations.Nullable;

/**
 * Reads the timings in a log of llama.cpp: a request for each {@code print_timing} of its server, and the phases of
 * each {@code llama_perf_context_print}. Requests of one slot follow each other. Requests of different slots overlap,
 * so their times are never added. One thread.
 */
final class LlamaLogSummary {

    /** The text that a journal, a container or a router puts before each line: a time, a host, a program. */
    private static final String PREFIX = ".{0,160}?";

    private static final Pattern REQUEST =
            Pattern.compile(PREFIX + "slot +print_timing: id +(\\d{1,9}) \\| task (-?\\d{1,9}) \\|(.*)");
    private static final Pattern NEW_PROMPT = Pattern.compile(
            PREFIX
                    + "slot +\\w+: id +(\\d{1,9}) \\| task (\\d{1,9}) \\| new prompt,.*(?:task\\.n_tokens|n_prompt_tokens) = (\\d{1,9}).*");
    private static final Pattern PERF =
            Pattern.compile(PREFIX + "(?:llama_perf_context_print|llama_print_timings|common_perf_print):(.*)");
    private static final Pattern TIME = Pattern.compile(
            PREFIX
                    + "(?<![\\w-])(load|sample|sampling|prompt eval|eval|generation eval|total) time\\s*=\\s*([0-9.,]+) ms(.*)");
    private static final Pattern AMOUNT = Pattern.compile("\\s*/\\s*(\\d{1,12}) (?:tokens|runs)\\s*(.*)");
    private static final Pattern DRAFTS = Pattern.compile(
            PREFIX + "draft acceptance(?: rate)? = [0-9.,]+ \\( *(\\d{1,12}) accepted / *(\\d{1,12}) generated\\).*");
    private static final Pattern RATES =
            Pattern.compile("\\(\\s*([0-9.,]+) ms per token,\\s*([0-9.,]+) tokens per second\\)\\s*");

    private static final String PROMPT = "prompt eval";
    private static final String OUTPUT = "eval";
    private static final String TOTAL = "total";

    /** The largest error of a sum of three times that the log states in ms with two decimals, ns. */
    private static final long ROUNDING_NS = 15_001;

    private static final long HALF_NS = 5_001;
    private static final double HALF_RATE = 0.00501;
    private static final double MS = 1e6;
    private static final int MOST_REQUESTS = 1_000_000;

    private final TextLines lines;
    private final String source;
    private final Map<Long, Long> promptTokens = new HashMap<>();
    private final List<Request> requests = new ArrayList<>();
    private final List<Map<String, Time>> contexts = new ArrayList<>();
    private long vulkanBlocks;
    private long acceptedDrafts;
    private long generatedDrafts;
    private boolean isCut;

    /** The request or the context whose times are being read; null between them. */
    private @Nullable Map<String, Time> open;

    private boolean isRequest;
    private long slot;
    private long task;

    /** A time and its tokens, which are -1 if the log does not state them. Immutable. */
    private record Time(long ns, long tokens) {}

    /** A request of the server; {@code promptTokens} has -1 if the log does not state them. Immutable. */
    private record Request(long slot, long task, long promptTokens, Time prompt, Time output, Time total) {
        long cachedTokens() {
            return promptTokens < 0 ? -1 : promptTokens - prompt.tokens();
        }
    }

    private LlamaLogSummary(BufferedInputStream text, String source) {
        this.lines = new TextLines(text, source);
        this.source = source;
    }

    /**
     * Reads the timings.
     *
     * @throws TraceFormatException when there are none, or they contradict themselves
     * @throws IOException when the text cannot be read
     */
    static RunSummary read(BufferedInputStream text, String source) throws IOException {
        return new LlamaLogSummary(text, source).document();
    }

    private RunSummary document() throws IOException {
        for (String line = lines.next(); line != null; line = lines.next()) {
            take(line);
        }
        isCut |= open != null && isRequest && !open.isEmpty();
        endContext();
        if (requests.isEmpty() && contexts.isEmpty()) {
            throw error("the log of llama.cpp has no timings of requests (print_timing) and none of a context"
                    + " (llama_perf_context_print)" + (isCut ? ": it ends within the first of them" : ""));
        }
        RunSummary.Builder summary = new RunSummary.Builder(requests.isEmpty() ? "llama.cpp" : "llama-server");
        if (!requests.isEmpty()) {
            addRequests(summary);
        }
        if (!contexts.isEmpty()) {
            addContexts(summary);
        }
        if (generatedDrafts > 0) {
            summary.fact(
                    "drafts",
                    "accepted were " + TraceFigures.count(acceptedDrafts) + " of "
                            + Plural.of(generatedDrafts, "drafted token"));
        }
        if (isCut) {
            summary.fact("faulty", "the log ends within the timing of a request, which is left out");
        }
        if (vulkanBlocks > 0) {
            summary.fact(
                    "left out",
                    Plural.of(vulkanBlocks, "block") + " of the Vulkan logger, which begin too late in the"
                            + " log: remove the preceding text");
        }
        return summary.build();
    }

    private void take(String line) throws TraceFormatException {
        Matcher request = REQUEST.matcher(line);
        Matcher prompt = NEW_PROMPT.matcher(line);
        Matcher perf = PERF.matcher(line);
        Matcher drafts = DRAFTS.matcher(line);
        if (drafts.matches()) {
            acceptedDrafts += Long.parseLong(drafts.group(1));
            generatedDrafts += Long.parseLong(drafts.group(2));
        } else if (request.matches()) {
            // Other lines of a slot, such as its progress or the graphs that it used again, are no timings.
            String text = request.group(3);
            if (!text.isBlank() && !TIME.matcher(text).matches()) {
                return;
            }
            long ofSlot = Long.parseLong(request.group(1));
            long ofTask = Long.parseLong(request.group(2));
            if (open == null || !isRequest || ofSlot != slot || ofTask != task) {
                begin(true);
                slot = ofSlot;
                task = ofTask;
            }
            time(text);
        } else if (prompt.matches()) {
            promptTokens.put(Long.parseLong(prompt.group(2)), Long.parseLong(prompt.group(3)));
        } else if (perf.matches()) {
            Matcher phase = TIME.matcher(perf.group(1));
            if (phase.matches() && isOfNextContext(phase.group(1))) {
                begin(false);
            }
            time(perf.group(1));
        } else if (line.contains("Vulkan Timings:")) {
            vulkanBlocks++;
        } else if (open != null && isRequest) {
            time(line);
        }
    }

    /** Returns whether a phase is the first one of a context: the times of a context state each phase once. */
    private boolean isOfNextContext(String phase) {
        Map<String, Time> times = open;
        return times == null || isRequest || times.containsKey(TOTAL) || times.containsKey(nameOf(phase));
    }

    /** Returns the common name of a phase, which the programs name differently. */
    private static String nameOf(String phase) {
        return phase.startsWith("generation") ? OUTPUT : phase;
    }

    private void begin(boolean ofRequest) throws TraceFormatException {
        if (open != null && isRequest && !open.isEmpty()) {
            throw error("the timing of task " + task + " in slot " + slot + " has no total");
        }
        endContext();
        open = new TreeMap<>();
        isRequest = ofRequest;
    }

    private void endContext() {
        Map<String, Time> last = open;
        if (last != null && !isRequest && !last.isEmpty()) {
            contexts.add(last);
        }
        open = null;
    }

    private void time(String text) throws TraceFormatException {
        Matcher time = TIME.matcher(text);
        Map<String, Time> into = open;
        if (!time.matches() || into == null) {
            return;
        }
        String what = nameOf(time.group(1));
        long ns = ns(SumRows.withPoint(time.group(2)));
        Matcher amount = AMOUNT.matcher(time.group(3));
        long tokens = amount.matches() ? Long.parseLong(amount.group(1)) : -1;
        if (amount.matches()) {
            requireRates(what, new Time(ns, tokens), amount.group(2));
        } else if (what.equals(PROMPT) || what.equals(OUTPUT) || !lines.isEnded()) {
            throw error("'" + TraceFigures.plain(text.strip()) + "' is not a whole timing");
        }
        into.put(what, new Time(ns, tokens));
        if (what.equals(TOTAL)) {
            endOpen(into);
        }
    }

    private long ns(String ms) throws TraceFormatException {
        BigDecimal number = SumRows.number(ms);
        if (number == null || !Bounds.isDuration(number.scaleByPowerOfTen(6))) {
            throw error("'" + TraceFigures.plain(ms) + "' is not a time in ms");
        }
        return SumRows.whole(number.scaleByPowerOfTen(6));
    }

    private double rate(String text) throws TraceFormatException {
        BigDecimal rate = SumRows.number(SumRows.withPoint(text));
        if (rate == null) {
            throw error("'" + TraceFigures.plain(text) + "' is not a rate");
        }
        return rate.doubleValue();
    }

    /** Checks a time and its tokens against the rates that the log states beside them with two decimals. */
    private void requireRates(String what, Time time, String text) throws TraceFormatException {
        Matcher rates = RATES.matcher(text);
        if (!rates.matches() || time.tokens() == 0 || time.ns() < HALF_NS) {
            return;
        }
        double perTokenMs = rate(rates.group(1));
        double perSecond = rate(rates.group(2));
        double ms = time.ns() / MS;
        double within = (HALF_NS / MS) / ms;
        boolean isPerToken = Math.abs(perTokenMs - ms / time.tokens()) <= HALF_RATE + within * ms / time.tokens();
        double rate = 1e3 * time.tokens() / ms;
        if (!isPerToken || Math.abs(perSecond - rate) > HALF_RATE + 2 * within * rate) {
            throw error("the " + what + " time contradicts itself: " + Plural.of(time.tokens(), "token") + " in " + ms
                    + " ms are not " + perSecond + " tokens/s");
        }
    }

    private void endOpen(Map<String, Time> times) throws TraceFormatException {
        Time prompt = times.get(PROMPT);
        Time output = times.get(OUTPUT);
        Time total = times.get(TOTAL);
        if (prompt == null || output == null || total == null) {
            throw error("a timing has a total, and no time of the prompt or of the output");
        }
        long partsNs = prompt.ns() + output.ns();
        boolean isSum = isRequest ? Math.abs(partsNs - total.ns()) <= ROUNDING_NS : partsNs <= total.ns() + ROUNDING_NS;
        boolean areTokens = total.tokens() < 0 || total.tokens() == prompt.tokens() + output.tokens();
        if (!isSum || !areTokens) {
            throw error("a timing contradicts itself: prompt " + text(prompt) + " and output " + text(output)
                    + " are not the total of " + text(total));
        }
        if (isRequest) {
            if (requests.size() == MOST_REQUESTS) {
                throw error("there are more than " + MOST_REQUESTS + " requests");
            }
            // A later process of the same log numbers its tasks from 0 again.
            Long stated = promptTokens.remove(task);
            long ofPrompt = stated == null ? -1 : stated;
            if (ofPrompt >= 0 && ofPrompt < prompt.tokens()) {
                throw error("task " + task + " evaluated " + prompt.tokens() + " tokens of a prompt of " + ofPrompt);
            }
            requests.add(new Request(slot, task, ofPrompt, prompt, output, total));
            open = null;
        }
    }

    private static String text(Time time) {
        return Plural.of(time.tokens(), "token") + " in " + time.ns() / MS + " ms";
    }

    private TraceFormatException error(String fault) {
        return new TraceFormatException(source, lines.offset(), fault);
    }

    // ---- the tables ----

    private void addRequests(RunSummary.Builder summary) {
        Map<Long, List<Request>> slots = new TreeMap<>();
        requests.forEach(each ->
                slots.computeIfAbsent(each.slot(), added -> new ArrayList<>()).add(each));
        summary.fact(
                "requests",
                TraceFigures.count(requests.size()) + " in " + Plural.of(slots.size(), "slot")
                        + (slots.size() == 1 ? "" : ", which overlap: their times are not added"));
        long unknown = requests.stream().filter(each -> each.promptTokens() < 0).count();
        if (unknown > 0) {
            summary.fact(
                    "cached",
                    "not known of " + Plural.of(unknown, "request")
                            + ": the log does not state the length of the prompt");
        }
        List<List<Column>> sums = slots.entrySet().stream()
                .map(each -> slotRow(each.getKey(), each.getValue()))
                .toList();
        summary.table("Slots, each the sum of its requests, one after another", "slots", sums);
        List<List<Column>> rows = requests.stream()
                .sorted(Comparator.comparingLong((Request each) -> each.total().ns())
                        .reversed())
                .map(LlamaLogSummary::requestRow)
                .toList();
        summary.table("Requests, longest first", "requests", rows);
    }

    private static List<Column> slotRow(long slot, List<Request> all) {
        boolean isCachedKnown = all.stream().allMatch(each -> each.promptTokens() >= 0);
        long outputTokens =
                all.stream().mapToLong(each -> each.output().tokens()).sum();
        long outputNs = all.stream().mapToLong(each -> each.output().ns()).sum();
        return List.of(
                new Column("slot", Cell.count(slot)),
                new Column("requests", Cell.count(all.size())),
                new Column(
                        "total",
                        "total_ns",
                        Cell.ns(all.stream()
                                .mapToLong(each -> each.total().ns())
                                .sum())),
                new Column(
                        "cached tokens",
                        "cached_tokens",
                        isCachedKnown
                                ? Cell.count(all.stream()
                                        .mapToLong(Request::cachedTokens)
                                        .sum())
                                : Cell.UNKNOWN),
                new Column(
                        "prompt tokens run",
                        "evaluated_tokens",
                        Cell.count(all.stream()
                                .mapToLong(each -> each.prompt().tokens())
                                .sum())),
                new Column(
                        "prompt",
                        "prompt_ns",
                        Cell.ns(all.stream()
                                .mapToLong(each -> each.prompt().ns())
                                .sum())),
                new Column("output tokens", "output_tokens", Cell.count(outputTokens)),
                new Column("output", "output_ns", Cell.ns(outputNs)),
                new Column("output tokens/s", "output_tokens_per_s", Cell.perSecond(outputTokens, outputNs)));
    }

    private static List<Column> requestRow(Request each) {
        return List.of(
                new Column("task", Cell.count(each.task())),
                new Column("slot", Cell.count(each.slot())),
                new Column("total", "total_ns", Cell.ns(each.total().ns())),
                new Column(
                        "cached tokens",
                        "cached_tokens",
                        each.cachedTokens() < 0 ? Cell.UNKNOWN : Cell.count(each.cachedTokens())),
                new Column(
                        "prompt tokens run",
                        "evaluated_tokens",
                        Cell.count(each.prompt().tokens())),
                new Column("prompt", "prompt_ns", Cell.ns(each.prompt().ns())),
                new Column(
                        "prompt tokens/s",
                        "prompt_tokens_per_s",
                        Cell.perSecond(each.prompt().tokens(), each.prompt().ns())),
                new Column(
                        "output tokens",
                        "output_tokens",
                        Cell.count(each.output().tokens())),
                new Column("output", "output_ns", Cell.ns(each.output().ns())),
                new Column(
                        "output tokens/s",
                        "output_tokens_per_s",
                        Cell.perSecond(each.output().tokens(), each.output().ns())));
    }

    private void addContexts(RunSummary.Builder summary) {
        List<List<Column>> rows = new ArrayList<>();
        for (int i = 0; i < contexts.size(); i++) {
            Map<String, Time> times = contexts.get(i);
            for (String phase : List.of("load", "sample", "sampling", PROMPT, OUTPUT, TOTAL)) {
                Time time = times.get(phase);
                if (time != null) {
                    rows.add(List.of(
                            new Column("phase", Cell.text(name(phase))),
                            new Column("context", Cell.count(i)),
                            new Column("time", "ns", Cell.ns(time.ns())),
                            new Column("tokens", time.tokens() < 0 ? Cell.UNKNOWN : Cell.count(time.tokens())),
                            new Column(
                                    "tokens/s",
                                    "tokens_per_s",
                                    time.tokens() < 0 || phase.equals(TOTAL)
                                            ? Cell.UNKNOWN
                                            : Cell.perSecond(time.tokens(), time.ns()))));
                }
            }
        }
        summary.fact(
                "phases",
                "of " + Plural.of(contexts.size(), "context")
                        + "; loading contains the first evaluation of the prompt, so the phases are not added");
        summary.table("Phases", "phases", rows);
    }

    private static String name(String phase) {
        return switch (phase) {
            case PROMPT -> "prompt";
            case OUTPUT -> "output";
            default -> phase;
        };
    }
}
