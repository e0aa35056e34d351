package org.brickprofiler.cli.fleet;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.internal.io.JsonFault;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.jspecify.annotations.Nullable;

/**
 * Reads the files of {@link org.brickprofiler.report.JsonReport}, of which a fleet has hundreds of thousands: first
 * only their heads, then what the tables of a pack take of them, without an object for each value. Values that the
 * tables do not have are skipped; those that they have are checked, also against the sum that the file gives. One
 * thread; reused for each file.
 */
final class ProfileWindow {

    private static final JsonFactory FACTORY = new JsonFactory();
    private static final String VERSION = "1.";
    private static final Set<String> CATEGORIES = new HashSet<>();

    static {
        for (BrickCategory category : BrickCategory.values()) {
            CATEGORIES.add(category.displayName());
        }
    }

    private final Map<String, String> texts = new HashMap<>();

    /** The bricks of the file that was read last, each with its place in the arrays below; those that were used. */
    int bricks;

    String[] name = new String[64];
    String[] category = new String[64];
    /** Of each brick: count, total, least and greatest ns, elements. */
    long[][] figures = new long[64][5];
    /** Of each brick its buckets that have samples, as {@link #inBucket}; null without percentiles. */
    long[] @Nullable [] dist = new long[64][];

    /** The phases of steps, and of each: steps, total ns, tokens, greatest ns. */
    int phases;

    String[] phase = new String[8];
    long[][] steps = new long[8][4];

    /** The streams, with device, and of each: bricks, busy and idle ns. */
    int streams;

    String[] stream = new String[8];
    String[] device = new String[8];

    @Nullable
    String[] uuid = new String[8];

    @Nullable
    String[] pci = new String[8];

    long[][] times = new long[8][3];

    private long[] used = new long[256];

    /** A file that is no profile, or not a whole one; the message says why. */
    static final class Unreadable extends Exception {
        private static final long serialVersionUID = 1L;
        final PackProblem.Kind kind;

        Unreadable(PackProblem.Kind kind, String reason) {
            super(reason);
            this.kind = kind;
        }
    }

    /**
     * What stands before the bricks: which part of which run a file is. Immutable.
     *
     * @param window of the run; 0 for a profile that is no window
     * @param startMs since 1970, by the clock of the rank's host
     */
    record Head(
            Path file,
            String runId,
            int rank,
            long window,
            @Nullable Integer worldSize,
            @Nullable String host,
            @Nullable String device,
            @Nullable String model,
            @Nullable String precision,
            @Nullable String commit,
            @Nullable String phase,
            long startMs,
            long wallNs,
            @Nullable Long firstStep,
            @Nullable Long lastStep) {

        private List<@Nullable Object> optional() {
            return Arrays.asList(worldSize, host, device, model, precision, commit, phase, firstStep, lastStep);
        }

        /** How much of what a file may leave out is there. */
        int known() {
            return (int) optional().stream().filter(Objects::nonNull).count();
        }

        /** Whether nothing that stands in both is different. */
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
            return startMs == other.startMs && wallNs == other.wallNs;
        }
    }

    /** The members of {@code identity}, and of the report beside it, that are texts or whole numbers. */
    private static final Set<String> WANTED = Set.of(
            "run_id",
            "rank",
            "world_size",
            "host",
            "device",
            "model",
            "precision",
            "commit",
            "phase",
            "window",
            "first_step",
            "last_step",
            "started_at",
            "wall_ns",
            "schema_version");

    /**
     * Reads the beginning of a file.
     *
     * @param file the file
     * @param ownRun the run of a file that names none
     * @return what it is of
     * @throws Unreadable when it is no profile of a version that is known
     * @throws IOException when it cannot be read
     */
    Head head(Path file, String ownRun) throws IOException, Unreadable {
        Map<String, Object> found = new HashMap<>();
        try (InputStream in = Files.newInputStream(file);
                JsonParser json = FACTORY.createParser(in)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                throw damaged(json.currentToken() == null ? "it is empty" : "it is no JSON object");
            }
            members(json, found);
            if (!found.containsKey("schema_version")) {
                throw damaged("it is no profile: it has no schema_version before its bricks");
            }
            return head(file, ownRun, found);
        } catch (JsonProcessingException malformed) {
            throw damaged(describe(malformed));
        } catch (DateTimeException | ArithmeticException | ClassCastException wrong) {
            throw damaged("a value before its bricks is wrong: " + wrong.getMessage());
        }
    }

    /** What is wanted of an object's members, those of the identity among them, up to the bricks. */
    private void members(JsonParser json, Map<String, Object> found) throws IOException {
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String key = json.currentName();
            JsonToken value = json.nextToken();
            if (key.equals("bricks")) {
                return;
            } else if (key.equals("identity") && value == JsonToken.START_OBJECT) {
                members(json, found);
            } else if (!WANTED.contains(key)) {
                json.skipChildren();
            } else {
                found.put(
                        key, value == JsonToken.VALUE_NUMBER_INT ? (Object) json.getLongValue() : text(json.getText()));
            }
        }
    }

    private static Head head(Path file, String ownRun, Map<String, Object> found) throws Unreadable {
        String version = String.valueOf(found.get("schema_version"));
        if (!version.startsWith(VERSION)) {
            throw new Unreadable(
                    PackProblem.Kind.OTHER_VERSION,
                    "it is of schema version " + version + "; known is " + VERSION + "x");
        }
        int rank = Math.toIntExact(whole(found, "rank", 0));
        @Nullable
        Integer size =
                found.containsKey("world_size") ? (Integer) Math.toIntExact(whole(found, "world_size", 0)) : null;
        if (size != null && rank >= size) {
            throw damaged("rank " + rank + " is not below its world_size " + size);
        }
        return new Head(
                file,
                found.containsKey("run_id") ? (String) found.get("run_id") : ownRun,
                rank,
                whole(found, "window", 0),
                size,
                (String) found.get("host"),
                (String) found.get("device"),
                (String) found.get("model"),
                (String) found.get("precision"),
                (String) found.get("commit"),
                (String) found.get("phase"),
                Instant.parse((String) found.getOrDefault("started_at", "1970-01-01T00:00:00Z"))
                        .toEpochMilli(),
                whole(found, "wall_ns", 0),
                found.containsKey("first_step") ? (Long) whole(found, "first_step", 0) : null,
                found.containsKey("last_step") ? (Long) whole(found, "last_step", 0) : null);
    }

    private static long whole(Map<String, Object> found, String key, long otherwise) throws Unreadable {
        long value = (Long) found.getOrDefault(key, otherwise);
        if (value < 0) {
            throw damaged(key + " " + value + " is negative");
        }
        return value;
    }

    /**
     * Reads a whole file into the fields.
     *
     * @param bytes what is in it
     * @throws Unreadable when it is damaged, or holds nothing that was recorded
     */
    void read(byte[] bytes) throws Unreadable {
        bricks = 0;
        phases = 0;
        streams = 0;
        long totalNs = -1;
        try (JsonParser json = FACTORY.createParser(bytes)) {
            json.nextToken();
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String key = json.currentName();
                json.nextToken();
                switch (key) {
                    case "total_ns" -> totalNs = whole(json);
                    case "bricks" -> {
                        while (json.nextToken() == JsonToken.START_OBJECT) {
                            brick(json);
                        }
                    }
                    case "steps" -> stepsOf(json);
                    case "streams" -> {
                        while (json.nextToken() == JsonToken.START_OBJECT) {
                            streamOf(json);
                        }
                    }
                    default -> json.skipChildren();
                }
            }
            // Jackson itself finds an end that is missing.
            if (json.nextToken() != null) {
                throw damaged("something follows its end");
            }
        } catch (JsonProcessingException malformed) {
            throw damaged(describe(malformed));
        } catch (IOException impossible) {
            throw damaged(AtomicFile.reason(impossible));
        }
        check(totalNs);
    }

    /**
     * All that the tables take of the file that was read last, in an order of its own: equal for files with equal rows.
     */
    List<String> values() {
        List<String> values = new ArrayList<>();
        for (int i = 0; i < bricks; i++) {
            values.add("brick " + category[i] + "\n" + name[i] + "\n" + Arrays.toString(figures[i])
                    + Arrays.toString(dist[i]));
        }
        for (int i = 0; i < phases; i++) {
            values.add("phase " + phase[i] + "\n" + Arrays.toString(steps[i]));
        }
        for (int i = 0; i < streams; i++) {
            values.add("stream " + device[i] + "\n" + stream[i] + "\n" + Arrays.toString(times[i]));
        }
        values.sort(Comparator.naturalOrder());
        return values;
    }

    private void check(long totalNs) throws Unreadable {
        long sum = 0;
        long samplesOfAll = 0;
        for (int i = 0; i < bricks; i++) {
            samplesOfAll += figures[i][0];
            sum += figures[i][1];
        }
        if (totalNs >= 0 && sum != totalNs) {
            throw damaged("its bricks take " + sum + " ns, and its total_ns is " + totalNs);
        }
        if (samplesOfAll == 0 && phases == 0) {
            throw new Unreadable(PackProblem.Kind.EMPTY_WINDOW, "nothing was recorded in it");
        }
    }

    private void brick(JsonParser json) throws IOException, Unreadable {
        int i = bricks++;
        if (i == name.length) {
            name = Arrays.copyOf(name, 2 * i);
            category = Arrays.copyOf(category, 2 * i);
            figures = grown(figures, 5);
            dist = Arrays.copyOf(dist, 2 * i);
        }
        long[] figure = figures[i];
        Arrays.fill(figure, 0);
        dist[i] = null;
        String named = "";
        String of = BrickCategory.OTHER.displayName();
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String key = json.currentName();
            json.nextToken();
            switch (key) {
                case "name" -> named = text(json.getText());
                case "category" -> of = text(json.getText());
                case "count" -> figure[0] = whole(json);
                case "total_ns" -> figure[1] = whole(json);
                case "min_ns" -> figure[2] = whole(json);
                case "max_ns" -> figure[3] = whole(json);
                case "total_elements" -> figure[4] = whole(json);
                case "latency" -> distribution(json, i);
                default -> json.skipChildren();
            }
        }
        if (named.isEmpty()) {
            throw damaged("a brick has no name");
        }
        if (!CATEGORIES.contains(of)) {
            throw damaged("there is no category " + of);
        }
        name[i] = named;
        category[i] = of;
    }

    private void distribution(JsonParser json, int i) throws IOException, Unreadable {
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            boolean wanted = json.currentName().equals("buckets");
            if (json.nextToken() != JsonToken.START_ARRAY || !wanted) {
                json.skipChildren();
                continue;
            }
            int length = 0;
            while (json.nextToken() == JsonToken.START_ARRAY) {
                if (length == used.length) {
                    used = Arrays.copyOf(used, 2 * length);
                }
                json.nextToken();
                long bucket = whole(json);
                json.nextToken();
                long samples = whole(json);
                if (bucket >= LatencyBuckets.COUNT
                        || samples > MOST_SAMPLES
                        || json.nextToken() != JsonToken.END_ARRAY) {
                    throw damaged(
                            "there is no bucket " + bucket + " of two numbers, the second of which is " + samples);
                }
                used[length++] = inBucket((int) bucket, samples);
            }
            dist[i] = Arrays.copyOf(used, length);
        }
    }

    /** Of a bucket; more would take centuries. */
    private static final long MOST_SAMPLES = Long.MAX_VALUE / LatencyBuckets.COUNT - 1;

    /** A bucket and its samples as one number: the bucket is the remainder by {@link LatencyBuckets#COUNT}. */
    static long inBucket(int bucket, long samples) {
        return samples * LatencyBuckets.COUNT + bucket;
    }

    private void stepsOf(JsonParser json) throws IOException, Unreadable {
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            boolean wanted = json.currentName().equals("phases");
            json.nextToken();
            if (!wanted) {
                json.skipChildren();
                continue;
            }
            while (json.nextToken() == JsonToken.START_OBJECT) {
                int i = phases++;
                if (i == phase.length) {
                    phase = Arrays.copyOf(phase, 2 * i);
                    steps = grown(steps, 4);
                }
                phase[i] = "";
                object(json, steps[i], (key, figure) -> {
                    switch (key) {
                        case "phase" -> phase[i] = text(json.getText());
                        case "count" -> figure[0] = whole(json);
                        case "total_ns" -> figure[1] = whole(json);
                        case "prefill_tokens", "output_tokens" -> figure[2] += whole(json);
                        case "max_ns" -> figure[3] = whole(json);
                        default -> json.skipChildren();
                    }
                });
            }
        }
    }

    private void streamOf(JsonParser json) throws IOException, Unreadable {
        int i = streams++;
        if (i == stream.length) {
            stream = Arrays.copyOf(stream, 2 * i);
            device = Arrays.copyOf(device, 2 * i);
            uuid = Arrays.copyOf(uuid, 2 * i);
            pci = Arrays.copyOf(pci, 2 * i);
            times = grown(times, 3);
        }
        stream[i] = "unknown";
        device[i] = "unknown";
        uuid[i] = null;
        pci[i] = null;
        object(json, times[i], (key, figure) -> {
            switch (key) {
                case "stream" -> stream[i] = text(json.getText());
                case "device" -> device[i] = text(json.getText());
                case "device_uuid" -> uuid[i] = text(json.getText());
                case "pci_address" -> pci[i] = text(json.getText());
                case "samples" -> figure[0] = whole(json);
                case "busy_ns" -> figure[1] = whole(json);
                case "idle_ns" -> figure[2] = whole(json);
                default -> json.skipChildren();
            }
        });
    }

    /** Takes the value of a member. */
    private interface MemberReader {
        void read(String key, long[] figures) throws IOException, Unreadable;
    }

    private static void object(JsonParser json, long[] figures, MemberReader reader) throws IOException, Unreadable {
        Arrays.fill(figures, 0);
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String key = json.currentName();
            json.nextToken();
            reader.read(key, figures);
        }
    }

    private static long[][] grown(long[][] rows, int width) {
        int length = rows.length;
        long[][] grown = Arrays.copyOf(rows, 2 * length);
        for (int i = length; i < grown.length; i++) {
            grown[i] = new long[width];
        }
        return grown;
    }

    private static long whole(JsonParser json) throws IOException, Unreadable {
        if (json.currentToken() != JsonToken.VALUE_NUMBER_INT) {
            throw damaged(json.currentName() + " is " + json.getText() + ", which is no whole number");
        }
        long value = json.getLongValue();
        if (value < 0) {
            throw damaged(json.currentName() + " " + value + " is negative");
        }
        return value;
    }

    /** One object for each text: there are few different ones. */
    private String text(String text) {
        String known = texts.putIfAbsent(text, text);
        return known == null ? text : known;
    }

    private static Unreadable damaged(String reason) {
        return new Unreadable(PackProblem.Kind.DAMAGED, reason);
    }

    private static String describe(JsonProcessingException malformed) {
        return "line " + malformed.getLocation().getLineNr() + ": " + JsonFault.words(malformed.getOriginalMessage());
    }
}
