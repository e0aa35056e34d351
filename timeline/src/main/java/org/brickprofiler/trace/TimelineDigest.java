package org.brickprofiler.trace;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.brickprofiler.report.PagePart;
import org.brickprofiler.report.internal.HtmlPage;
import org.brickprofiler.report.internal.JsonText;
import org.jspecify.annotations.Nullable;

/**
 * The part of a timeline that a page shows: the spans of the median and the slowest step of each phase, and the time of
 * each brick in each layer, over all steps. Its size is bounded for timelines of any size. The timeline is replayed
 * twice. One thread.
 */
public final class TimelineDigest {

    /** The most spans that are drawn for all steps together; the longest spans of each step are chosen. */
    static final int MOST_SPANS = 4_000;

    /** The same bound for a timeline of chosen steps. The page draws more steps of such a timeline. */
    static final int MOST_CHOSEN_SPANS = 12_000;

    /** The most slow steps of a phase that a reader can choose from. */
    static final int MOST_CHOSEN_STEPS = 16;

    /** The most bricks whose time by layer is kept; the bricks with the most time are chosen. */
    static final int MOST_BRICKS = 500;

    /** The most kinds of steps that are shown: phases, or an application's names. */
    private static final int MOST_PHASES = 3;

    /** Layers from this one on are left out. */
    static final int MOST_LAYERS = 1_024;

    /** The name of a step in PyTorch's profiler. */
    private static final Pattern FOREIGN_STEP = Pattern.compile("ProfilerStep#\\d+");

    /** The name of a step without further information. */
    private static final String STEP = "step";

    private static final Comparator<Drawn> SHORTEST_FIRST =
            Comparator.comparingLong(Drawn::elapsedNs).thenComparing(Drawn::startNs, Comparator.reverseOrder());

    private final Timeline timeline;
    private final List<SpanName> names;
    private final List<Track> tracks;

    /** The bricks as which spans of another program count; empty in a timeline of this library. */
    private final List<SpanBrick> bricks;

    /** The explanation of the steps if the timeline holds chosen steps only. */
    private final @Nullable SlowSteps chosen;

    /** The steps of the track with the most steps. If the timeline holds chosen steps only, the steps of all tracks. */
    private List<ShownStep> steps = new ArrayList<>();

    /** How often each layer ran. */
    private final Map<Integer, Integer> layerRuns = new HashMap<>();

    /** For each name, ns by layer: the host's time, and the device's time. */
    private final Map<Integer, SortedMap<Integer, Long>> onHost = new LinkedHashMap<>();

    private final Map<Integer, SortedMap<Integer, Long>> onDevice = new LinkedHashMap<>();

    private record ShownStep(String phase, long startNs, long elapsedNs) {}

    private record Drawn(int track, long startNs, long elapsedNs, Label label, int layer) {}

    /**
     * The label of a drawn span.
     *
     * @param name the index of its name
     * @param brick the index of the brick that it counts as, or {@link Span#NOT_COUNTED}
     */
    private record Label(int name, int brick) {}

    /** The drawn part of a step. */
    private static final class Window {
        private final String what;
        private final ShownStep step;
        private final int mostSpans;
        private final PriorityQueue<Drawn> longest = new PriorityQueue<>(SHORTEST_FIRST);
        private long omitted;

        Window(String what, ShownStep step, int mostSpans) {
            this.what = what;
            this.step = step;
            this.mostSpans = mostSpans;
        }

        void add(int track, Span span) {
            long startNs = Math.max(span.startNs(), step.startNs);
            long endNs = Math.min(span.endNs(), step.startNs + step.elapsedNs);
            if (startNs >= endNs) {
                return;
            }
            Label label = new Label(span.name(), span.brick());
            longest.add(new Drawn(track, startNs - step.startNs, endNs - startNs, label, span.layer()));
            if (longest.size() > mostSpans) {
                longest.remove();
                omitted++;
            }
        }

        /**
         * Returns the spans track by track, in order of their starts; of those with the same start, the longer one
         * first.
         */
        List<Drawn> inOrder() {
            List<Drawn> spans = new ArrayList<>(longest);
            spans.sort(Comparator.comparingInt(Drawn::track)
                    .thenComparingLong(Drawn::startNs)
                    .thenComparing(SHORTEST_FIRST.reversed()));
            return spans;
        }
    }

    private TimelineDigest(Timeline timeline) {
        this.timeline = timeline;
        this.names = timeline.names();
        this.tracks = timeline.tracks();
        this.bricks = timeline.bricks();
        this.chosen = timeline.info().slowSteps().orElse(null);
    }

    /**
     * Returns the part of a page that shows a timeline: the spans of the median and the slowest step of each of the
     * three most frequent phases, if steps are known, and each brick's mean time in each layer. At most the 4,000
     * longest spans of these steps are drawn, and the first 1,024 layers. If the timeline holds chosen steps only, up
     * to 16 slow steps of each phase are drawn, with at most 12,000 spans together. The timeline is replayed twice, and
     * not retained.
     *
     * @param timeline the timeline, from a recorder or a reader of traces
     * @return a part for {@link org.brickprofiler.report.HtmlReport#with(PagePart)}
     */
    public static PagePart of(Timeline timeline) {
        TimelineDigest digest = new TimelineDigest(Objects.requireNonNull(timeline, "timeline"));
        digest.findSteps();
        List<Window> windows = digest.windows();
        digest.fill(windows);
        return PagePart.element("timeline", JsonText.of(json -> digest.write(windows, json)));
    }

    private void write(List<Window> windows, JsonGenerator json) throws IOException {
        json.writeStartObject();
        json.writeNumberField("steps", steps.size());
        json.writeNumberField("dropped", timeline.info().droppedSpans());
        json.writeBooleanField("counted", !bricks.isEmpty());
        if (chosen != null) {
            writeChosen(chosen, json);
        }
        writeLayers(json);
        writeWindows(windows, json);
        json.writeEndObject();
    }

    /** Visits the spans of one track, and ignores other events. */
    @FunctionalInterface
    private interface SpanVisitor extends TimelineVisitor {
        @Override
        default void instant(long atNs, int name) {
            // A moment takes no time.
        }

        @Override
        default void counter(long atNs, double value) {
            // A counter is no work.
        }
    }

    private void findSteps() {
        for (int track = 0; track < tracks.size(); track++) {
            if (tracks.get(track).kind() != Track.Kind.HOST_THREAD) {
                continue;
            }
            List<ShownStep> found = new ArrayList<>();
            timeline.replay(track, (SpanVisitor) span -> {
                SpanName name = names.get(span.name());
                if (isStep(name)) {
                    String phase = FOREIGN_STEP.matcher(name.name()).matches() ? STEP : name.name();
                    found.add(new ShownStep(phase, span.startNs(), span.endNs() - span.startNs()));
                } else if (name.category().equals(SpanName.LAYER)) {
                    layerRuns.merge(span.layer(), 1, Integer::sum);
                } else if (span.layer() >= 0 && span.layer() < MOST_LAYERS) {
                    add(onHost, span, span.endNs() - span.startNs());
                    if (span.deviceNs() >= 0) {
                        add(onDevice, span, span.deviceNs());
                    }
                }
            });
            if (chosen != null) {
                // Any thread may have had a slow step.
                found.addAll(steps);
            }
            if (found.size() > steps.size()) {
                steps = found;
            }
        }
        if (chosen != null) {
            steps.sort(Comparator.comparingLong(ShownStep::startNs));
        }
    }

    private static boolean isStep(SpanName name) {
        return name.category().equals(SpanName.STEP)
                || FOREIGN_STEP.matcher(name.name()).matches();
    }

    private static void add(Map<Integer, SortedMap<Integer, Long>> times, Span span, long ns) {
        times.computeIfAbsent(span.name(), name -> new TreeMap<>()).merge(span.layer(), ns, Long::sum);
    }

    /**
     * Returns the windows of the most frequent phases, the most frequent one first. The windows of a phase are its
     * median step and its slowest step. In a timeline of chosen steps, up to {@link #MOST_CHOSEN_STEPS} slow steps
     * follow the median, the slowest one first. The median of an even number of steps is the shorter one of the two in
     * the middle.
     */
    private List<Window> windows() {
        Map<String, List<ShownStep>> phases = new LinkedHashMap<>();
        steps.forEach(step ->
                phases.computeIfAbsent(step.phase, first -> new ArrayList<>()).add(step));
        List<List<ShownStep>> shown = phases.values().stream()
                .sorted(Comparator.<List<ShownStep>>comparingInt(List::size).reversed())
                .limit(MOST_PHASES)
                .toList();
        int slowSteps = chosen == null ? 1 : MOST_CHOSEN_STEPS;
        int windows = shown.stream()
                .mapToInt(phase -> Math.min(1 + slowSteps, phase.size()))
                .sum();
        int mostSpans = (chosen == null ? MOST_SPANS : MOST_CHOSEN_SPANS) / Math.max(1, windows);
        List<Window> all = new ArrayList<>();
        for (List<ShownStep> phase : shown) {
            List<ShownStep> sorted = phase.stream()
                    .sorted(Comparator.comparingLong(ShownStep::elapsedNs))
                    .toList();
            int median = sorted.size() == 1 ? -1 : sorted.indexOf(median(sorted));
            if (median >= 0) {
                all.add(new Window("median", sorted.get(median), mostSpans));
            }
            String what = median < 0 ? "only" : "slowest";
            for (int i = sorted.size() - 1, left = slowSteps; i >= 0 && left > 0; i--) {
                if (i != median) {
                    all.add(new Window(what, sorted.get(i), mostSpans));
                    what = "slow";
                    left--;
                }
            }
        }
        return all;
    }

    /**
     * Returns the median step of a phase. In a timeline of chosen steps, this is the median of all steps if it is one
     * of the slow steps, as in a short run. Otherwise it is a step that was kept because its duration is close to the
     * median.
     */
    private ShownStep median(List<ShownStep> sorted) {
        List<ShownStep> candidates = sorted;
        SlowSteps explained = chosen;
        if (explained != null) {
            ShownStep inTheMiddle = slowMedian(explained, sorted);
            if (inTheMiddle != null) {
                return inTheMiddle;
            }
            List<ShownStep> others =
                    sorted.stream().filter(step -> explanation(step).isEmpty()).toList();
            candidates = others.isEmpty() ? sorted : others;
        }
        return candidates.get((candidates.size() - 1) / 2);
    }

    /** Returns the median of all steps of a phase if it is one of the slow steps of the phase; otherwise null. */
    private static @Nullable ShownStep slowMedian(SlowSteps explained, List<ShownStep> sorted) {
        String phase = sorted.get(0).phase;
        long steps = explained.phases().stream()
                .filter(each -> each.phase().displayName().equalsIgnoreCase(phase))
                .mapToLong(SlowSteps.PhaseSteps::steps)
                .sum();
        return explained.slowest().stream()
                .filter(each -> each.info().phase().displayName().equalsIgnoreCase(phase))
                .skip(steps / 2)
                .flatMap(each -> sorted.stream().filter(step -> step.startNs == each.startNs()))
                .findFirst()
                .orElse(null);
    }

    private void fill(List<Window> windows) {
        for (int i = 0; i < tracks.size(); i++) {
            int track = i;
            if (tracks.get(track).kind() == Track.Kind.COUNTER) {
                continue;
            }
            timeline.replay(track, (SpanVisitor) span -> {
                if (!isStep(names.get(span.name()))) {
                    windows.forEach(window -> window.add(track, span));
                }
            });
        }
    }

    private void writeChosen(SlowSteps explained, JsonGenerator json) throws IOException {
        json.writeObjectFieldStart("chosen");
        json.writeStringField("text", explained.heldText());
        json.writeArrayFieldStart("steps");
        for (SlowSteps.Explained step : explained.slowest()) {
            json.writeStartObject();
            json.writeStringField("phase", step.info().phase().displayName());
            json.writeStringField("text", step.sentence());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    // ---- layers ----

    /** One brick's time by layer. */
    private record LayerRow(int name, SortedMap<Integer, Long> times) {
        long totalNs() {
            return times.values().stream().mapToLong(Long::longValue).sum();
        }
    }

    private void writeLayers(JsonGenerator json) throws IOException {
        Map<Integer, SortedMap<Integer, Long>> all = new LinkedHashMap<>(onHost);
        // If a device timed a brick, the host's spans of the brick are its launches.
        all.putAll(onDevice);
        List<LayerRow> rows = all.entrySet().stream()
                .map(entry -> new LayerRow(entry.getKey(), entry.getValue()))
                .toList();
        if (rows.size() > MOST_BRICKS) {
            rows = rows.stream()
                    .sorted(Comparator.comparingLong(LayerRow::totalNs).reversed())
                    .limit(MOST_BRICKS)
                    .toList();
        }
        int layers =
                1 + rows.stream().mapToInt(row -> row.times.lastKey()).max().orElse(-1);
        json.writeNumberField("layers", layers);
        json.writeArrayFieldStart("bricks");
        for (LayerRow row : rows) {
            json.writeStartObject();
            writeName(row.name, json);
            json.writeArrayFieldStart("ns");
            for (int layer = 0; layer < layers; layer++) {
                @Nullable Long ns = row.times.get(layer);
                if (ns == null) {
                    json.writeNull();
                } else {
                    // The mean over the runs of the layer.
                    json.writeNumber(ns / layerRuns.getOrDefault(layer, 1));
                }
            }
            json.writeEndArray();
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private void writeName(int name, JsonGenerator json) throws IOException {
        json.writeStringField("name", names.get(name).name());
        json.writeStringField("category", names.get(name).category());
    }

    // ---- steps ----

    private void writeWindows(List<Window> windows, JsonGenerator json) throws IOException {
        Map<Label, Integer> placesOfNames = new LinkedHashMap<>();
        Map<Integer, Integer> placesOfTracks = new LinkedHashMap<>();
        json.writeArrayFieldStart("shown");
        for (Window window : windows) {
            List<Drawn> spans = window.inOrder();
            json.writeStartObject();
            json.writeStringField("what", window.what);
            json.writeStringField("phase", window.step.phase);
            json.writeNumberField("elapsed_ns", window.step.elapsedNs);
            json.writeNumberField("after_ns", window.step.startNs - steps.get(0).startNs);
            json.writeNumberField("omitted", window.omitted);
            Optional<SlowSteps.Explained> explained = explanation(window.step);
            if (explained.isPresent()) {
                json.writeNumberField("number", explained.get().index());
                json.writeStringField("text", explained.get().sentence());
            }
            HtmlPage.column(json, "track", spans, span -> json.writeNumber(place(placesOfTracks, span.track)));
            HtmlPage.column(json, "name", spans, span -> json.writeNumber(place(placesOfNames, span.label)));
            HtmlPage.column(json, "layer", spans, span -> json.writeNumber(span.layer));
            HtmlPage.column(json, "start_ns", spans, span -> json.writeNumber(span.startNs));
            HtmlPage.column(json, "ns", spans, span -> json.writeNumber(span.elapsedNs));
            json.writeEndObject();
        }
        json.writeEndArray();
        // Each pair of a name and a brick is one entry, so that bricks add nothing to the columns of the spans.
        HtmlPage.column(json, "names", placesOfNames.keySet(), label -> {
            json.writeStartObject();
            writeName(label.name, json);
            if (label.brick != Span.NOT_COUNTED) {
                writeBrick(bricks.get(label.brick), json);
            }
            json.writeEndObject();
        });
        HtmlPage.column(json, "tracks", placesOfTracks.keySet(), track -> json.writeString(label(tracks.get(track))));
        HtmlPage.column(
                json,
                "streams",
                placesOfTracks.keySet(),
                track -> json.writeBoolean(tracks.get(track).kind() != Track.Kind.HOST_THREAD));
    }

    /** Returns the explanation of a slow step; empty for any other step, and in a timeline of all steps. */
    private Optional<SlowSteps.Explained> explanation(ShownStep step) {
        SlowSteps explained = chosen;
        return explained == null
                ? Optional.empty()
                : explained.slowest().stream()
                        .filter(each -> each.startNs() == step.startNs
                                && each.info().phase().displayName().equalsIgnoreCase(step.phase))
                        .findFirst();
    }

    private static void writeBrick(SpanBrick brick, JsonGenerator json) throws IOException {
        json.writeStringField("brick", brick.name());
        json.writeStringField("counted", brick.category().displayName());
        json.writeStringField("by", brick.evidence().word());
    }

    /** Returns the index of a value, counting from 0 in the order of first use. */
    private static <T> int place(Map<T, Integer> places, T value) {
        return places.computeIfAbsent(value, unknown -> places.size());
    }

    private String label(Track track) {
        return track.parent() == Track.PROCESS
                ? track.name()
                : tracks.get(track.parent()).name() + ", " + track.name();
    }
}
