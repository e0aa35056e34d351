package org.brickprofiler.report.internal;

import java.io.IOException;
import java.time.Instant;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.DoubleToLongFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.brickprofiler.Bottleneck;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickStats;
import org.brickprofiler.Calibration;
import org.brickprofiler.DeviceTime;
import org.brickprofiler.Environment;
import org.brickprofiler.RunFacts;
import org.brickprofiler.RunIdentity;
import org.brickprofiler.Step;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepStats;
import org.brickprofiler.Work;
import org.brickprofiler.device.MarkCost;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.graph.ExecutionGraph;
import org.brickprofiler.internal.base.Sums;
import org.brickprofiler.report.internal.Fields.FactGroup;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.tile.TileStats;
import org.jspecify.annotations.Nullable;

/**
 * The tables of fields of the records in a profile, and the types of their rows. All readers of files use these tables,
 * so no two readers read different values from a file. Stateless; any thread.
 */
public final class ProfileFields {

    /** Replaces a text that a file lacks. */
    private static final String UNKNOWN = "unknown";

    private static final double NS_PER_S = 1e9;
    private static final double NS_PER_US = 1e3;

    private ProfileFields() {}

    /**
     * A distribution and how its percentiles are found.
     *
     * @param counts samples in each bucket
     * @param percentileNs the duration at a percentage, ns
     * @param estimated the brick whose percentiles these are, if they are estimates
     */
    public record Spread(
            LatencyDistribution counts, DoubleToLongFunction percentileNs, Optional<BrickStats> estimated) {

        /**
         * Creates the distribution of samples that are all known.
         *
         * @param counts samples in each bucket
         * @param percentileNs the duration at a percentage, ns
         */
        public Spread(LatencyDistribution counts, DoubleToLongFunction percentileNs) {
            this(counts, percentileNs, Optional.empty());
        }

        private double atLeastUs(double percent) {
            return orUnknown(estimated.map(brick -> brick.percentileAtLeastNs(percent)));
        }

        private double atMostUs(double percent) {
            return orUnknown(estimated.map(brick -> brick.percentileAtMostNs(percent)));
        }

        private static double orUnknown(Optional<OptionalLong> ns) {
            return ns.filter(OptionalLong::isPresent)
                    .map(bound -> bound.getAsLong() / NS_PER_US)
                    .orElse(Double.NaN);
        }

        private double us(double percent) {
            return percentileNs.applyAsLong(percent) / NS_PER_US;
        }
    }

    /**
     * A brick with facts that depend on its profile.
     *
     * @param stats the brick
     * @param totalNs the time of all bricks of the profile, ns
     * @param netNs its time without the cost of measuring it, ns; empty if the cost is unknown
     */
    public record Brick(BrickStats stats, long totalNs, OptionalLong netNs) {}

    /** The fields of a distribution of durations. */
    public static final Fields<Spread> DISTRIBUTION = new Fields.Builder<Spread>("distribution")
            .derived("p50_us", "median duration, us", spread -> spread.us(50))
            .derived("p90_us", "90th percentile, us", spread -> spread.us(90))
            .fact(FactGroup.PERCENTILES, "p90", "us")
            .derived("p99_us", "99th percentile, us", spread -> spread.us(99))
            .derived("p999_us", "99.9th percentile, us", spread -> spread.us(99.9))
            .fact(FactGroup.PERCENTILES, "p99.9", "us")
            .derivedIfFinite("p50_at_least_us", "ends of 95 % intervals, if known, us", spread -> spread.atLeastUs(50))
            .jsonOnly()
            .derivedIfFinite("p50_at_most_us", "ends of 95 % intervals, if known, us", spread -> spread.atMostUs(50))
            .jsonOnly()
            .derivedIfFinite("p99_at_least_us", "ends of 95 % intervals, if known, us", spread -> spread.atLeastUs(99))
            .jsonOnly()
            .derivedIfFinite("p99_at_most_us", "ends of 95 % intervals, if known, us", spread -> spread.atMostUs(99))
            .jsonOnly()
            .object(
                    "relative_error",
                    "largest error of a duration that is found by its bucket",
                    spread -> LatencyDistribution.RELATIVE_ERROR,
                    ProfileFields::relativeError)
            .jsonOnly()
            .buckets("buckets", "number and samples of each bucket that has samples", spread -> spread.counts()
                    .counts())
            .build();

    private static final Fields<BrickStats> DEVICE = new Fields.Builder<BrickStats>("device times")
            .shown("time_source", "clock of the samples: host, device or mixed", brick -> lower(brick.timeSource()))
            .oneOf(Stream.of(DeviceTime.Source.values()).map(ProfileFields::lower))
            .whole("device_samples", "samples that the device timed", brick -> brick.device()
                    .measured())
            .fact(FactGroup.DEVICE, "Timed by a device", "count")
            .whole("launches", "samples of the device whose launch the host timed, too", brick -> brick.device()
                    .launches())
            .fact(FactGroup.DEVICE, "Launches timed", "count")
            .whole(
                    "launch_ns",
                    "sum of the host's time from start to stop of these launches, ns",
                    brick -> brick.device().launchNs())
            .whole("min_launch_ns", "shortest launch, ns; 0 if unknown", brick -> brick.device()
                    .minLaunchNs())
            .factIf("max_launch_ns", FactGroup.DEVICE, "Shortest launch", "ns")
            .jsonOnly()
            .whole("max_launch_ns", "longest launch, ns; 0 if unknown", brick -> brick.device()
                    .maxLaunchNs())
            .factIf("max_launch_ns", FactGroup.DEVICE, "Longest launch", "ns")
            .jsonOnly()
            .whole("unresolved", "samples whose time is unknown; they are in no other sum", brick -> brick.device()
                    .unresolved())
            .fact(FactGroup.DEVICE, "Unresolved", "count")
            .optionalWhole(
                    "without_start",
                    "unresolved samples whose start is not known; left out if 0",
                    brick -> brick.device().withoutStart() > 0
                            ? OptionalLong.of(brick.device().withoutStart())
                            : OptionalLong.empty())
            .optionalWhole(
                    "unmarked",
                    "samples on the device that had no marks, whose time is estimated; left out if 0",
                    brick -> brick.device().isEstimated()
                            ? OptionalLong.of(brick.device().unmarked())
                            : OptionalLong.empty())
            .factIf("unmarked", FactGroup.DEVICE, "Without marks", "count")
            .optionalReal(
                    "open_error_ns",
                    "part of standard_error_ns due to samples since the latest complete block, ns",
                    brick -> ifPositive(brick.device().openErrorNs()))
            .jsonOnly()
            .optionalReal(
                    "weight_products",
                    "sum of w (w - 1) if a mark stands for w samples",
                    brick -> ifPositive(brick.device().weightProducts()))
            .jsonOnly()
            .optionalWhole(
                    "marked_samples",
                    "samples of marks_ns",
                    brick -> ifMarked(brick, brick.device().marks().samples()))
            .jsonOnly()
            .optionalWhole(
                    "marks_ns",
                    "what marks add to samples, ns",
                    brick -> ifMarked(brick, brick.device().marks().ns()))
            .factIf("marks_ns", FactGroup.DEVICE, "Added by marks", "ns")
            .jsonOnly()
            .optionalWhole(
                    "marks_error_ns",
                    "uncertainty of that, ns",
                    brick -> ifMarked(brick, brick.device().marks().errorNs()))
            .factIf("marks_ns", FactGroup.DEVICE, "Uncertainty of that", "ns")
            .jsonOnly()
            .optionalFlag("short", "true below twice what marks add", BrickStats::isShortBesideMarks)
            .jsonOnly()
            .build();

    private static final Fields<BrickStats> WORK = new Fields.Builder<BrickStats>("work")
            .whole(
                    "flops",
                    "floating-point operations; a multiplication with an addition counts as two",
                    brick -> brick.work().flops())
            .whole("bytes", "bytes read and written", brick -> brick.work().bytes())
            .whole("working_set_bytes", "largest working set, bytes", brick -> brick.work()
                    .workingSetBytes())
            .optionalWhole(
                    "work_samples",
                    "samples whose work is known; left out if these are all",
                    brick -> brick.hasWorkOfAll() ? OptionalLong.empty() : OptionalLong.of(brick.workSamples()))
            .derivedIfFinite(
                    "gflops",
                    "10^9 operations per second; left out if the work of some samples is unknown",
                    brick -> brick.hasWorkOfAll() ? brick.gflops() : Double.NaN)
            .jsonOnly()
            .derivedIfFinite("arithmetic_intensity", "operations per byte", brick -> brick.work()
                    .intensity())
            .jsonOnly()
            .build();

    /** The fields of a brick. */
    public static final Fields<Brick> BRICK = new Fields.Builder<Brick>("brick")
            .text("name", "display name", brick -> brick.stats.name())
            .object(
                    "category",
                    "category; if it is missing, that of the known brick of this name, otherwise Other",
                    brick -> brick.stats.category().displayName(),
                    (input, key) -> input.oneOf(key, BrickCategory.values(), BrickCategory::displayName))
            .typed("string")
            .fact(FactGroup.KIND, "Category", "text")
            .whole("count", "number of samples", brick -> brick.stats.count())
            .fact(FactGroup.TIMES, "Samples", "count")
            .packed()
            .whole("total_ns", "sum of the durations, ns", brick -> brick.stats.totalNs())
            .fact(FactGroup.TIMES, "Total", "ns")
            .factPer("count", FactGroup.TIMES, "Average", "duration")
            .packed()
            .optionalFlag(
                    "estimated",
                    "true if total_ns and all values that follow from it are estimates, as some samples had no marks",
                    brick -> brick.stats.device().isEstimated())
            .optionalReal(
                    "standard_error_ns",
                    "standard error of total_ns, ns; left out of an estimate if too few samples had marks",
                    brick -> ifEstimated(brick.stats, brick.stats.device().standardErrorNs()))
            .optionalReal(
                    "degrees_of_freedom",
                    "degrees of freedom of that error",
                    brick -> ifEstimated(brick.stats, brick.stats.device().degreesOfFreedom()))
            .derivedIfFinite(
                    "half_interval_ns",
                    "half of the 95 % interval of an estimated total_ns, ns",
                    brick -> brick.stats.device().isEstimated()
                            ? brick.stats.device().halfIntervalNs().orElse(Double.NaN)
                            : Double.NaN)
            .derived("avg_us", "mean duration, us", brick -> brick.stats.avgUs())
            .oldForm("min_us", "shortest duration, us", brick -> brick.stats.minUs())
            .oldForm("max_us", "longest duration, us", brick -> brick.stats.maxUs())
            .whole("min_ns", "shortest duration, ns; 0 if unknown", brick -> brick.stats.minNs())
            .factIf("min_ns", FactGroup.TIMES, "Shortest", "ns")
            .packed("min_ns", ProfileFields::packedMinNs)
            .whole("max_ns", "longest duration, ns; 0 if unknown", brick -> brick.stats.maxNs())
            .factIf("max_ns", FactGroup.TIMES, "Longest", "ns")
            .packed("max_ns", ProfileFields::packedMaxNs)
            .optionalWhole(
                    "min_at_least_ns",
                    "lower bound of a window's unknown shortest duration, ns",
                    brick -> brick.stats.minAtLeastNs())
            .jsonOnly()
            .optionalWhole(
                    "max_at_most_ns",
                    "upper bound of a window's unknown longest duration, ns",
                    brick -> brick.stats.maxAtMostNs())
            .jsonOnly()
            .whole("last_ns", "duration of the sample recorded last, ns", brick -> brick.stats.lastNs())
            .fact(FactGroup.TIMES, "Recorded last", "ns")
            .whole(
                    "last_at_unix_ns",
                    "end of the sample recorded last, ns since 1970-01-01T00:00Z",
                    brick -> brick.stats.lastAtUnixNs())
            .derivedWhole(
                    "net_ns",
                    "sum of the durations without the cost of measuring them, ns; if that cost is known",
                    Brick::netNs)
            .jsonOnly()
            .oldForm("throughput", "elements per second", brick -> brick.stats.throughput())
            .derived(
                    "pct",
                    "share of the time of all bricks, %; of a device's bricks by net_ns",
                    brick -> brick.stats.percentage(brick.totalNs))
            .whole("total_elements", "sum of the elements", brick -> brick.stats.totalElements())
            .fact(FactGroup.AMOUNTS, "Elements", "count")
            .factPer("count", FactGroup.AMOUNTS, "Elements for each sample", "number")
            .packed("elements", ProfileFields::elements)
            .sum("total_bytes", "sum of the input bytes", brick -> brick.stats.totalBytes())
            .fact(FactGroup.AMOUNTS, "Input bytes", "count")
            .sum("total_compressed_bytes", "sum of the output bytes", brick -> brick.stats.totalCompressedBytes())
            .fact(FactGroup.AMOUNTS, "Output bytes", "count")
            .oldForm("compression_ratio", "input bytes per output byte", brick -> brick.stats.compressionRatio())
            .factIf("total_compressed_bytes", FactGroup.AMOUNTS, "Input by output bytes", "number")
            .derived("throughput_gbps", "10^9 input bytes per second", brick -> brick.stats.throughputGbps())
            .sum("total_cycles", "sum of the cycles", brick -> brick.stats.totalCycles())
            .fact(FactGroup.AMOUNTS, "Cycles", "count")
            .factPer("total_ns", FactGroup.AMOUNTS, "Cycles for each ns", "number")
            .sum("min_cycles", "fewest cycles of a sample with cycles, 0 if unknown", brick -> brick.stats.minCycles())
            .sum("max_cycles", "most cycles of a sample, 0 if unknown", brick -> brick.stats.maxCycles())
            .object(
                    "bottleneck",
                    "limit of the brick: unknown, memory or compute; unknown if it is missing",
                    brick -> lower(brick.stats.bottleneck()),
                    (input, key) -> input.oneOf(key, Bottleneck.values(), Bottleneck::name))
            .oneOf(Stream.of(Bottleneck.values()).map(ProfileFields::lower))
            .fact(FactGroup.KIND, "Limit", "text")
            .part("latency", "distribution of the durations", DISTRIBUTION, brick -> brick.stats
                    .latency()
                    .map(counts -> new Spread(
                            counts,
                            brick.stats::percentileNs,
                            Optional.of(brick.stats)
                                    .filter(stats -> stats.device().isEstimated()))))
            .part("device", "samples that devices timed", DEVICE, brick -> Optional.of(brick.stats)
                    .filter(stats -> !stats.device().equals(DeviceTime.NONE)))
            .packed("unresolved", row -> ofDevice(row, "unresolved"))
            .packed("device_samples", row -> ofDevice(row, "device_samples"))
            .packed("unmarked", row -> ofDevice(row, "unmarked"))
            .part("work", "work, if it was recorded", WORK, brick -> Optional.of(brick.stats)
                    .filter(stats -> !stats.work().equals(Work.NONE)))
            .build();

    /** The fields of a tile level. */
    public static final Fields<TileStats> TILE = new Fields.Builder<TileStats>("tile level")
            .object(
                    "level",
                    "level: macro, midi or micro",
                    tile -> tile.level().displayName(),
                    (input, key) -> input.oneOf(key, TileLevel.values(), TileLevel::displayName))
            .oneOf(Stream.of(TileLevel.values()).map(TileLevel::displayName))
            .whole("count", "number of samples", TileStats::count)
            .whole("total_ns", "sum of the durations, ns", TileStats::totalNs)
            .derived("avg_us", "mean duration, us", TileStats::avgUs)
            .oldForm("min_us", "shortest duration, us", TileStats::minUs)
            .oldForm("max_us", "longest duration, us", TileStats::maxUs)
            .whole("min_ns", "shortest duration, ns; 0 if unknown", TileStats::minNs)
            .whole("max_ns", "longest duration, ns; 0 if unknown", TileStats::maxNs)
            .optionalWhole(
                    "min_at_least_ns",
                    "lower bound of a window's unknown shortest duration, ns",
                    TileStats::minAtLeastNs)
            .optionalWhole(
                    "max_at_most_ns", "upper bound of a window's unknown longest duration, ns", TileStats::maxAtMostNs)
            .derived("gflops", "10^9 operations per second", TileStats::gflops)
            .derived(
                    "arithmetic_intensity",
                    "operations per byte, at 4 bytes an element",
                    TileStats::arithmeticIntensity)
            .whole("total_elements", "sum of the elements", TileStats::totalElements)
            .whole("total_flops", "sum of the floating-point operations", TileStats::totalFlops)
            .place("slowest_row", "row of the slowest sample, -1 if unknown", TileStats.UNKNOWN, TileStats::slowestRow)
            .place(
                    "slowest_col",
                    "column of the slowest sample, -1 if unknown",
                    TileStats.UNKNOWN,
                    TileStats::slowestCol)
            .optionalWhole(
                    "unresolved",
                    "samples whose timer could not hold their time, in no sum; left out if 0",
                    tile -> tile.unresolved() > 0 ? OptionalLong.of(tile.unresolved()) : OptionalLong.empty())
            .build();

    /** The fields of a device stream. */
    public static final Fields<StreamTotals> STREAM = new Fields.Builder<StreamTotals>("stream")
            .text("stream", "name of the stream", StreamTotals::stream)
            .text("device", "name of the device", StreamTotals::device)
            .place("device_index", "number of the device among those of its kind", 0, StreamTotals::deviceIndex)
            .optionalText("device_uuid", "UUID of the device", StreamTotals::deviceUuid)
            .optionalText("pci_address", "PCI address of the device", StreamTotals::pciAddress)
            .whole("samples", "bricks with a time of the device", StreamTotals::samples)
            .packed("bricks", row -> row.whole("samples"))
            .whole(
                    "busy_ns",
                    "time in which at least one brick ran, ns: the union of their times",
                    StreamTotals::busyNs)
            .packed()
            .whole("idle_ns", "time in which none ran between two bricks of one pass, ns", StreamTotals::idleNs)
            .packed()
            .whole("gaps", "gaps in that time", StreamTotals::gaps)
            .whole(
                    "shortest_gap_ns",
                    "shortest gap, ns; a mark takes the device no longer",
                    StreamTotals::shortestGapNs)
            .whole("waits", "waits of the host for the stream", StreamTotals::waits)
            .whole(
                    "clock_error_ns",
                    "largest error of a device time as a time of the host, ns",
                    StreamTotals::clockErrorNs)
            .optionalText(
                    "failure", "reason why the stream does not work, or what it could not do", StreamTotals::failure)
            .optionalFlag(
                    "estimated",
                    "true if bricks were marked by sampling: busy_ns is estimated, and idle_ns and gaps are unknown, and 0",
                    StreamTotals::isSampled)
            .optionalWhole(
                    "pass_ns",
                    "with estimated: time of the passes, each from its first brick to its end, ns; left out if unknown"
                            + " of a pass",
                    StreamTotals::passNs)
            .optionalReal(
                    "brick_marks_ns",
                    "what the marks of a brick add, ns",
                    stream -> ifKnown(stream, stream.markCost().brickNs()))
            .optionalReal(
                    "mark_ns",
                    "what a further mark adds, ns",
                    stream -> ifKnown(stream, stream.markCost().markNs()))
            .optionalReal(
                    "mark_error_ns",
                    "uncertainty of both, ns",
                    stream -> ifKnown(stream, stream.markCost().errorNs()))
            .optionalWhole(
                    "net_pass_ns",
                    "time of the passes without what marks add, ns",
                    stream -> ofNet(stream, StreamTotals.Net::passNs))
            .optionalWhole(
                    "net_bricks_ns", "that of the bricks, ns", stream -> ofNet(stream, StreamTotals.Net::bricksNs))
            .optionalWhole(
                    "net_error_ns",
                    "uncertainty of the difference, ns",
                    stream -> ofNet(stream, StreamTotals.Net::errorNs))
            .optionalReal(
                    "net_standard_error_ns",
                    "standard error of the difference, ns",
                    stream -> stream.net().isPresent()
                            ? ifPositive(stream.net().get().standardErrorNs())
                            : OptionalDouble.empty())
            .optionalText("no_net", "why that is unknown", stream -> Optional.of(stream.markCost())
                    .filter(cost -> !cost.isKnown() && !cost.equals(MarkCost.NOT_RECORDED))
                    .map(MarkCost::unknown))
            .build();

    /** The fields of the steps of one phase. */
    public static final Fields<StepStats> PHASE = new Fields.Builder<StepStats>("phase of steps")
            .object("phase", "phase of the steps", phase -> lower(phase.phase()), ProfileFields::phase)
            .typed("string")
            .whole("count", "number of steps", StepStats::count)
            .packed("steps", row -> row.whole("count"))
            .whole("wall_ns", "time in which at least one step of the phase was open, ns", StepStats::wallNs)
            .whole("total_ns", "sum of the durations, ns", StepStats::totalNs)
            .packed()
            .whole("min_ns", "shortest duration, ns", StepStats::minNs)
            .whole("max_ns", "longest duration, ns", StepStats::maxNs)
            .derived("avg_us", "mean duration, us", phase -> phase.avgNs() / NS_PER_US)
            .derived("output_tokens_per_s", "output tokens per second", StepStats::outputTokensPerSecond)
            .derived("prefill_tokens_per_s", "tokens of prompts per second", StepStats::prefillTokensPerSecond)
            .whole("sequences", "sum of the batch sizes", StepStats::sequences)
            .whole("prefill_tokens", "sum of the tokens of prompts", StepStats::prefillTokens)
            .whole("output_tokens", "sum of the output tokens, accepted drafted ones included", StepStats::outputTokens)
            .packed("tokens", row -> Sums.limited(row.whole("prefill_tokens"), row.whole("output_tokens")))
            .packed("max_ns", row -> row.whole("max_ns"))
            .packed("wall_ns", row -> row.whole("wall_ns"))
            .whole("drafted_tokens", "sum of the drafted tokens", StepStats::draftedTokens)
            .whole("accepted_tokens", "sum of the accepted tokens", StepStats::acceptedTokens)
            .whole(
                    "kv_length",
                    "sum of the positions in the key-value cache at the beginnings of the steps",
                    StepStats::kvLength)
            .optionalWhole(
                    "cpu_steps",
                    "steps whose CPU time is known",
                    phase -> ifTimed(phase, phase.cpu().steps()))
            .optionalWhole(
                    "cpu_wall_ns",
                    "time between the readings before and after each of these steps, ns",
                    phase -> ifTimed(phase, phase.cpu().wallNs()))
            .optionalWhole(
                    "cpu_ns",
                    "time that the threads which began these steps ran on a processor, ns",
                    phase -> ifTimed(phase, phase.cpu().ranNs()))
            .optionalWhole(
                    "cpu_waited_ns",
                    "time that these threads were ready to run and waited for a processor, throttled or not, ns; on Linux only",
                    phase -> phase.cpu().waitedNs())
            .whole("attributed", "steps whose brick time by category is known", StepStats::attributed)
            .object(
                    "category_ns",
                    "brick time of each category in the attributed steps, ns; an object with the names of categories"
                            + " as keys",
                    ProfileFields::byName,
                    ProfileFields::byCategory)
            .typed("Record<string, number>")
            .alwaysPart(
                    "durations",
                    "distribution of the durations",
                    DISTRIBUTION,
                    phase -> new Spread(phase.durations(), phase::percentileNs))
            .build();

    private static OptionalLong ifTimed(StepStats phase, long number) {
        return phase.cpu().steps() == 0 ? OptionalLong.empty() : OptionalLong.of(number);
    }

    /** The fields of a step. A step is a row of a table, so that hundreds of steps stay a small part of a report. */
    public static final Fields<Step> STEP = step();

    private static Fields<Step> step() {
        Fields.Builder<Step> fields = new Fields.Builder<Step>("step")
                .object("phase", "phase of the step", step -> lower(step.info().phase()), ProfileFields::phase)
                .typed("string")
                .whole("index", "number of the step", Step::index)
                .signed("started_at_unix_ns", "beginning, ns since 1970-01-01T00:00Z", Step::startedAtUnixNs)
                .whole("duration_ns", "duration, ns", Step::durationNs)
                .place("batch", "sequences of the batch; 1 if it is missing", 0, step -> step.info()
                        .batch())
                .whole("prefill_tokens", "tokens of prompts", step -> step.info()
                        .prefillTokens())
                .whole(
                        "kv_length",
                        "positions in the key-value cache at the beginning of the step, summed over its sequences",
                        step -> step.info().kvLength())
                .whole("output_tokens", "output tokens without accepted drafted ones", step -> step.info()
                        .outputTokens())
                .whole("drafted_tokens", "drafted tokens", step -> step.info().draftedTokens())
                .whole("accepted_tokens", "accepted tokens", Step::acceptedTokens);
        for (BrickCategory category : BrickCategory.values()) {
            fields.whole(
                    category.displayName(), "brick time of this category, ns; 0 if unknown", step -> step.categoryNs()
                            .getOrDefault(category, 0L));
        }
        return fields.build();
    }

    /** The fields of the identity of a run. */
    public static final Fields<RunIdentity> IDENTITY = new Fields.Builder<RunIdentity>("identity")
            .optionalText("run_id", "name of the run, the same on all ranks", RunIdentity::runId)
            .optionalPlace("rank", "number of the process in the run", RunIdentity::rank)
            .optionalPlace("world_size", "number of ranks", RunIdentity::worldSize)
            .optionalPlace("local_rank", "number of the process on its host", RunIdentity::localRank)
            .optionalText("host", "name of the host", RunIdentity::host)
            .optionalText("device", "name of the device", RunIdentity::device)
            .optionalText("model", "name of the model", RunIdentity::model)
            .optionalText("precision", "type of the weights", RunIdentity::precision)
            .optionalText("commit", "version of the engine", RunIdentity::commit)
            .optionalText("phase", "part of the run", RunIdentity::phase)
            .optionalWhole("first_step", "number of the first step; read with last_step only", RunIdentity::firstStep)
            .optionalWhole("last_step", "number of the last step; read with first_step only", RunIdentity::lastStep)
            .optionalWhole("window", "number of the window", RunIdentity::window)
            .build();

    /** The fields of an environment. */
    public static final Fields<Environment> ENVIRONMENT = new Fields.Builder<Environment>("environment")
            .text("java_version", "version of Java", Environment::javaVersion)
            .text("jvm", "name and version of the virtual machine", Environment::jvm)
            .text("os", "name and version of the operating system", Environment::os)
            .text("arch", "architecture of the processor", Environment::arch)
            .text("cpu", "model of the processor, or its architecture if the model is not known", Environment::cpu)
            .place("processors", "processors that the virtual machine may use", 0, Environment::processors)
            .whole("clock_resolution_ns", "smallest observed step of the clock, ns", Environment::clockResolutionNs)
            .build();

    /** The fields of a virtual machine of a run. */
    public static final Fields<RunFacts.VirtualMachine> VIRTUAL_MACHINE = new Fields.Builder<RunFacts.VirtualMachine>(
                    "virtual machine")
            .whole("pid", "number of the process", RunFacts.VirtualMachine::pid)
            .object(
                    "started_at",
                    "beginning, ISO 8601 in UTC",
                    machine -> machine.startedAt().toString(),
                    JsonInput::moment)
            .typed("string")
            .whole("up_ns", "time since its beginning, ns", RunFacts.VirtualMachine::upNs)
            .whole("gc_ns", "time that the garbage collectors report, ns", RunFacts.VirtualMachine::gcNs)
            .whole(
                    "jit_ns",
                    "time that the compilers report, over all of their threads, ns",
                    RunFacts.VirtualMachine::jitNs)
            .build();

    /** The fields of the nesting of one brick, by its name. */
    public static final Fields<Map.Entry<String, ExecutionGraph.Nesting>> NESTING = new Fields.Builder<
                    Map.Entry<String, ExecutionGraph.Nesting>>("nesting")
            .text("name", "name of the brick", Map.Entry::getKey)
            .whole("samples", "number of bricks of the name", entry -> entry.getValue()
                    .samples())
            .whole(
                    "lapped",
                    "bricks that began at the clock reading that ended the brick before",
                    entry -> entry.getValue().lapped())
            .whole("within", "number of bricks inside them, at any depth", entry -> entry.getValue()
                    .within())
            .whole(
                    "lapped_within",
                    "bricks inside them that began at the clock reading that ended the brick before",
                    entry -> entry.getValue().lappedWithin())
            .build();

    /** The fields of the spread of a measured cost. */
    public static final Fields<Calibration.Spread> SPREAD = new Fields.Builder<Calibration.Spread>("spread")
            .real("median", "median, ns", Calibration.Spread::medianNs)
            .real("low", "tenth percentile, ns", Calibration.Spread::lowNs)
            .real("high", "ninetieth percentile, ns", Calibration.Spread::highNs)
            .build();

    /**
     * Returns all tables.
     *
     * @return each once
     */
    public static List<Fields<?>> all() {
        return List.of(
                BRICK,
                DISTRIBUTION,
                DEVICE,
                WORK,
                TILE,
                STREAM,
                PHASE,
                STEP,
                IDENTITY,
                ENVIRONMENT,
                VIRTUAL_MACHINE,
                NESTING,
                SPREAD,
                RequestFields.REQUESTS,
                RequestFields.REQUEST,
                RequestFields.LIVE,
                RequestFields.FIRST_TOKEN,
                RequestFields.HISTOGRAM,
                RequestFields.MODEL,
                RequestFields.TIMELINE_STEP,
                RequestFields.TIMELINE_WORK,
                RequestFields.TIMELINE_OWN_WORK);
    }

    private static Object relativeError(JsonInput input, String key) throws IOException {
        if (input.real(key, 1.0) != LatencyDistribution.RELATIVE_ERROR) {
            throw input.wrong(key, "is that of other buckets; here it is " + LatencyDistribution.RELATIVE_ERROR);
        }
        return LatencyDistribution.RELATIVE_ERROR;
    }

    /**
     * Reads a phase.
     *
     * @param input the text, at the phase
     * @param key its key
     * @return the phase
     * @throws IOException when there is no such phase
     */
    public static StepInfo.Phase phase(JsonInput input, String key) throws IOException {
        return input.oneOf(key, StepInfo.Phase.values(), StepInfo.Phase::displayName);
    }

    private static Map<String, Long> byName(StepStats phase) {
        Map<String, Long> byName = new LinkedHashMap<>();
        phase.categoryNs().forEach((category, ns) -> byName.put(category.displayName(), ns));
        return byName;
    }

    private static Map<BrickCategory, Long> byCategory(JsonInput input, String what) throws IOException {
        Map<BrickCategory, Long> categoryNs = new EnumMap<>(BrickCategory.class);
        input.object(what, key -> {
            for (BrickCategory category : BrickCategory.values()) {
                if (category.displayName().equals(key)) {
                    categoryNs.put(category, input.whole(key, 0, Long.MAX_VALUE));
                    return;
                }
            }
            input.skip();
        });
        return categoryNs;
    }

    /**
     * Returns the text of a constant in a profile.
     *
     * @param constant any constant
     * @return its name in lower case
     */
    public static String lower(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    // ---- the records of rows ----

    /**
     * Returns the name of a brick.
     *
     * @param input the text, at the end of the brick
     * @param row the brick
     * @return the name
     * @throws IOException when it has none
     */
    public static String name(JsonInput input, Row row) throws IOException {
        String name = row.get(String.class, "name");
        if (name == null) {
            throw input.error("a brick has no name");
        }
        return name;
    }

    /**
     * Returns the category of a brick.
     *
     * @param row the brick
     * @param name its name, which determines the category if the file does not state it
     * @return the category
     */
    public static BrickCategory category(Row row, String name) {
        BrickCategory category = row.get(BrickCategory.class, "category");
        return category == null ? BrickId.parse(name).map(BrickId::category).orElse(BrickCategory.OTHER) : category;
    }

    /**
     * Returns the elements of a brick, which older files contain as a rate only.
     *
     * @param row the brick
     * @return their sum
     */
    public static long elements(Row row) {
        return row.has("total_elements")
                ? row.whole("total_elements")
                : Math.round(row.real("throughput", 0.0) * row.whole("total_ns") / NS_PER_S);
    }

    private static long ofDevice(Row brick, String key) {
        Row device = brick.get(Row.class, "device");
        return device == null ? 0 : device.whole(key);
    }

    /** Returns the shortest duration for a pack, which has both extremes or neither. */
    private static long packedMinNs(Row row) {
        return row.has("max_at_most_ns") ? 0 : row.durationNs("min_ns", "min_us");
    }

    /** Returns the longest duration for a pack, which has both extremes or neither. */
    private static long packedMaxNs(Row row) {
        return row.has("min_at_least_ns") ? 0 : row.durationNs("max_ns", "max_us");
    }

    private static long compressedBytes(Row row) {
        // The ratio is 1 also if nothing was compressed.
        double ratio = row.real("compression_ratio", 1.0);
        return row.has("total_compressed_bytes") || ratio == 1.0 || ratio == 0.0
                ? row.whole("total_compressed_bytes")
                : Math.round(row.whole("total_bytes") / ratio);
    }

    /**
     * Returns the brick of a row.
     *
     * @param input the text, at the end of the brick
     * @param row a row of {@link #BRICK}
     * @return the brick
     * @throws IOException when it has no name, or its values contradict each other
     */
    public static BrickStats brick(JsonInput input, Row row) throws IOException {
        String name = name(input, row);
        RowChecks.brick(input, row);
        Row device = row.get(Row.class, "device");
        Row work = row.get(Row.class, "work");
        return BrickStats.builder(name, category(row, name))
                .bottleneck(row.get("bottleneck", Bottleneck.UNKNOWN))
                .samples(
                        row.whole("count"),
                        row.whole("total_ns"),
                        row.durationNs("min_ns", "min_us"),
                        row.durationNs("max_ns", "max_us"))
                .bounds(row.optionalWhole("min_at_least_ns"), row.optionalWhole("max_at_most_ns"))
                .last(row.whole("last_ns"), row.whole("last_at_unix_ns"))
                .elements(elements(row))
                .bytes(row.whole("total_bytes"), compressedBytes(row))
                .cycles(row.whole("total_cycles"), row.whole("min_cycles"), row.whole("max_cycles"))
                .latency(Optional.ofNullable(distribution(row.get(Row.class, "latency"))))
                .device(device == null ? DeviceTime.NONE : device(row, device))
                .work(
                        work == null
                                ? Work.NONE
                                : new Work(work.whole("flops"), work.whole("bytes"), work.whole("working_set_bytes")),
                        work != null && work.has("work_samples") ? work.whole("work_samples") : Long.MAX_VALUE)
                .build();
    }

    private static OptionalDouble ifEstimated(BrickStats stats, double value) {
        return stats.device().degreesOfFreedom() > 0 ? OptionalDouble.of(value) : OptionalDouble.empty();
    }

    private static OptionalLong ifMarked(BrickStats stats, long value) {
        return stats.device().marks().samples() > 0 ? OptionalLong.of(value) : OptionalLong.empty();
    }

    private static OptionalLong ofNet(StreamTotals stream, ToLongFunction<StreamTotals.Net> value) {
        return stream.net().isPresent()
                ? OptionalLong.of(value.applyAsLong(stream.net().get()))
                : OptionalLong.empty();
    }

    private static Optional<StreamTotals.Net> net(Row row) {
        return row.has("net_pass_ns")
                ? Optional.of(new StreamTotals.Net(
                        row.whole("net_pass_ns"),
                        row.whole("net_bricks_ns"),
                        row.whole("net_error_ns"),
                        row.real("net_standard_error_ns", 0)))
                : Optional.empty();
    }

    private static OptionalDouble ifKnown(StreamTotals stream, double value) {
        return stream.markCost().isKnown() ? OptionalDouble.of(value) : OptionalDouble.empty();
    }

    private static MarkCost markCost(Row row) {
        String reason = row.get("no_net", "");
        return row.has("brick_marks_ns")
                ? new MarkCost(row.real("brick_marks_ns", 0), row.real("mark_ns", 0), row.real("mark_error_ns", 0), "")
                : reason.isEmpty() ? MarkCost.NOT_RECORDED : MarkCost.unknown(reason);
    }

    private static OptionalDouble ifPositive(double value) {
        return value > 0 ? OptionalDouble.of(value) : OptionalDouble.empty();
    }

    private static DeviceTime device(Row brick, Row row) {
        return new DeviceTime(
                row.whole("device_samples"),
                row.whole("launches"),
                row.whole("launch_ns"),
                row.whole("min_launch_ns"),
                row.whole("max_launch_ns"),
                row.whole("unresolved"),
                row.whole("without_start"),
                row.whole("unmarked"),
                brick.real("standard_error_ns", 0),
                brick.real("degrees_of_freedom", 0),
                row.real("open_error_ns", 0),
                row.real("weight_products", 0),
                new DeviceTime.MarkTime(
                        row.whole("marked_samples"), row.whole("marks_ns"), row.whole("marks_error_ns")));
    }

    /**
     * Returns the distribution of a row.
     *
     * @param row a row of {@link #DISTRIBUTION}; null if there is none
     * @return the distribution; null without buckets
     */
    public static @Nullable LatencyDistribution distribution(@Nullable Row row) {
        Buckets buckets = row == null ? null : row.get(Buckets.class, "buckets");
        return buckets == null ? null : buckets.distribution();
    }

    /**
     * Returns the identity of a row.
     *
     * @param input the text, at the end of the identity
     * @param row a row of {@link #IDENTITY}
     * @return the identity
     * @throws IOException when the values contradict each other
     */
    public static RunIdentity identity(JsonInput input, Row row) throws IOException {
        RunIdentity.Builder known = RunIdentity.builder();
        try {
            row.ifText("run_id", known::runId);
            row.ifText("host", known::host);
            row.ifText("device", known::device);
            row.ifText("model", known::model);
            row.ifText("precision", known::precision);
            row.ifText("commit", known::commit);
            row.ifText("phase", known::phase);
            row.ifWhole("rank", rank -> known.rank((int) rank));
            row.ifWhole("world_size", size -> known.worldSize((int) size));
            row.ifWhole("local_rank", rank -> known.localRank((int) rank));
            row.ifWhole("window", known::window);
            if (row.has("first_step") && row.has("last_step")) {
                known.steps(row.whole("first_step"), row.whole("last_step"));
            }
            return known.build();
        } catch (IllegalArgumentException wrong) {
            throw input.error("the identity is wrong: " + wrong.getMessage());
        }
    }

    /**
     * Returns the tile level of a row.
     *
     * @param input the text, at the end of the level
     * @param row a row of {@link #TILE}
     * @return the level
     * @throws IOException when it has no name, or its values contradict each other
     */
    public static TileStats tile(JsonInput input, Row row) throws IOException {
        TileLevel level = row.get(TileLevel.class, "level");
        if (level == null) {
            throw input.error("an entry of tiles has no level");
        }
        RowChecks.tile(input, row);
        return TileStats.builder(level)
                .samples(
                        row.whole("count"),
                        row.whole("total_ns"),
                        row.durationNs("min_ns", "min_us"),
                        row.durationNs("max_ns", "max_us"))
                .bounds(row.optionalWhole("min_at_least_ns"), row.optionalWhole("max_at_most_ns"))
                .work(row.whole("total_elements"), row.whole("total_flops"))
                .slowest(
                        row.has("slowest_row") ? (int) row.whole("slowest_row") : TileStats.UNKNOWN,
                        row.has("slowest_col") ? (int) row.whole("slowest_col") : TileStats.UNKNOWN)
                .unresolved(row.has("unresolved") ? row.whole("unresolved") : 0)
                .build();
    }

    /**
     * Returns the stream of a row.
     *
     * @param input the text, at the end of the stream
     * @param row a row of {@link #STREAM}
     * @return the stream
     * @throws IOException when its values contradict each other
     */
    public static StreamTotals stream(JsonInput input, Row row) throws IOException {
        RowChecks.stream(input, row);
        return StreamTotals.builder(
                        row.get("stream", UNKNOWN), row.get("device", UNKNOWN), (int) row.whole("device_index"))
                .identifiers(
                        Optional.ofNullable(row.get(String.class, "device_uuid")),
                        Optional.ofNullable(row.get(String.class, "pci_address")))
                .bricks(row.whole("samples"), row.whole("busy_ns"), row.whole("idle_ns"))
                .gaps(row.whole("gaps"), row.whole("shortest_gap_ns"))
                .waits(row.whole("waits"))
                .clockErrorNs(row.whole("clock_error_ns"))
                .failure(Optional.ofNullable(row.get(String.class, "failure")))
                .passes(row.optionalWhole("pass_ns"), row.whole("estimated") > 0)
                .markCost(markCost(row))
                .net(net(row))
                .build();
    }

    /**
     * Returns the phase of a row.
     *
     * @param input the text, at the end of the row
     * @param row a row of {@link #PHASE}
     * @return the phase
     * @throws IOException when the row has none, or its values contradict each other
     */
    public static StepInfo.Phase phaseOf(JsonInput input, Row row) throws IOException {
        StepInfo.Phase phase = row.get(StepInfo.Phase.class, "phase");
        if (phase == null) {
            throw input.error("an entry of phases has no phase");
        }
        RowChecks.steps(input, row);
        return phase;
    }

    /**
     * Returns the steps of a row.
     *
     * @param input the text, at the end of the row
     * @param row a row of {@link #PHASE}
     * @return the steps of one phase
     * @throws IOException when the row has no phase, or its values contradict each other
     */
    @SuppressWarnings("unchecked")
    public static StepStats steps(JsonInput input, Row row) throws IOException {
        LatencyDistribution durations = distribution(row.get(Row.class, "durations"));
        Map<BrickCategory, Long> categoryNs = row.get(Map.class, "category_ns");
        return StepStats.builder(phaseOf(input, row))
                .steps(row.whole("count"), row.whole("wall_ns"))
                .durations(
                        row.whole("total_ns"),
                        row.whole("min_ns"),
                        row.whole("max_ns"),
                        durations == null ? LatencyDistribution.EMPTY : durations)
                .sequences(row.whole("sequences"))
                .tokens(
                        row.whole("prefill_tokens"),
                        row.whole("output_tokens"),
                        row.whole("drafted_tokens"),
                        row.whole("accepted_tokens"))
                .kvLength(row.whole("kv_length"))
                .cpu(new StepStats.CpuTime(
                        row.whole("cpu_steps"),
                        row.whole("cpu_wall_ns"),
                        row.whole("cpu_ns"),
                        row.has("cpu_waited_ns") ? OptionalLong.of(row.whole("cpu_waited_ns")) : OptionalLong.empty()))
                .categories(row.whole("attributed"), categoryNs == null ? Map.of() : categoryNs)
                .build();
    }

    /**
     * Returns the step of a row.
     *
     * @param input the text, at the end of the row
     * @param row a row of {@link #STEP}
     * @return the step
     * @throws IOException when a value is wrong
     */
    public static Step step(JsonInput input, Row row) throws IOException {
        Map<BrickCategory, Long> categoryNs = new EnumMap<>(BrickCategory.class);
        for (BrickCategory category : BrickCategory.values()) {
            categoryNs.put(category, row.whole(category.displayName()));
        }
        try {
            StepInfo info = new StepInfo(
                    row.get("phase", StepInfo.Phase.DECODE),
                    row.has("batch") ? (int) row.whole("batch") : 1,
                    row.whole("prefill_tokens"),
                    row.whole("kv_length"),
                    row.whole("output_tokens"),
                    row.whole("drafted_tokens"));
            return new Step(
                    row.whole("index"),
                    row.whole("started_at_unix_ns"),
                    row.whole("duration_ns"),
                    info,
                    row.whole("accepted_tokens"),
                    categoryNs);
        } catch (IllegalArgumentException wrong) {
            throw input.error("a step is wrong: " + wrong.getMessage());
        }
    }

    /**
     * Returns the environment of a row.
     *
     * @param row a row of {@link #ENVIRONMENT}
     * @return the environment
     */
    public static Environment environment(Row row) {
        return new Environment(
                row.get("java_version", UNKNOWN),
                row.get("jvm", UNKNOWN),
                row.get("os", UNKNOWN),
                row.get("arch", UNKNOWN),
                row.get("cpu", UNKNOWN),
                (int) row.whole("processors"),
                row.whole("clock_resolution_ns"));
    }

    /**
     * Returns the virtual machine of a row.
     *
     * @param row a row of {@link #VIRTUAL_MACHINE}
     * @return the virtual machine
     */
    public static RunFacts.VirtualMachine virtualMachine(Row row) {
        return new RunFacts.VirtualMachine(
                row.whole("pid"),
                row.get("started_at", Instant.EPOCH),
                row.whole("up_ns"),
                row.whole("gc_ns"),
                row.whole("jit_ns"));
    }

    /**
     * Returns the nesting of a row.
     *
     * @param input the text, at the end of the row
     * @param row a row of {@link #NESTING}
     * @return the nesting
     * @throws IOException when the values contradict each other
     */
    public static ExecutionGraph.Nesting nesting(JsonInput input, Row row) throws IOException {
        try {
            return new ExecutionGraph.Nesting(
                    row.whole("samples"), row.whole("lapped"), row.whole("within"), row.whole("lapped_within"));
        } catch (IllegalArgumentException wrong) {
            throw input.error("an entry of nesting is wrong: " + wrong.getMessage());
        }
    }

    /**
     * Returns the spread of a row.
     *
     * @param input the text, at the end of the row
     * @param row a row of {@link #SPREAD}
     * @return the spread
     * @throws IOException when its values contradict each other
     */
    public static Calibration.Spread spread(JsonInput input, Row row) throws IOException {
        RowChecks.cost(input, row);
        return new Calibration.Spread(row.real("median", 0), row.real("low", 0), row.real("high", 0));
    }
}
