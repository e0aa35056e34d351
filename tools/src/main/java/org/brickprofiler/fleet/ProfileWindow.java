package org.brickprofiler.fleet;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.brickprofiler.RunIdentity;
import org.brickprofiler.StepInfo;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.internal.base.Sums;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.internal.io.InputFile;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.report.internal.Buckets;
import org.brickprofiler.report.internal.Fields.PackedColumn;
import org.brickprofiler.report.internal.JsonInput;
import org.brickprofiler.report.internal.PhaseCheck;
import org.brickprofiler.report.internal.ProfileFields;
import org.brickprofiler.report.internal.RequestFields;
import org.brickprofiler.report.internal.Row;
import org.brickprofiler.report.internal.RowChecks;
import org.brickprofiler.trace.read.GzipMembers;
import org.jspecify.annotations.Nullable;

/**
 * Reads the files of {@link org.brickprofiler.report.JsonReport}, of which a fleet has hundreds of thousands: first
 * only their heads, then the values for the tables of a pack. It reads records by the tables of {@link ProfileFields},
 * like the report's own reader, but without an object for each value. Other values are skipped. The sum that a file
 * states is checked. One thread; reused for each file.
 */
final class ProfileWindow {

    private static final int MAJOR_VERSION = 1;

    /** The bytes with which a file packed with gzip begins. */
    private static final byte[] GZIP = {0x1f, (byte) 0x8b};

    private static final int GZIP_BUFFER_BYTES = 1 << 13;

    /** The keys that precede the bricks, so that the head of a file can be read without the rest. */
    private static final Set<String> HEAD = Set.of("schema_version", "identity", "started_at", "ended_at", "wall_ns");

    private static final List<PackedColumn> BRICK = ProfileFields.BRICK.packed();
    private static final List<PackedColumn> PHASE = ProfileFields.PHASE.packed();
    private static final List<PackedColumn> STREAM = ProfileFields.STREAM.packed();
    private static final List<PackedColumn> REQUESTS = RequestFields.REQUESTS.packed();
    private static final int COUNT = place(BRICK, "count");
    private static final int TOTAL_NS = place(BRICK, "total_ns");
    private static final int UNRESOLVED = place(BRICK, "unresolved");
    private static final int IDLE_NS = place(STREAM, "idle_ns");

    private final Row brick = new Row(ProfileFields.BRICK);
    private final Row phaseRow = new Row(ProfileFields.PHASE);
    private final Row streamRow = new Row(ProfileFields.STREAM);
    private final Row requestRow = new Row(RequestFields.REQUESTS);
    private final Map<String, String> texts = new HashMap<>();

    /** The bricks of the file that was read last, of all samples. */
    final Bricks bricks = new Bricks();

    /** The bricks of the samples that belong to the steps of a phase. */
    final Bricks bricksByPhase = new Bricks();

    /** Bricks, each with its place in the arrays. */
    static final class Bricks {
        /** The number of bricks. */
        int size;

        /** The phase of each brick; null for all samples, with and without a phase. */
        @Nullable
        String[] phase = new @Nullable String[64];

        String[] name = new String[64];
        String[] category = new String[64];

        /** The values of each brick, by the columns of its table. */
        long[][] figures = new long[64][BRICK.size()];

        /** The standard error of the total of each brick, ns; NaN if the total is exact, or its error not known. */
        double[] standardErrorNs = new double[64];

        /** The degrees of freedom of the error; NaN likewise. */
        double[] degreesOfFreedom = new double[64];

        /** The buckets of each brick that have samples, encoded by {@link #inBucket}; null without percentiles. */
        long[] @Nullable [] dist = new long[64][];

        private int next() {
            int i = size++;
            if (i == name.length) {
                phase = Arrays.copyOf(phase, 2 * i);
                name = Arrays.copyOf(name, 2 * i);
                category = Arrays.copyOf(category, 2 * i);
                figures = grown(figures, BRICK.size());
                standardErrorNs = Arrays.copyOf(standardErrorNs, 2 * i);
                degreesOfFreedom = Arrays.copyOf(degreesOfFreedom, 2 * i);
                dist = Arrays.copyOf(dist, 2 * i);
            }
            phase[i] = null;
            return i;
        }

        private void addTo(List<String> values) {
            for (int i = 0; i < size; i++) {
                values.add("brick " + phase[i] + "\n" + category[i] + "\n" + name[i] + "\n"
                        + Arrays.toString(figures[i]) + standardErrorNs[i] + " " + degreesOfFreedom[i]
                        + Arrays.toString(dist[i]));
            }
        }
    }

    /** The number of phases of steps, their names, and their values by the columns of the table. */
    int phases;

    String[] phase = new String[8];
    long[][] steps = new long[8][PHASE.size()];

    /** The number of streams, their names and devices, and their values by the columns of the table. */
    int streams;

    String[] stream = new String[8];
    String[] device = new String[8];

    @Nullable
    String[] uuid = new String[8];

    @Nullable
    String[] pci = new String[8];

    /** Whether the bricks of each stream were marked by sampling, so that its idle time is not known. */
    boolean[] sampled = new boolean[8];

    long[][] times = new long[8][STREAM.size()];

    /** Returns a value of a stream by its column; null if it is not known. */
    @Nullable
    Long time(int ofStream, int column) {
        return sampled[ofStream] && column == IDLE_NS ? null : (Long) times[ofStream][column];
    }

    /** Whether there are requests, and their values by the columns of the table. */
    boolean hasRequests;

    final long[] requests = new long[REQUESTS.size()];

    /** The number of deferred measurements that found their queue full. */
    long dropped;

    /** The number of measurements whose end was not known when the window ended. */
    long pending;

    /** The number of earlier windows that the export had deleted when it wrote the window. */
    long windowsDeleted;

    /** A file that is no profile, or not a whole one; the message says why. */
    static final class Unreadable extends IOException {
        private static final long serialVersionUID = 1L;
        final PackProblem.Kind kind;

        Unreadable(PackProblem.Kind kind, String reason) {
            super(reason);
            this.kind = kind;
        }
    }

    /**
     * The values before the bricks, which identify the run and the part of it. Immutable.
     *
     * @param windowNumber the number of the window; null for a profile that is no window
     */
    record Head(
            Path file,
            Labels labels,
            int rank,
            @Nullable Long windowNumber,
            Time time,
            @Nullable Long firstStep,
            @Nullable Long lastStep) {

        /** The values that the windows of a rank have in common, as a rule. */
        record Labels(
                String runId,
                @Nullable Integer worldSize,
                @Nullable String host,
                @Nullable String device,
                @Nullable String model,
                @Nullable String precision,
                @Nullable String commit,
                @Nullable String phase) {}

        /**
         * The time of a window, by the clock of the rank's host.
         *
         * @param startMs its start, ms since 1970; if windows without samples precede it, it starts where they do
         * @param endMs its end, ms since 1970
         * @param wallNs the part of this time in which the profiler was on, ns
         */
        record Time(long startMs, long endMs, long wallNs) {}

        boolean isWindow() {
            return windowNumber != null;
        }

        /** Returns the number of the window; 0 for a profile that is no window. */
        long window() {
            return windowNumber == null ? 0 : windowNumber;
        }

        String runId() {
            return labels.runId();
        }

        @Nullable
        Integer worldSize() {
            return labels.worldSize();
        }

        @Nullable
        String model() {
            return labels.model();
        }

        long startMs() {
            return time.startMs();
        }

        long endMs() {
            return time.endMs();
        }

        /**
         * Returns the time that is comparable between ranks, ms since 1970. This is the end of a window, because its
         * start depends on when the rank last had samples. For a profile that is no window it is the start, because the
         * profile ends with its rank.
         */
        long clockMs() {
            return isWindow() ? endMs() : startMs();
        }

        long wallNs() {
            return time.wallNs();
        }

        private List<@Nullable Object> optional() {
            return Arrays.asList(
                    labels.worldSize(),
                    labels.host(),
                    labels.device(),
                    labels.model(),
                    labels.precision(),
                    labels.commit(),
                    labels.phase(),
                    firstStep,
                    lastStep);
        }

        /**
         * Returns whether both hold the same time and the same steps of a rank, so that samples would count twice. A
         * process that restarts repeats steps, but not at the same time.
         */
        boolean overlaps(Head other) {
            return startMs() < other.endMs()
                    && other.startMs() < endMs()
                    && firstStep != null
                    && lastStep != null
                    && other.firstStep != null
                    && other.lastStep != null
                    && firstStep <= other.lastStep
                    && other.firstStep <= lastStep;
        }

        /** Returns the number of optional values that are present. */
        int known() {
            return (int) optional().stream().filter(Objects::nonNull).count();
        }

        /** Returns whether all values that both have are equal. */
        boolean agreesWith(Head other) {
            List<@Nullable Object> mine = optional();
            List<@Nullable Object> others = other.optional();
            for (int i = 0; i < mine.size(); i++) {
                @Nullable Object value = mine.get(i);
                @Nullable Object its = others.get(i);
                if (value != null && its != null && !value.equals(its)) {
                    return false;
                }
            }
            return startMs() == other.startMs() && wallNs() == other.wallNs();
        }
    }

    /**
     * Reads the beginning of a file.
     *
     * @param file the file
     * @param ownRun the run for a file that names none
     * @return its head
     * @throws Unreadable when it is no profile of a supported version
     * @throws IOException when it cannot be read
     */
    Head head(Path file, String ownRun) throws IOException, Unreadable {
        try (InputStream stored = new BufferedInputStream(Files.newInputStream(file));
                JsonParser parser = JsonInput.parser(unpacked(stored))) {
            JsonInput input = new JsonInput(parser);
            HeadFields found = new HeadFields(input);
            if (parser.nextToken() == null) {
                throw damaged("it is empty");
            }
            input.objectUntil("the report", "bricks", found);
            if (!found.hasVersion) {
                throw damaged("it is no profile: it has no schema_version before its bricks");
            }
            return found.head(file, ownRun);
        } catch (JsonInput.NewerVersion newer) {
            throw new Unreadable(PackProblem.Kind.OTHER_VERSION, JsonInput.describe(newer));
        } catch (JsonProcessingException malformed) {
            throw damaged(JsonInput.describe(malformed));
        } catch (RuntimeException | StackOverflowError failed) {
            throw damaged(InputFile.readerFailed(failed));
        }
    }

    /**
     * Returns the text of a file, packed with gzip or not.
     *
     * @param stored the bytes of the file; supports {@code mark}
     */
    private static InputStream unpacked(InputStream stored) throws IOException {
        stored.mark(GZIP.length);
        byte[] begin = stored.readNBytes(GZIP.length);
        stored.reset();
        return Arrays.equals(begin, GZIP) ? new GzipMembers(stored, GZIP_BUFFER_BYTES) : stored;
    }

    /** The values before the bricks of one file. */
    private static final class HeadFields implements JsonInput.KeyReader {
        private final JsonInput input;
        private boolean hasVersion;
        private RunIdentity identity = RunIdentity.NONE;
        private Instant startedAt = Instant.EPOCH;
        private Instant endedAt = Instant.EPOCH;
        private long wallNs;

        HeadFields(JsonInput input) {
            this.input = input;
        }

        @Override
        public void read(String key) throws IOException {
            switch (key) {
                case "schema_version" -> {
                    input.version(key, MAJOR_VERSION);
                    hasVersion = true;
                }
                case "identity" ->
                    identity = ProfileFields.identity(input, new Row(ProfileFields.IDENTITY).read(input, key));
                case "started_at" -> startedAt = input.moment(key);
                case "ended_at" -> endedAt = input.moment(key);
                case "wall_ns" -> wallNs = input.whole(key, 0, Long.MAX_VALUE);
                default -> input.skip();
            }
        }

        Head head(Path file, String ownRun) throws Unreadable {
            return new Head(
                    file,
                    new Head.Labels(
                            identity.runId().orElse(ownRun),
                            identity.worldSize().isPresent()
                                    ? (Integer) identity.worldSize().getAsInt()
                                    : null,
                            identity.host().orElse(null),
                            identity.device().orElse(null),
                            identity.model().orElse(null),
                            identity.precision().orElse(null),
                            identity.commit().orElse(null),
                            identity.phase().orElse(null)),
                    identity.rank().orElse(0),
                    orNull(identity.window()),
                    time(),
                    orNull(identity.firstStep()),
                    orNull(identity.lastStep()));
        }

        private Head.Time time() throws Unreadable {
            try {
                // A file without a valid end lasts as long as the profiler was on.
                Instant end = endedAt.isBefore(startedAt) ? startedAt.plusNanos(wallNs) : endedAt;
                return new Head.Time(startedAt.toEpochMilli(), end.toEpochMilli(), wallNs);
            } catch (ArithmeticException | DateTimeException tooFar) {
                throw damaged("its time, from " + startedAt + " to " + endedAt + ", is too far away");
            }
        }

        private static @Nullable Long orNull(OptionalLong number) {
            return number.isPresent() ? (Long) number.getAsLong() : null;
        }
    }

    /**
     * Reads a whole file into the fields.
     *
     * @param bytes the content of the file, packed with gzip or not
     * @throws Unreadable when it is damaged, or nothing was recorded in it
     */
    void read(byte[] bytes) throws Unreadable {
        bricks.size = 0;
        bricksByPhase.size = 0;
        phases = 0;
        streams = 0;
        hasRequests = false;
        dropped = 0;
        pending = 0;
        windowsDeleted = 0;
        Body body = new Body();
        try (JsonParser parser = JsonInput.parser(unpacked(new ByteArrayInputStream(bytes)))) {
            body.read(new JsonInput(parser));
        } catch (Unreadable unreadable) {
            throw unreadable;
        } catch (JsonProcessingException malformed) {
            throw damaged(JsonInput.describe(malformed));
        } catch (IOException impossible) {
            throw damaged(AtomicFile.reason(impossible));
        } catch (RuntimeException | StackOverflowError failed) {
            throw damaged(InputFile.readerFailed(failed));
        }
        check(body.totalNs);
    }

    /** The values of one file. */
    private final class Body {
        private long totalNs = -1;
        private boolean hasBricks;
        private final Set<StepInfo.Phase> phasesOfBricks = EnumSet.noneOf(StepInfo.Phase.class);

        void read(JsonInput input) throws IOException {
            input.document(key -> {
                switch (key) {
                    case "total_ns" -> totalNs = input.whole(key, 0, Long.MAX_VALUE);
                    case "dropped_pending" -> dropped = input.whole(key, 0, Long.MAX_VALUE);
                    case "pending" -> pending = input.whole(key, 0, Long.MAX_VALUE);
                    case "bricks" -> {
                        hasBricks = true;
                        input.array(key, () -> brick(input, bricks));
                    }
                    case "phases" -> input.array(key, () -> requireNew(bricksOfPhase(input), input));
                    case "steps" ->
                        input.object(key, of -> {
                            if (of.equals("phases")) {
                                input.array(of, () -> phase(input));
                            } else {
                                input.skip();
                            }
                        });
                    case "streams" -> input.array(key, () -> stream(input));
                    case "requests" -> {
                        RowChecks.requests(input, requestRow.read(input, key));
                        take(REQUESTS, requestRow, requests);
                        hasRequests = true;
                    }
                    case "export" -> input.object(key, of -> deleted(input, of));
                    default -> {
                        if (hasBricks && HEAD.contains(key)) {
                            throw input.error(key + " follows the bricks, but must precede them");
                        }
                        input.skip();
                    }
                }
            });
            if (!hasBricks) {
                throw input.error("there are no bricks");
            }
        }

        private void deleted(JsonInput input, String key) throws IOException {
            if (key.equals("windows_deleted")) {
                windowsDeleted = input.whole(key, 0, Long.MAX_VALUE);
            } else {
                input.skip();
            }
        }

        private void requireNew(StepInfo.Phase read, JsonInput input) throws IOException {
            if (!phasesOfBricks.add(read)) {
                throw input.error("the phase " + ProfileFields.lower(read) + " occurs twice");
            }
        }
    }

    /**
     * Returns the values for the tables, of the file that was read last. They are sorted, so that files with equal rows
     * return equal lists.
     */
    List<String> values() {
        List<String> values = new ArrayList<>();
        bricks.addTo(values);
        bricksByPhase.addTo(values);
        for (int i = 0; i < phases; i++) {
            values.add("phase " + phase[i] + "\n" + Arrays.toString(steps[i]));
        }
        for (int i = 0; i < streams; i++) {
            values.add("stream " + device[i] + "\n" + stream[i] + "\n" + sampled[i] + Arrays.toString(times[i]));
        }
        if (hasRequests) {
            values.add("requests " + Arrays.toString(requests));
        }
        values.add("dropped " + dropped + " pending " + pending);
        values.sort(Comparator.naturalOrder());
        return values;
    }

    private void check(long totalNs) throws Unreadable {
        long sum = 0;
        long measured = dropped;
        for (int i = 0; i < bricks.size; i++) {
            measured = Sums.limited(measured, bricks.figures[i][COUNT]);
            measured = Sums.limited(measured, bricks.figures[i][UNRESOLVED]);
            sum = Sums.limited(sum, bricks.figures[i][TOTAL_NS]);
        }
        if (totalNs >= 0 && sum != totalNs) {
            throw damaged("its bricks take " + sum + " ns, and its total_ns is " + totalNs);
        }
        requireParts();
        if (measured == 0 && phases == 0 && !hasRequests) {
            throw new Unreadable(PackProblem.Kind.EMPTY_WINDOW, "nothing was recorded in it");
        }
    }

    /** Refuses bricks that have more in their phases than in all. */
    private void requireParts() throws Unreadable {
        if (bricksByPhase.size == 0) {
            return;
        }
        PhaseCheck check = new PhaseCheck();
        for (int i = 0; i < bricks.size; i++) {
            check.add(bricks.category[i], bricks.name[i], bricks.figures[i][COUNT], bricks.figures[i][TOTAL_NS]);
        }
        for (int i = 0; i < bricksByPhase.size; i++) {
            long[] part = bricksByPhase.figures[i];
            check.addInPhase(bricksByPhase.category[i], bricksByPhase.name[i], part[COUNT], part[TOTAL_NS]);
        }
        Optional<String> fault = check.fault();
        if (fault.isPresent()) {
            throw damaged(fault.get());
        }
    }

    private void brick(JsonInput input, Bricks to) throws IOException {
        int i = to.next();
        if (i == RowChecks.MOST_BRICKS) {
            throw input.error("there are more than " + RowChecks.MOST_BRICKS + " bricks");
        }
        brick.read(input, "brick");
        String named = ProfileFields.name(input, brick);
        to.name[i] = text(named);
        to.category[i] = ProfileFields.category(brick, named).displayName();
        take(BRICK, brick, to.figures[i]);
        to.standardErrorNs[i] = brick.real("standard_error_ns", Double.NaN);
        to.degreesOfFreedom[i] = brick.real("degrees_of_freedom", Double.NaN);
        Row latency = brick.get(Row.class, "latency");
        to.dist[i] = latency == null ? null : buckets(input, latency.get(Buckets.class, "buckets"));
        RowChecks.brick(input, brick);
    }

    /** Reads the bricks of one phase; the key {@code phase} may follow the bricks. */
    private StepInfo.Phase bricksOfPhase(JsonInput input) throws IOException {
        int first = bricksByPhase.size;
        StepInfo.@Nullable Phase[] read = {null};
        input.object("phase", key -> {
            switch (key) {
                case "phase" -> read[0] = ProfileFields.phase(input, key);
                case "bricks" -> input.array(key, () -> brick(input, bricksByPhase));
                default -> input.skip();
            }
        });
        StepInfo.@Nullable Phase of = read[0];
        if (of == null) {
            throw input.error("bricks of a phase have no phase");
        }
        Arrays.fill(bricksByPhase.phase, first, bricksByPhase.size, ProfileFields.lower(of));
        return of;
    }

    private static long @Nullable [] buckets(JsonInput input, @Nullable Buckets buckets) throws IOException {
        if (buckets == null) {
            return null;
        }
        long[] dist = new long[buckets.size()];
        for (int i = 0; i < dist.length; i++) {
            if (buckets.samples(i) > MOST_SAMPLES) {
                throw input.error("the bucket " + buckets.number(i) + " has " + buckets.samples(i)
                        + " samples, more than " + MOST_SAMPLES);
            }
            dist[i] = inBucket(buckets.number(i), buckets.samples(i));
        }
        return dist;
    }

    /** The most samples of a bucket; more would take centuries. */
    private static final long MOST_SAMPLES = Long.MAX_VALUE / LatencyBuckets.COUNT - 1;

    /** Returns a bucket and its samples as one number: the bucket is the remainder by {@link LatencyBuckets#COUNT}. */
    static long inBucket(int bucket, long samples) {
        return samples * LatencyBuckets.COUNT + bucket;
    }

    private void phase(JsonInput input) throws IOException {
        int i = phases++;
        if (i == phase.length) {
            phase = Arrays.copyOf(phase, 2 * i);
            steps = grown(steps, PHASE.size());
        }
        phaseRow.read(input, "phase");
        phase[i] = ProfileFields.lower(ProfileFields.phaseOf(input, phaseRow));
        take(PHASE, phaseRow, steps[i]);
    }

    private void stream(JsonInput input) throws IOException {
        int i = streams++;
        if (i == stream.length) {
            stream = Arrays.copyOf(stream, 2 * i);
            device = Arrays.copyOf(device, 2 * i);
            uuid = Arrays.copyOf(uuid, 2 * i);
            pci = Arrays.copyOf(pci, 2 * i);
            sampled = Arrays.copyOf(sampled, 2 * i);
            times = grown(times, STREAM.size());
        }
        StreamTotals totals = ProfileFields.stream(input, streamRow.read(input, "stream"));
        stream[i] = text(totals.stream());
        device[i] = text(totals.device());
        uuid[i] = totals.deviceUuid().orElse(null);
        pci[i] = totals.pciAddress().orElse(null);
        sampled[i] = totals.isSampled();
        take(STREAM, streamRow, times[i]);
    }

    private static void take(List<PackedColumn> columns, Row row, long[] figures) {
        for (int i = 0; i < figures.length; i++) {
            figures[i] = columns.get(i).value().applyAsLong(row);
        }
    }

    private static int place(List<PackedColumn> columns, String column) {
        return columns.stream().map(PackedColumn::name).toList().indexOf(column);
    }

    private static long[][] grown(long[][] rows, int width) {
        int length = rows.length;
        long[][] grown = Arrays.copyOf(rows, 2 * length);
        for (int i = length; i < grown.length; i++) {
            grown[i] = new long[width];
        }
        return grown;
    }

    /** Returns the same object for equal texts: there are few different ones. */
    private String text(String text) {
        String known = texts.putIfAbsent(text, text);
        return known == null ? text : known;
    }

    private static Unreadable damaged(String reason) {
        return new Unreadable(PackProblem.Kind.DAMAGED, reason);
    }
}
