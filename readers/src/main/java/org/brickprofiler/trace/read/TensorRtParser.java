package org.brickprofiler.trace.read;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.brickprofiler.trace.read.SumRows.Row;
import org.eclipse.collections.impl.list.mutable.primitive.DoubleArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Reads the profile that TensorRT's {@code trtexec --exportProfile} writes: the number of runs, and then for each layer
 * of the engine its time over all runs, its average, and its share. Layers of duration 0 are those that the engine runs
 * inside others. The shares add up to 100 percent. One thread.
 */
final class TensorRtParser {

    /** The category of layers, as rules see it. */
    static final String LAYER = "trt_layer";

    /** The largest relative error of a sum, which the tool computes in single precision and writes with six digits. */
    private static final BigDecimal SIX_DIGITS = new BigDecimal("2e-5");

    /** Percent by which the share of a layer may differ through rounding. */
    private static final double SHARE_WITHIN = 1e-3;

    private static final int MOST_LAYERS = 1_000_000;
    private static final double ALL = 100;

    private final JsonParser json;
    private final SumRows rows;
    private long runs;
    private final DoubleArrayList timesNs = new DoubleArrayList();
    private final DoubleArrayList shares = new DoubleArrayList();
    private boolean hasShares = true;

    private String name = "";
    private @Nullable String timeMs;
    private @Nullable String averageMs;
    private @Nullable String share;

    private TensorRtParser(JsonParser json, EventCollector collector) throws TraceFormatException {
        this.json = json;
        this.rows = new SumRows(collector, "TensorRT's profiler");
    }

    /**
     * Opens a profile and the times of the same engine as one text, the profile first.
     *
     * @param files the files
     * @return the text, to be closed; empty if they are not one of each
     * @throws IOException when one cannot be read
     */
    static Optional<InputStream> open(List<Path> files) throws IOException {
        if (files.size() != 2 || files.stream().anyMatch(Files::isDirectory)) {
            return Optional.empty();
        }
        List<Path> ordered = new ArrayList<>(files);
        if (isTimes(files.get(0))) {
            Collections.reverse(ordered);
        }
        if (!isProfile(ordered.get(0)) || !isTimes(ordered.get(1))) {
            return Optional.empty();
        }
        return Optional.of(
                new SequenceInputStream(TraceInput.unpacked(ordered.get(0)), TraceInput.unpacked(ordered.get(1))));
    }

    private static boolean isProfile(Path file) throws IOException {
        return SumTables.TENSOR_RT.is(TraceInput.head(file));
    }

    private static boolean isTimes(Path file) throws IOException {
        return SummaryFormat.TENSOR_RT_TIMES.equals(SummaryFormat.of(TraceInput.head(file)));
    }

    /**
     * Reads all layers, and the times of runs if they follow.
     *
     * @throws TraceFormatException when a layer is damaged, or the view needs times
     * @throws IOException when the text cannot be read
     */
    static void parse(BufferedInputStream text, EventCollector collector) throws IOException {
        try (JsonParser json = new JsonFactory().createParser(text).disable(JsonParser.Feature.AUTO_CLOSE_SOURCE)) {
            TensorRtParser parser = new TensorRtParser(json, collector);
            try {
                parser.document();
            } catch (JsonProcessingException malformed) {
                throw TraceFormatException.damage(
                        collector.source, parser.offset(), "from here on, TensorRT's profile is no JSON", malformed);
            } catch (TraceInput.DamagedException damaged) {
                throw TraceFormatException.damage(
                        collector.source, parser.offset(), String.valueOf(damaged.getMessage()), damaged);
            }
        }
    }

    /** Returns the place after the last token that was read. */
    private long offset() {
        return Math.max(0, json.currentLocation().getByteOffset());
    }

    private void document() throws IOException {
        require(json.nextToken() == JsonToken.START_ARRAY);
        for (JsonToken next = json.nextToken(); next != JsonToken.END_ARRAY; next = json.nextToken()) {
            require(next == JsonToken.START_OBJECT);
            long offset = json.currentTokenLocation().getByteOffset();
            if (isCount()) {
                continue;
            }
            layer(offset);
        }
        long end = offset();
        checkShares(end);
        rows.collector.end(end);
        rows.collector.head.runs =
                JsonSummaries.tensorRtTimes(json, rows.collector.source, runs == 0 ? 0 : timesNs.sum() / runs);
    }

    /**
     * Checks each layer's time against its share.
     *
     * @throws TraceFormatException when a share does not fit
     */
    private void checkShares(long end) throws TraceFormatException {
        double sumNs = timesNs.sum();
        for (int i = 0; hasShares && sumNs > 0 && i < timesNs.size(); i++) {
            double percent = ALL * timesNs.get(i) / sumNs;
            if (Math.abs(percent - shares.get(i)) > SHARE_WITHIN) {
                throw rows.damage(
                        end,
                        String.format(
                                Locale.ROOT,
                                "layer %d has %.4f %% of the time and states %.4f %%: a layer is missing or wrong",
                                i,
                                percent,
                                shares.get(i)));
            }
        }
    }

    /** Reads an object; returns whether it is the number of runs. */
    private boolean isCount() throws IOException {
        name = "";
        timeMs = null;
        averageMs = null;
        share = null;
        long count = 0;
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String key = json.currentName();
            require(json.nextToken() != null);
            switch (key) {
                case "count" ->
                    count = rows.calls(
                            json.getText(), json.currentTokenLocation().getByteOffset());
                case "name" -> name = json.getText();
                case "timeMs" -> timeMs = json.getText();
                case "averageMs" -> averageMs = json.getText();
                case "percentage" -> share = json.getText();
                default -> json.skipChildren();
            }
        }
        require(json.currentToken() == JsonToken.END_OBJECT);
        if (count > 0 && runs > 0) {
            throw rows.damage(json.currentTokenLocation().getByteOffset(), "a second number of runs, " + count);
        }
        runs = Math.max(runs, count);
        return count > 0;
    }

    private void layer(long offset) throws IOException {
        String time = timeMs;
        if (time == null || name.isEmpty() || runs == 0) {
            throw rows.damage(
                    offset,
                    "an element of TensorRT's profile is no layer: it has no "
                            + (runs == 0 ? "number of runs before it" : time == null ? "timeMs" : "name"));
        }
        BigDecimal totalNs = rows.ns(time, "ms", offset);
        if (averageMs != null) {
            BigDecimal averageNs = rows.ns(averageMs, "ms", offset);
            rows.requireProduct(runs, averageNs, totalNs, totalNs.multiply(SIX_DIGITS), offset);
        }
        BigDecimal percent = share == null ? null : SumRows.number(share);
        hasShares &= percent != null;
        shares.add(percent == null ? 0 : percent.doubleValue());
        timesNs.add(totalNs.doubleValue());
        if (timesNs.size() > MOST_LAYERS) {
            throw rows.collector.error(offset, "there are more than " + MOST_LAYERS + " layers");
        }
        rows.add(new Row(name, LAYER, runs, SumRows.whole(totalNs)), offset);
    }

    private void require(boolean isExpected) throws TraceFormatException {
        if (!isExpected) {
            throw rows.damage(
                    offset(),
                    json.currentToken() == null
                            ? "the text ends within TensorRT's profile"
                            : "'" + json.currentToken() + "' is not expected in TensorRT's profile");
        }
    }
}
