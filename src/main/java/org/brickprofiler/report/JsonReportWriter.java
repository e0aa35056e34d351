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
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.DoubleToLongFunction;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.Calibration;
import org.brickprofiler.CategoryStats;
import org.brickprofiler.DeviceTime;
import org.brickprofiler.Environment;
import org.brickprofiler.LatencyDistribution;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunFacts;
import org.brickprofiler.RunIdentity;
import org.brickprofiler.Step;
import org.brickprofiler.StepStats;
import org.brickprofiler.Steps;
import org.brickprofiler.Work;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.graph.ExecutionGraph;
import org.brickprofiler.report.internal.JsonText;
import org.brickprofiler.tile.TileStats;

/** Writes one report. One thread. */
final class JsonReportWriter {

    /** The version of the keys and their meaning; the first number changes when older readers would misread. */
    static final String SCHEMA_VERSION = "1.1";

    private final JsonGenerator json;
    private final ProfileSnapshot snapshot;
    private final boolean isCompact;
    private final long totalNs;

    private JsonReportWriter(JsonGenerator json, ProfileSnapshot snapshot, boolean isCompact) {
        this.json = json;
        this.snapshot = snapshot;
        this.isCompact = isCompact;
        this.totalNs = snapshot.totalNs();
    }

    /**
     * Writes a report.
     *
     * @param snapshot the profile
     * @param out where to, as UTF-8; flushed, and left open
     * @throws IOException when that fails
     */
    static void write(ProfileSnapshot snapshot, OutputStream out) throws IOException {
        write(snapshot, Map.of(), false, out);
    }

    /**
     * Writes a report, and more keys behind its own.
     *
     * @param isCompact whether without indentation, without what follows from other values, and without sums that are 0
     * @throws com.fasterxml.jackson.core.JsonGenerationException when a key is one of the report's own
     * @throws IllegalArgumentException when a value is of a type that is not written
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
        bricks();
        if (!isCompact) {
            categories();
        }
        json.writeBooleanField("tile_profiling_enabled", !snapshot.tilesOff());
        tiles();
        streams();
        if (!snapshot.steps().equals(Steps.NONE)) {
            steps(snapshot.steps());
        }
        facts();
        fields(further);
        json.writeEndObject();
    }

    /** First, so that whoever sorts files by run and rank need not read further. */
    private void identity(RunIdentity identity) throws IOException {
        if (identity.equals(RunIdentity.NONE)) {
            return;
        }
        json.writeObjectFieldStart("identity");
        text("run_id", identity.runId());
        whole("rank", identity.rank());
        whole("world_size", identity.worldSize());
        whole("local_rank", identity.localRank());
        text("host", identity.host());
        text("device", identity.device());
        text("model", identity.model());
        text("precision", identity.precision());
        text("commit", identity.commit());
        text("phase", identity.phase());
        whole("first_step", identity.firstStep());
        whole("last_step", identity.lastStep());
        whole("window", identity.window());
        json.writeEndObject();
    }

    private void text(String key, Optional<String> text) throws IOException {
        if (text.isPresent()) {
            json.writeStringField(key, text.get());
        }
    }

    private void whole(String key, OptionalInt number) throws IOException {
        if (number.isPresent()) {
            json.writeNumberField(key, number.getAsInt());
        }
    }

    private void whole(String key, OptionalLong number) throws IOException {
        if (number.isPresent()) {
            json.writeNumberField(key, number.getAsLong());
        }
    }

    private void fields(Map<?, ?> values) throws IOException {
        for (Map.Entry<?, ?> entry : values.entrySet()) {
            json.writeFieldName(String.valueOf(entry.getKey()));
            value(entry.getValue());
        }
    }

    private void value(Object value) throws IOException {
        if (value instanceof Map<?, ?> map) {
            json.writeStartObject();
            fields(map);
            json.writeEndObject();
        } else if (value instanceof List<?> list) {
            json.writeStartArray();
            for (Object element : list) {
                value(element);
            }
            json.writeEndArray();
        } else if (value instanceof String || value instanceof Number || value instanceof Boolean) {
            json.writePOJO(value);
        } else {
            throw new IllegalArgumentException("a report holds no " + value);
        }
    }

    private void environments() throws IOException {
        json.writeArrayFieldStart("environments");
        for (Environment environment : snapshot.environments()) {
            environment(json, environment);
        }
        json.writeEndArray();
    }

    /** Where something was measured, as an object. */
    static void environment(JsonGenerator json, Environment environment) throws IOException {
        json.writeStartObject();
        json.writeStringField("java_version", environment.javaVersion());
        json.writeStringField("jvm", environment.jvm());
        json.writeStringField("os", environment.os());
        json.writeStringField("arch", environment.arch());
        json.writeStringField("cpu", environment.cpu());
        json.writeNumberField("processors", environment.processors());
        json.writeNumberField("clock_resolution_ns", environment.clockResolutionNs());
        json.writeEndObject();
    }

    private void bricks() throws IOException {
        json.writeArrayFieldStart("bricks");
        for (BrickStats brick : snapshot.bricks()) {
            brick(brick);
        }
        json.writeEndArray();
    }

    private void brick(BrickStats brick) throws IOException {
        json.writeStartObject();
        json.writeStringField("name", brick.name());
        json.writeStringField("category", brick.category().displayName());
        json.writeNumberField("count", brick.count());
        json.writeNumberField("total_ns", brick.totalNs());
        derived("avg_us", brick.avgUs());
        derived("min_us", brick.minUs());
        derived("max_us", brick.maxUs());
        json.writeNumberField("min_ns", brick.minNs());
        json.writeNumberField("max_ns", brick.maxNs());
        json.writeNumberField("last_ns", brick.lastNs());
        json.writeNumberField("last_at_unix_ns", brick.lastAtUnixNs());
        OptionalLong netNs = snapshot.facts().netNs(brick);
        if (netNs.isPresent() && !isCompact) {
            json.writeNumberField("net_ns", netNs.getAsLong());
        }
        derived("throughput", brick.throughput());
        derived("pct", brick.percentage(totalNs));
        json.writeNumberField("total_elements", brick.totalElements());
        sum("total_bytes", brick.totalBytes());
        sum("total_compressed_bytes", brick.totalCompressedBytes());
        derived("compression_ratio", brick.compressionRatio());
        derived("throughput_gbps", brick.throughputGbps());
        sum("total_cycles", brick.totalCycles());
        sum("min_cycles", brick.minCycles());
        sum("max_cycles", brick.maxCycles());
        json.writeStringField("bottleneck", brick.bottleneck().name().toLowerCase(Locale.ROOT));
        if (brick.latency().isPresent()) {
            distribution("latency", brick.latency().get(), brick::percentileNs);
        }
        if (!brick.device().equals(DeviceTime.NONE)) {
            device(brick);
        }
        if (!brick.work().equals(Work.NONE)) {
            work(brick);
        }
        json.writeEndObject();
    }

    private void work(BrickStats brick) throws IOException {
        Work work = brick.work();
        json.writeObjectFieldStart("work");
        json.writeNumberField("flops", work.flops());
        json.writeNumberField("bytes", work.bytes());
        json.writeNumberField("working_set_bytes", work.workingSetBytes());
        derived("gflops", brick.gflops());
        derived("arithmetic_intensity", work.intensity());
        json.writeEndObject();
    }

    private void device(BrickStats brick) throws IOException {
        DeviceTime device = brick.device();
        json.writeObjectFieldStart("device");
        json.writeStringField("time_source", brick.timeSource().name().toLowerCase(Locale.ROOT));
        json.writeNumberField("device_samples", device.samples());
        json.writeNumberField("launches", device.launches());
        json.writeNumberField("launch_ns", device.launchNs());
        json.writeNumberField("min_launch_ns", device.minLaunchNs());
        json.writeNumberField("max_launch_ns", device.maxLaunchNs());
        json.writeNumberField("unresolved", device.unresolved());
        if (device.withoutStart() > 0) {
            json.writeNumberField("without_start", device.withoutStart());
        }
        json.writeEndObject();
    }

    private void distribution(String key, LatencyDistribution latency, DoubleToLongFunction percentileNs)
            throws IOException {
        json.writeObjectFieldStart(key);
        derived("p50_us", percentileNs.applyAsLong(50) / 1e3);
        derived("p90_us", percentileNs.applyAsLong(90) / 1e3);
        derived("p99_us", percentileNs.applyAsLong(99) / 1e3);
        derived("p999_us", percentileNs.applyAsLong(99.9) / 1e3);
        number("relative_error", LatencyDistribution.RELATIVE_ERROR);
        json.writeArrayFieldStart("buckets");
        long[] counts = latency.counts();
        for (int bucket = 0; bucket < counts.length; bucket++) {
            if (counts[bucket] > 0) {
                json.writeArray(new long[] {bucket, counts[bucket]}, 0, 2);
            }
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    private void categories() throws IOException {
        json.writeArrayFieldStart("categories");
        for (Map.Entry<BrickCategory, CategoryStats> entry :
                snapshot.categories().entrySet()) {
            json.writeStartObject();
            json.writeStringField("name", entry.getKey().displayName());
            json.writeNumberField("count", entry.getValue().count());
            json.writeNumberField("total_ns", entry.getValue().totalNs());
            number("pct", entry.getValue().percentage(totalNs));
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private void tiles() throws IOException {
        json.writeArrayFieldStart("tiles");
        for (TileStats tile : snapshot.tiles()) {
            json.writeStartObject();
            json.writeStringField("level", tile.level().displayName());
            json.writeNumberField("count", tile.count());
            json.writeNumberField("total_ns", tile.totalNs());
            derived("avg_us", tile.avgUs());
            derived("min_us", tile.minUs());
            derived("max_us", tile.maxUs());
            json.writeNumberField("min_ns", tile.minNs());
            json.writeNumberField("max_ns", tile.maxNs());
            derived("gflops", tile.gflops());
            derived("arithmetic_intensity", tile.arithmeticIntensity());
            json.writeNumberField("total_elements", tile.totalElements());
            json.writeNumberField("total_flops", tile.totalFlops());
            json.writeNumberField("slowest_row", tile.slowestRow());
            json.writeNumberField("slowest_col", tile.slowestCol());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private void streams() throws IOException {
        if (snapshot.streams().isEmpty()) {
            return;
        }
        json.writeArrayFieldStart("streams");
        for (StreamTotals stream : snapshot.streams()) {
            json.writeStartObject();
            json.writeStringField("stream", stream.stream());
            json.writeStringField("device", stream.device());
            json.writeNumberField("device_index", stream.deviceIndex());
            if (stream.deviceUuid().isPresent()) {
                json.writeStringField("device_uuid", stream.deviceUuid().get());
            }
            if (stream.pciAddress().isPresent()) {
                json.writeStringField("pci_address", stream.pciAddress().get());
            }
            json.writeNumberField("samples", stream.samples());
            json.writeNumberField("busy_ns", stream.busyNs());
            json.writeNumberField("idle_ns", stream.idleNs());
            json.writeNumberField("waits", stream.waits());
            json.writeNumberField("clock_error_ns", stream.clockErrorNs());
            if (stream.failure().isPresent()) {
                json.writeStringField("failure", stream.failure().get());
            }
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private void steps(Steps steps) throws IOException {
        json.writeObjectFieldStart("steps");
        json.writeNumberField("abandoned", steps.abandoned());
        LatencyDistribution first = steps.timeToFirstToken();
        LatencyDistribution perToken = steps.timePerOutputToken();
        distribution("time_to_first_token", first, first::percentileNs);
        json.writeNumberField("time_to_first_token_ns", steps.timeToFirstTokenNs());
        distribution("time_per_output_token", perToken, perToken::percentileNs);
        json.writeArrayFieldStart("phases");
        for (StepStats phase : steps.phases()) {
            phase(phase);
        }
        json.writeEndArray();
        json.writeFieldName("kept_columns");
        StepRow.writeColumns(json);
        json.writeArrayFieldStart("kept");
        for (Step step : steps.kept()) {
            StepRow.write(json, step);
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    private void phase(StepStats phase) throws IOException {
        json.writeStartObject();
        json.writeStringField("phase", phase.phase().name().toLowerCase(Locale.ROOT));
        json.writeNumberField("count", phase.count());
        json.writeNumberField("wall_ns", phase.wallNs());
        json.writeNumberField("total_ns", phase.totalNs());
        json.writeNumberField("min_ns", phase.minNs());
        json.writeNumberField("max_ns", phase.maxNs());
        derived("avg_us", phase.avgNs() / 1e3);
        derived("output_tokens_per_s", phase.outputTokensPerSecond());
        derived("prefill_tokens_per_s", phase.prefillTokensPerSecond());
        json.writeNumberField("sequences", phase.sequences());
        json.writeNumberField("prefill_tokens", phase.prefillTokens());
        json.writeNumberField("output_tokens", phase.outputTokens());
        json.writeNumberField("drafted_tokens", phase.draftedTokens());
        json.writeNumberField("accepted_tokens", phase.acceptedTokens());
        json.writeNumberField("kv_length", phase.kvLength());
        json.writeNumberField("attributed", phase.attributed());
        json.writeObjectFieldStart("category_ns");
        for (Map.Entry<BrickCategory, Long> part : phase.categoryNs().entrySet()) {
            json.writeNumberField(part.getKey().displayName(), part.getValue());
        }
        json.writeEndObject();
        distribution("durations", phase.durations(), phase::percentileNs);
        json.writeEndObject();
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
            fields(facts.machine());
            json.writeEndObject();
        }
        if (!facts.disturbances().isEmpty()) {
            json.writeFieldName("disturbances");
            value(facts.disturbances());
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
            environment(json, calibration.environment());
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
        json.writeObjectFieldStart(key);
        number("median", spread.medianNs());
        number("low", spread.lowNs());
        number("high", spread.highNs());
        json.writeEndObject();
    }

    private void nesting(Map<String, ExecutionGraph.Nesting> nesting) throws IOException {
        json.writeArrayFieldStart("nesting");
        for (Map.Entry<String, ExecutionGraph.Nesting> entry : nesting.entrySet()) {
            json.writeStartObject();
            json.writeStringField("name", entry.getKey());
            json.writeNumberField("samples", entry.getValue().samples());
            json.writeNumberField("lapped", entry.getValue().lapped());
            json.writeNumberField("within", entry.getValue().within());
            json.writeNumberField("lapped_within", entry.getValue().lappedWithin());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private void virtualMachines(List<RunFacts.VirtualMachine> machines) throws IOException {
        json.writeArrayFieldStart("virtual_machines");
        for (RunFacts.VirtualMachine machine : machines) {
            json.writeStartObject();
            json.writeNumberField("pid", machine.pid());
            json.writeStringField("started_at", machine.startedAt().toString());
            json.writeNumberField("up_ns", machine.upNs());
            json.writeNumberField("gc_ns", machine.gcNs());
            json.writeNumberField("jit_ns", machine.jitNs());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    /** What {@link JsonReportReader} works out again. */
    private void derived(String key, double value) throws IOException {
        if (!isCompact) {
            number(key, value);
        }
    }

    /** What most bricks have none of; a key that is missing reads as 0. */
    private void sum(String key, long value) throws IOException {
        if (!isCompact || value != 0) {
            json.writeNumberField(key, value);
        }
    }

    private void number(String key, double value) throws IOException {
        JsonText.number(json, key, value);
    }
}
