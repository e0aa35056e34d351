package org.brickprofiler.report;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.PrettyPrinter;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.core.util.MinimalPrettyPrinter;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.Calibration;
import org.brickprofiler.CategoryStats;
import org.brickprofiler.Environment;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunFacts;
import org.brickprofiler.RunIdentity;
import org.brickprofiler.Step;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepStats;
import org.brickprofiler.Steps;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.graph.ExecutionGraph;
import org.brickprofiler.report.internal.JsonText;
import org.brickprofiler.report.internal.ProfileFields;
import org.brickprofiler.report.internal.RequestFields;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.request.RequestTimeline;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.tile.TileStats;

/** Writes one report. One thread. */
final class JsonReportWriter {

    /** The version of the keys and their meaning. The major number rises when older readers would misread the file. */
    static final String SCHEMA_VERSION = "1.1";

    private final JsonGenerator json;
    private final ProfileSnapshot snapshot;
    private final boolean isCompact;
    private final long totalNs;
    private final long shareNs;

    private JsonReportWriter(JsonGenerator json, ProfileSnapshot snapshot, boolean isCompact) {
        this.json = json;
        this.snapshot = snapshot;
        this.isCompact = isCompact;
        this.totalNs = snapshot.totalNs();
        this.shareNs = snapshot.netOrTotalNs();
    }

    /**
     * Writes a report.
     *
     * @param snapshot the profile
     * @param out the target, as UTF-8; flushed, and left open
     * @throws IOException when writing fails
     */
    static void write(ProfileSnapshot snapshot, OutputStream out) throws IOException {
        write(snapshot, Map.of(), false, out);
    }

    /**
     * Writes a report, and further keys after its own.
     *
     * @param isCompact whether to omit indentation, derived values, and sums that are 0
     * @throws com.fasterxml.jackson.core.JsonGenerationException when a key is one of the report's own
     * @throws IllegalArgumentException when a value has an unsupported type
     */
    static void write(ProfileSnapshot snapshot, Map<String, ?> further, boolean isCompact, OutputStream out)
            throws IOException {
        PrettyPrinter printer = isCompact ? new MinimalPrettyPrinter() : JsonText.indented();
        try (JsonGenerator json = JsonText.generator(out, printer)) {
            if (!further.isEmpty()) {
                json.enable(StreamWriteFeature.STRICT_DUPLICATE_DETECTION.mappedFeature());
            }
            new JsonReportWriter(json, snapshot, isCompact).report(further);
            json.writeRaw('\n');
        }
    }

    private void report(Map<String, ?> further) throws IOException {
        json.writeStartObject();
        json.writeStringField("schema_version", SCHEMA_VERSION);
        identity(snapshot.identity());
        json.writeStringField("started_at", snapshot.startedAt().toString());
        json.writeStringField("ended_at", snapshot.endedAt().toString());
        json.writeNumberField("wall_ns", snapshot.wallNs());
        json.writeNumberField("threads", snapshot.threads());
        json.writeBooleanField("virtual_threads", snapshot.virtualThreads());
        json.writeNumberField("overhead_ns", snapshot.overheadNs());
        json.writeNumberField("dropped_pending", snapshot.droppedPending());
        json.writeNumberField("pending", snapshot.pending());
        json.writeNumberField("literal_overlaps", snapshot.literalOverlaps());
        if (snapshot.l2CacheHitRate().isPresent()) {
            number("l2_cache_hit_rate", snapshot.l2CacheHitRate().getAsDouble());
        }
        json.writeBooleanField("zero_copy", snapshot.zeroCopy());
        json.writeNumberField("total_tokens", snapshot.totalTokens());
        json.writeNumberField("total_ns", totalNs);
        derived("total_throughput", snapshot.totalThroughput());
        json.writeStringField("pct_base", "brick_time");
        environments();
        json.writeFieldName("bricks");
        bricks(snapshot.bricks());
        if (!snapshot.phases().isEmpty()) {
            phases();
        }
        if (!isCompact) {
            categories();
        }
        json.writeBooleanField("tile_profiling_enabled", !snapshot.tilesOff());
        tiles();
        streams();
        if (!snapshot.steps().equals(Steps.NONE)) {
            steps(snapshot.steps());
        }
        if (!snapshot.requests().equals(RequestStats.NONE)) {
            json.writeFieldName("requests");
            RequestFields.REQUESTS.write(json, snapshot.requests(), isCompact);
        }
        if (!snapshot.requestTimeline().equals(RequestTimeline.NONE)) {
            json.writeFieldName("request_timeline");
            TimelineJson.write(json, snapshot.requestTimeline());
        }
        facts();
        if (!isCompact && !further.containsKey("findings")) {
            JsonText.fields(json, Map.of("findings", Findings.values(Findings.of(snapshot))));
        }
        JsonText.fields(json, further);
        json.writeEndObject();
    }

    /**
     * Writes the identity near the beginning, so that a program that sorts files by run and rank reads only the
     * beginning.
     */
    private void identity(RunIdentity identity) throws IOException {
        if (identity.equals(RunIdentity.NONE)) {
            return;
        }
        json.writeFieldName("identity");
        ProfileFields.IDENTITY.write(json, identity, isCompact);
    }

    private void environments() throws IOException {
        json.writeArrayFieldStart("environments");
        for (Environment environment : snapshot.environments()) {
            ProfileFields.ENVIRONMENT.write(json, environment, false);
        }
        json.writeEndArray();
    }

    private void bricks(List<BrickStats> bricks) throws IOException {
        json.writeStartArray();
        for (BrickStats brick : bricks) {
            ProfileFields.BRICK.write(
                    json,
                    new ProfileFields.Brick(brick, shareNs, snapshot.facts().netNs(brick)),
                    isCompact);
        }
        json.writeEndArray();
    }

    private void phases() throws IOException {
        json.writeArrayFieldStart("phases");
        for (Map.Entry<StepInfo.Phase, List<BrickStats>> phase :
                snapshot.phases().entrySet()) {
            json.writeStartObject();
            json.writeStringField("phase", phase.getKey().displayName());
            json.writeFieldName("bricks");
            bricks(phase.getValue());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private void categories() throws IOException {
        json.writeArrayFieldStart("categories");
        for (Map.Entry<BrickCategory, CategoryStats> entry :
                snapshot.categories().entrySet()) {
            json.writeStartObject();
            json.writeStringField("name", entry.getKey().displayName());
            json.writeNumberField("count", entry.getValue().count());
            json.writeNumberField("total_ns", entry.getValue().totalNs());
            if (entry.getValue().isEstimated()) {
                json.writeBooleanField("estimated", true);
                number("standard_error_ns", entry.getValue().standardErrorNs());
                number("degrees_of_freedom", entry.getValue().degreesOfFreedom());
            }
            number("pct", entry.getValue().percentage(shareNs));
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private void tiles() throws IOException {
        json.writeArrayFieldStart("tiles");
        for (TileStats tile : snapshot.tiles()) {
            ProfileFields.TILE.write(json, tile, isCompact);
        }
        json.writeEndArray();
    }

    private void streams() throws IOException {
        if (snapshot.streams().isEmpty()) {
            return;
        }
        json.writeArrayFieldStart("streams");
        for (StreamTotals stream : snapshot.streams()) {
            ProfileFields.STREAM.write(json, stream, isCompact);
        }
        json.writeEndArray();
    }

    private void steps(Steps steps) throws IOException {
        json.writeObjectFieldStart("steps");
        json.writeNumberField("abandoned", steps.abandoned());
        distribution("time_to_first_token", steps.timeToFirstToken());
        json.writeNumberField("time_to_first_token_ns", steps.timeToFirstTokenNs());
        distribution("time_per_output_token", steps.timePerOutputToken());
        json.writeArrayFieldStart("phases");
        for (StepStats phase : steps.phases()) {
            ProfileFields.PHASE.write(json, phase, isCompact);
        }
        json.writeEndArray();
        json.writeFieldName("kept_columns");
        ProfileFields.STEP.writeKeys(json);
        json.writeArrayFieldStart("kept");
        for (Step step : steps.kept()) {
            ProfileFields.STEP.writeCells(json, step);
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    private void distribution(String key, LatencyDistribution durations) throws IOException {
        json.writeFieldName(key);
        ProfileFields.DISTRIBUTION.write(json, new ProfileFields.Spread(durations, durations::percentileNs), isCompact);
    }

    private void facts() throws IOException {
        RunFacts facts = snapshot.facts();
        if (facts.equals(RunFacts.NONE)) {
            return;
        }
        json.writeObjectFieldStart("run");
        if (facts.tokensPerSec().isPresent()) {
            number("tokens_per_sec", facts.tokensPerSec().getAsDouble());
        }
        if (facts.unprofiledTokensPerSec().isPresent()) {
            number("unprofiled_tokens_per_sec", facts.unprofiledTokensPerSec().getAsDouble());
        }
        if (!facts.machine().isEmpty()) {
            json.writeObjectFieldStart("machine");
            JsonText.fields(json, facts.machine());
            json.writeEndObject();
        }
        if (!facts.disturbances().isEmpty()) {
            json.writeFieldName("disturbances");
            JsonText.value(json, facts.disturbances());
        }
        if (!facts.virtualMachines().isEmpty()) {
            virtualMachines(facts.virtualMachines());
        }
        if (!facts.calibrations().isEmpty()) {
            calibrations(facts.calibrations());
        }
        if (!facts.nesting().isEmpty()) {
            nesting(facts.nesting());
        }
        json.writeEndObject();
    }

    private void calibrations(List<Calibration> calibrations) throws IOException {
        json.writeArrayFieldStart("calibrations");
        for (Calibration calibration : calibrations) {
            json.writeStartObject();
            json.writeFieldName("environment");
            ProfileFields.ENVIRONMENT.write(json, calibration.environment(), false);
            spread("clock_step_ns", calibration.clockStepNs());
            spread("clock_read_ns", calibration.clockReadNs());
            json.writeNumberField("clock_went_back", calibration.clockWentBack());
            json.writeObjectFieldStart("costs");
            for (Map.Entry<Calibration.Mode, Calibration.Cost> entry :
                    calibration.costs().entrySet()) {
                json.writeObjectFieldStart(entry.getKey().name().toLowerCase(Locale.ROOT));
                spread("empty_ns", entry.getValue().emptyNs());
                spread("sample_ns", entry.getValue().sampleNs());
                spread("inside_ns", entry.getValue().insideNs());
                spread("lap_ns", entry.getValue().lapNs());
                json.writeEndObject();
            }
            json.writeEndObject();
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private void spread(String key, Calibration.Spread spread) throws IOException {
        json.writeFieldName(key);
        ProfileFields.SPREAD.write(json, spread, isCompact);
    }

    private void nesting(Map<String, ExecutionGraph.Nesting> nesting) throws IOException {
        json.writeArrayFieldStart("nesting");
        for (Map.Entry<String, ExecutionGraph.Nesting> entry : nesting.entrySet()) {
            ProfileFields.NESTING.write(json, entry, isCompact);
        }
        json.writeEndArray();
    }

    private void virtualMachines(List<RunFacts.VirtualMachine> machines) throws IOException {
        json.writeArrayFieldStart("virtual_machines");
        for (RunFacts.VirtualMachine machine : machines) {
            ProfileFields.VIRTUAL_MACHINE.write(json, machine, isCompact);
        }
        json.writeEndArray();
    }

    /** Writes a derived value, which {@link JsonReportReader} ignores. */
    private void derived(String key, double value) throws IOException {
        if (!isCompact) {
            number(key, value);
        }
    }

    private void number(String key, double value) throws IOException {
        JsonText.number(json, key, value);
    }
}
