package org.brickprofiler.cli;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepStats;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.report.internal.HumanUnits;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.trace.LineProfile;

/**
 * The sums of a profiler at a moment, as far as {@code brick top} shows them. Immutable.
 *
 * @param startedMs when the profiler was first on since its last reset, ms since 1970; of several replicas, a number
 *     that changes when one of them is reset, joins or leaves
 * @param endedMs when the sums were read, ms since 1970; of several replicas, the mean
 * @param wallNs the time that the profiler was on for, ns; of several replicas, the sum
 * @param bricks the bricks by {@link #key}
 * @param phases the phases of steps by name
 * @param requests the requests
 * @param progress what is under way, in words; empty if nothing is, or the source does not state it
 * @param recent the requests of the last 1, 5 and 60 minutes, in words; empty if the source does not state them
 * @param lines the lines of bricks since the last reset, by the name of the replica, which is empty for the only one;
 *     without those that keep none
 */
record TopReading(
        long startedMs,
        long endedMs,
        long wallNs,
        Map<String, Brick> bricks,
        Map<String, Phase> phases,
        Requests requests,
        List<String> progress,
        List<String> recent,
        Map<String, LineProfile> lines) {

    /** The most successive samples with marks of blocks with others. */
    private static final int MOST_IN_SUCCESSION = 2;

    /** The name of the only replica. */
    static final String ONLY_ONE = "";

    /**
     * The sums of a brick.
     *
     * @param name its name
     * @param category its category
     * @param count samples
     * @param totalNs sum of their recorded durations, ns; 0 if it is unknown
     * @param latency the distribution of their durations; empty if the source does not state it
     * @param device how a device timed them
     */
    record Brick(
            String name,
            String category,
            long count,
            long totalNs,
            Optional<LatencyDistribution> latency,
            OfDevice device) {

        private static final String UNKNOWN = "?";

        /** Returns the text of a time of this brick, marked if it is an estimate; unknown if the time is. */
        String cell(String time) {
            return !device.isTimed ? UNKNOWN : device.isEstimated ? "~" + time : time;
        }

        /** Returns the time for shares and means, ns: without what marks add, if that is known; 0 if it is unknown. */
        long ns() {
            return Math.max(0, totalNs - device.marksNs.orElse(0));
        }

        private Brick plus(Brick other) {
            return new Brick(
                    name,
                    category,
                    count + other.count,
                    totalNs + other.totalNs,
                    latency.flatMap(mine -> other.latency.map(mine::plus)),
                    count == 0 ? other.device : other.count == 0 ? device : device.plus(other.device));
        }

        private Brick since(Brick earlier) {
            long more = count - earlier.count;
            OfDevice ofMore = device.since(earlier.device, more, (double) more / Math.max(1, count));
            // An estimate falls when a mark shows that the bricks before it were shorter than was supposed.
            boolean isFallen = device.isEstimated && totalNs < earlier.totalNs;
            boolean isTimed = ofMore.isTimed && !isFallen;
            return new Brick(
                    name,
                    category,
                    more,
                    isTimed ? totalNs - earlier.totalNs : 0,
                    latency.flatMap(now -> earlier.latency.map(now::since)),
                    isTimed ? ofMore : ofMore.untimed());
        }
    }

    /**
     * The way in which a device timed the samples of a brick.
     *
     * @param isEstimated whether the sum and the distribution are estimates, since some samples had no marks
     * @param measured samples with marks; empty if the source does not state it
     * @param marksNs the time that marks added to the sum, ns; empty if it is unknown
     * @param isTimed whether the sum is known: in a window without a new mark, it is not
     */
    record OfDevice(boolean isEstimated, OptionalLong measured, OptionalLong marksNs, boolean isTimed) {

        /** The host timed all samples. */
        static final OfDevice NONE = new OfDevice(false, OptionalLong.of(0), OptionalLong.empty(), true);

        private OfDevice plus(OfDevice other) {
            return new OfDevice(
                    isEstimated || other.isEstimated,
                    sum(measured, other.measured),
                    sum(marksNs, other.marksNs),
                    isTimed && other.isTimed);
        }

        private static OptionalLong sum(OptionalLong one, OptionalLong other) {
            return one.isPresent() && other.isPresent()
                    ? OptionalLong.of(one.getAsLong() + other.getAsLong())
                    : OptionalLong.empty();
        }

        /**
         * Returns the part of the samples since an earlier reading, by the rule of exported windows.
         *
         * @param samples the number of samples since then
         * @param share their share of all
         */
        private OfDevice since(OfDevice earlier, long samples, double share) {
            OptionalLong marked = measured.isPresent() && earlier.measured.isPresent()
                    ? OptionalLong.of(measured.getAsLong() - earlier.measured.getAsLong())
                    : OptionalLong.empty();
            boolean isUntimed =
                    isEstimated && samples > 0 && marked.isPresent() && isUntimed(marked.getAsLong(), samples);
            return new OfDevice(
                    isEstimated,
                    marked,
                    marksNs.isPresent()
                            ? OptionalLong.of(Math.round(share * marksNs.getAsLong()))
                            : OptionalLong.empty(),
                    !isUntimed);
        }

        /** Returns whether no sample has marks, or a mark may only have come in place of what was supposed before. */
        private static boolean isUntimed(long marked, long samples) {
            return marked == 0 || (marked == samples && marked <= MOST_IN_SUCCESSION);
        }

        private OfDevice untimed() {
            return new OfDevice(isEstimated, measured, OptionalLong.empty(), false);
        }
    }

    /**
     * The sums of the steps of a phase.
     *
     * @param count steps
     * @param wallNs time in which at least one of them was under way, ns; of several replicas, the mean
     * @param promptTokens tokens of prompts that they processed
     * @param outputTokens tokens that they generated
     */
    record Phase(long count, long wallNs, long promptTokens, long outputTokens) {

        static final Phase NONE = new Phase(0, 0, 0, 0);

        private Phase plus(Phase other, int parts) {
            return new Phase(
                    count + other.count,
                    wallNs + other.wallNs / parts,
                    promptTokens + other.promptTokens,
                    outputTokens + other.outputTokens);
        }

        private Phase since(Phase earlier) {
            return new Phase(
                    count - earlier.count,
                    wallNs - earlier.wallNs,
                    promptTokens - earlier.promptTokens,
                    outputTokens - earlier.outputTokens);
        }
    }

    /**
     * A request.
     *
     * @param id the id that the application gave it
     * @param model the model that it names
     * @param arrivedAt the time of day of its arrival
     * @param timeNs the time to first token of a request that has finished, or the time since the arrival of a live one
     * @param isRunning whether the request is live, and a step has worked on it
     * @param place the name of its replica; empty unless there are several
     */
    record Request(
            Optional<String> id,
            Optional<String> model,
            Optional<Instant> arrivedAt,
            long timeNs,
            boolean isRunning,
            String place) {

        private static final Comparator<Request> LONGEST_FIRST =
                Comparator.comparingLong(Request::timeNs).reversed();

        private static final int LONGEST_ID = 48;
        private static final DateTimeFormatter CLOCK =
                DateTimeFormatter.ofPattern("HH:mm:ss.SSS", Locale.ROOT).withZone(ZoneOffset.UTC);

        /** Makes a request of the only replica. */
        Request(
                Optional<String> id,
                Optional<String> model,
                Optional<Instant> arrivedAt,
                long timeNs,
                boolean isRunning) {
            this(id, model, arrivedAt, timeNs, isRunning, "");
        }

        private Request at(String replica) {
            return new Request(id, model, arrivedAt, timeNs, isRunning, replica);
        }

        private static List<Request> together(List<Request> some, List<Request> others, String replica) {
            return Stream.concat(some.stream(), others.stream().map(each -> each.at(replica)))
                    .sorted(LONGEST_FIRST)
                    .toList();
        }

        /**
         * Returns the words on the request.
         *
         * @param state the words behind its time
         */
        String text(String state) {
            return id.map(known -> PlainText.shortened(PlainText.oneLine(known), LONGEST_ID))
                            .orElse("a request without an id")
                    + model.map(name -> ", model " + PlainText.shortened(PlainText.oneLine(name), LONGEST_ID))
                            .orElse("")
                    + (place.isEmpty() ? "" : " at " + place)
                    + ": "
                    + HumanUnits.duration(timeNs)
                    + state
                    + arrivedAt
                            .map(at -> ", arrived at " + CLOCK.format(at) + " UTC")
                            .orElse("");
        }
    }

    /**
     * The sums of requests.
     *
     * @param arrived requests that arrived
     * @param finished requests that finished
     * @param waiting requests that wait for their first step now
     * @param running requests that steps work on now
     * @param firstToken times to first token
     * @param perToken times per output token
     * @param countedFrom the moments from which requests count
     * @param slowest the finished requests with the longest times to first token since the last reset, the longest
     *     first
     * @param oldest the live requests that arrived first, the oldest first
     */
    record Requests(
            long arrived,
            long finished,
            long waiting,
            long running,
            LatencyDistribution firstToken,
            LatencyDistribution perToken,
            List<String> countedFrom,
            List<Request> slowest,
            List<Request> oldest) {

        /** Makes the sums of a source that states no single request. */
        Requests(
                long arrived,
                long finished,
                long waiting,
                long running,
                LatencyDistribution firstToken,
                LatencyDistribution perToken,
                List<String> countedFrom) {
            this(arrived, finished, waiting, running, firstToken, perToken, countedFrom, List.of(), List.of());
        }

        /** Returns whether the engine announces requests: some have arrived, or did so before the last reset. */
        boolean areAnnounced() {
            return arrived > 0 || finished > 0 || waiting > 0 || running > 0;
        }

        private Requests plus(Requests other, String replica) {
            return new Requests(
                    arrived + other.arrived,
                    finished + other.finished,
                    waiting + other.waiting,
                    running + other.running,
                    firstToken.plus(other.firstToken),
                    perToken.plus(other.perToken),
                    Stream.concat(countedFrom.stream(), other.countedFrom.stream())
                            .distinct()
                            .toList(),
                    Request.together(slowest, other.slowest, replica),
                    Request.together(oldest, other.oldest, replica));
        }

        private Requests since(Requests earlier) {
            return new Requests(
                    arrived - earlier.arrived,
                    finished - earlier.finished,
                    waiting,
                    running,
                    firstToken.since(earlier.firstToken),
                    perToken.since(earlier.perToken),
                    countedFrom,
                    slowest,
                    oldest);
        }
    }

    TopReading withProgress(List<String> words, List<String> windows) {
        return new TopReading(
                startedMs, endedMs, wallNs, bricks, phases, requests, List.copyOf(words), List.copyOf(windows), lines);
    }

    /** Returns this reading of the only replica with the lines of its bricks. */
    TopReading withLines(Optional<LineProfile> known) {
        return withLines(known.map(each -> Map.of(ONLY_ONE, each)).orElse(Map.of()));
    }

    /** Returns this reading with the reason why the lines of its bricks are not known. */
    TopReading withoutLines(Exception reason) {
        return withLines(Optional.of(
                LineProfile.without(reason.getMessage() == null ? reason.toString() : reason.getMessage())));
    }

    private TopReading withLines(Map<String, LineProfile> known) {
        return new TopReading(startedMs, endedMs, wallNs, bricks, phases, requests, progress, recent, known);
    }

    /**
     * Returns the sums of several replicas.
     *
     * @param replicas their readings by name
     */
    static TopReading together(Map<String, TopReading> replicas) {
        Map<String, Brick> bricks = new LinkedHashMap<>();
        Map<String, Phase> phases = new LinkedHashMap<>();
        Map<String, LineProfile> lines = new LinkedHashMap<>();
        Requests requests = new Requests(0, 0, 0, 0, LatencyDistribution.EMPTY, LatencyDistribution.EMPTY, List.of());
        long period = 0;
        long wallNs = 0;
        for (Map.Entry<String, TopReading> replica : replicas.entrySet()) {
            TopReading reading = replica.getValue();
            period += 31 * reading.startedMs + replica.getKey().hashCode();
            wallNs += reading.wallNs;
            reading.bricks.forEach((key, brick) -> bricks.merge(key, brick, Brick::plus));
            reading.phases.forEach((name, phase) ->
                    phases.put(name, phases.getOrDefault(name, Phase.NONE).plus(phase, replicas.size())));
            requests = requests.plus(reading.requests, replica.getKey());
            reading.lines.values().forEach(each -> lines.put(replica.getKey(), each));
        }
        long endedMs = Math.round(replicas.values().stream()
                .mapToLong(reading -> reading.endedMs)
                .average()
                .orElse((double) System.currentTimeMillis()));
        return new TopReading(period, endedMs, wallNs, bricks, phases, requests, List.of(), List.of(), lines);
    }

    static TopReading of(ProfileSnapshot snapshot) {
        RequestStats requests = snapshot.requests();
        return of(
                snapshot.startedAt().toEpochMilli(),
                snapshot.endedAt().toEpochMilli(),
                snapshot.wallNs(),
                snapshot.bricks().stream().map(TopReading::brick).toList(),
                phases(snapshot.steps().phases()),
                new Requests(
                        requests.counts().arrived(),
                        requests.counts().allFinished(),
                        requests.counts().waiting(),
                        requests.counts().running(),
                        requests.latencies().timeToFirstToken(),
                        requests.latencies().timePerOutputToken(),
                        requests.countedFrom(),
                        requests.slowestFirstTokens().stream()
                                .map(each -> new Request(
                                        each.identity().id(),
                                        each.identity().model(),
                                        each.identity().arrivedAt(),
                                        each.timeToFirstTokenNs(),
                                        false))
                                .toList(),
                        requests.oldestLive().stream()
                                .map(each -> new Request(
                                        each.identity().id(),
                                        each.identity().model(),
                                        each.identity().arrivedAt(),
                                        each.ageNs(),
                                        each.isRunning()))
                                .toList()));
    }

    static TopReading of(
            long startedMs,
            long endedMs,
            long wallNs,
            List<Brick> bricks,
            Map<String, Phase> phases,
            Requests requests) {
        Map<String, Brick> byName = new LinkedHashMap<>();
        bricks.forEach(brick -> byName.put(key(brick), brick));
        return new TopReading(startedMs, endedMs, wallNs, byName, phases, requests, List.of(), List.of(), Map.of());
    }

    /** Returns the key of a brick in {@link #bricks()}. */
    static String key(Brick brick) {
        return brick.category() + '/' + brick.name();
    }

    private static Brick brick(BrickStats stats) {
        return new Brick(
                stats.name(),
                stats.category().displayName(),
                stats.count(),
                stats.totalNs(),
                stats.latency(),
                new OfDevice(
                        stats.device().isEstimated(),
                        OptionalLong.of(stats.device().measured()),
                        stats.netNs().isPresent()
                                ? OptionalLong.of(
                                        stats.totalNs() - stats.netNs().getAsLong())
                                : OptionalLong.empty(),
                        true));
    }

    private static Map<String, Phase> phases(List<StepStats> steps) {
        Map<String, Phase> phases = new LinkedHashMap<>();
        steps.forEach(each -> phases.put(
                each.phase().displayName(),
                new Phase(each.count(), each.wallNs(), each.prefillTokens(), each.outputTokens())));
        return phases;
    }

    /**
     * Returns whether this reading continues an earlier one, of the same process and without a reset in between.
     *
     * @param earlier the earlier reading
     */
    boolean continues(TopReading earlier) {
        return startedMs == earlier.startedMs
                && endedMs > earlier.endedMs
                && wallNs >= earlier.wallNs
                && requests.arrived >= earlier.requests.arrived
                && earlier.bricks.entrySet().stream()
                        .allMatch(each -> bricks.containsKey(each.getKey())
                                && bricks.get(each.getKey()).count()
                                        >= each.getValue().count());
    }

    /** Returns the sums of what happened since an earlier reading that this one continues. */
    TopReading since(TopReading earlier) {
        Map<String, Brick> moreBricks = new LinkedHashMap<>();
        bricks.forEach((name, brick) -> {
            Brick before = earlier.bricks.get(name);
            moreBricks.put(name, before == null ? brick : brick.since(before));
        });
        Map<String, Phase> morePhases = new LinkedHashMap<>();
        phases.forEach(
                (name, phase) -> morePhases.put(name, phase.since(earlier.phases.getOrDefault(name, Phase.NONE))));
        return new TopReading(
                earlier.endedMs,
                endedMs,
                wallNs - earlier.wallNs,
                moreBricks,
                morePhases,
                requests.since(earlier.requests),
                progress,
                recent,
                lines);
    }
}
