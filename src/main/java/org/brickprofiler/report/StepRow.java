package org.brickprofiler.report;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.Step;
import org.brickprofiler.StepInfo;

/**
 * A step as a row of a table, so that hundreds of them stay a small part of a report: its phase, numbers, and the brick
 * time of each category by its name. A reader goes by the columns' names. Stateless; any thread.
 */
final class StepRow {

    /** The first column. */
    static final String PHASE = "phase";

    /** The numbers and their columns, in the order in which they are written. */
    private static final List<String> NUMBERS = List.of(
            "index",
            "started_at_unix_ns",
            "duration_ns",
            "batch",
            "prefill_tokens",
            "kv_length",
            "output_tokens",
            "drafted_tokens",
            "accepted_tokens");

    private StepRow() {}

    static void writeColumns(JsonGenerator json) throws IOException {
        json.writeStartArray();
        json.writeString(PHASE);
        for (String number : NUMBERS) {
            json.writeString(number);
        }
        for (BrickCategory category : BrickCategory.values()) {
            json.writeString(category.displayName());
        }
        json.writeEndArray();
    }

    static void write(JsonGenerator json, Step step) throws IOException {
        json.writeStartArray();
        json.writeString(step.info().phase().name().toLowerCase(Locale.ROOT));
        StepInfo info = step.info();
        json.writeNumber(step.index());
        json.writeNumber(step.startedAtUnixNs());
        json.writeNumber(step.durationNs());
        json.writeNumber(info.batch());
        json.writeNumber(info.prefillTokens());
        json.writeNumber(info.kvLength());
        json.writeNumber(info.outputTokens());
        json.writeNumber(info.draftedTokens());
        json.writeNumber(step.acceptedTokens());
        for (BrickCategory category : BrickCategory.values()) {
            json.writeNumber(step.categoryNs().getOrDefault(category, 0L));
        }
        json.writeEndArray();
    }

    /**
     * The step of a row.
     *
     * @param numbers the row's numbers by column; those that are missing are 0
     * @throws IllegalArgumentException when one of them is wrong
     */
    static Step step(StepInfo.Phase phase, Map<String, Long> numbers) {
        Map<BrickCategory, Long> categoryNs = new EnumMap<>(BrickCategory.class);
        for (BrickCategory category : BrickCategory.values()) {
            categoryNs.put(category, numbers.getOrDefault(category.displayName(), 0L));
        }
        return new Step(
                numbers.getOrDefault("index", 0L),
                numbers.getOrDefault("started_at_unix_ns", 0L),
                numbers.getOrDefault("duration_ns", 0L),
                new StepInfo(
                        phase,
                        Math.toIntExact(numbers.getOrDefault("batch", 1L)),
                        numbers.getOrDefault("prefill_tokens", 0L),
                        numbers.getOrDefault("kv_length", 0L),
                        numbers.getOrDefault("output_tokens", 0L),
                        numbers.getOrDefault("drafted_tokens", 0L)),
                numbers.getOrDefault("accepted_tokens", 0L),
                categoryNs);
    }
}
