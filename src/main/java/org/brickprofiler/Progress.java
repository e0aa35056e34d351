package org.brickprofiler;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.request.LiveRequest;
import org.brickprofiler.request.RecentRequests;
import org.brickprofiler.request.RequestRecorder;

/**
 * The steps and requests of an engine that were under way at a moment, and the places of its threads if no step had
 * ended for {@value #STALL_MS} ms. Immutable.
 *
 * @param sinceStepNs time since a step ended last, ns; empty if none has ended
 * @param steps the steps under way, the longest first
 * @param requests the requests that have not finished
 * @param recent the requests that finished in the last 1, 5 and 60 minutes; empty if requests are not recorded
 * @param stalledNs the time for which there were steps or requests under way and no step ended, ns; empty if it is
 *     shorter than {@value #STALL_MS} ms, or nothing is under way
 * @param places of a stall, where the threads stand: that of the oldest request, those of at most {@value #MOST_STEPS}
 *     steps under way, and that of the latest step
 */
public record Progress(
        OptionalLong sinceStepNs,
        List<OpenStep> steps,
        RequestRecorder.Live requests,
        List<RecentRequests> recent,
        OptionalLong stalledNs,
        List<Place> places) {

    /** The shortest stall, ms. */
    public static final long STALL_MS = 2_000;

    /** The most steps whose threads are named. */
    public static final int MOST_STEPS = 4;

    private static final double NS_PER_S = 1e9;
    private static final long NS_PER_MS = 1_000_000;

    /** Nothing is under way, and no step has ended. */
    static final Progress NONE = new Progress(
            OptionalLong.empty(), List.of(), RequestRecorder.Live.NONE, List.of(), OptionalLong.empty(), List.of());

    /** The beginning of the {@linkplain #lines words} for a stall. */
    public static final String STALLED = "Stalled: ";

    /** The key of what is under way, a further fact of a report. */
    public static final String NOW = "now";

    /**
     * A step under way.
     *
     * @param phase its phase
     * @param elapsedNs time since its beginning, ns
     * @param thread the thread that began it
     */
    public record OpenStep(StepInfo.Phase phase, long elapsedNs, Thread thread) {

        /**
         * Checks the values.
         *
         * @throws IllegalArgumentException when the time is negative
         */
        public OpenStep {
            Objects.requireNonNull(phase, "phase");
            Objects.requireNonNull(thread, "thread");
            requireNotNegative("elapsedNs", elapsedNs);
        }
    }

    /**
     * The place of a thread in a stall, and the role of this thread.
     *
     * @param role such as <i>the thread of the oldest request</i>
     * @param place the place
     */
    public record Place(String role, ThreadPlace place) {

        /** Checks that nothing is null. */
        public Place {
            Objects.requireNonNull(role, "role");
            Objects.requireNonNull(place, "place");
        }
    }

    /** Copies the lists. */
    public Progress {
        sinceStepNs.ifPresent(ns -> requireNotNegative("sinceStepNs", ns));
        steps = List.copyOf(Objects.requireNonNull(steps, "steps"));
        Objects.requireNonNull(requests, "requests");
        recent = List.copyOf(Objects.requireNonNull(recent, "recent"));
        stalledNs.ifPresent(ns -> requireNotNegative("stalledNs", ns));
        places = List.copyOf(Objects.requireNonNull(places, "places"));
    }

    /**
     * Returns the state of an engine, and reads where its threads stand if it stalls.
     *
     * @param latestThread the thread of the step that began last; empty if none is known
     */
    static Progress of(
            OptionalLong sinceStepNs,
            List<OpenStep> steps,
            RequestRecorder.Live requests,
            List<RecentRequests> recent,
            Optional<Thread> latestThread) {
        long workNs = Math.max(
                steps.stream().mapToLong(OpenStep::elapsedNs).max().orElse(-1),
                requests.oldest().map(LiveRequest::ageNs).orElse(-1L));
        long stalledNs = Math.min(workNs, sinceStepNs.orElse(Long.MAX_VALUE));
        boolean stalls = stalledNs >= STALL_MS * NS_PER_MS;
        return new Progress(
                sinceStepNs,
                steps,
                requests,
                recent,
                stalls ? OptionalLong.of(stalledNs) : OptionalLong.empty(),
                stalls ? places(steps, requests, latestThread) : List.of());
    }

    private static List<Place> places(
            List<OpenStep> steps, RequestRecorder.Live requests, Optional<Thread> latestThread) {
        Map<Thread, String> roles = new LinkedHashMap<>();
        requests.thread().ifPresent(thread -> roles.put(thread, "the thread of the oldest request"));
        steps.stream()
                .limit(MOST_STEPS)
                .forEach(step -> roles.putIfAbsent(step.thread(), "the thread of a step under way"));
        latestThread.ifPresent(thread -> roles.putIfAbsent(thread, "the thread of the latest step"));
        List<Place> places = new ArrayList<>();
        roles.forEach((thread, role) -> places.add(new Place(role, ThreadPlace.of(thread))));
        return places;
    }

    /**
     * Returns whether anything is under way.
     *
     * @return true with a step or a live request
     */
    public boolean isUnderWay() {
        return !steps.isEmpty() || requests.waiting() > 0 || requests.running() > 0;
    }

    /**
     * Returns the state in words: the stall if there is one, the oldest request, and where the threads stand.
     *
     * @return a few sentences, one on each line; empty if nothing is under way
     */
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        if (!isUnderWay()) {
            return lines;
        }
        String head = stalledNs.isEmpty()
                ? ""
                : STALLED + (sinceStepNs.isEmpty() ? "no step has ended yet, for " : "no step for ")
                        + seconds(stalledNs.getAsLong()) + ". ";
        lines.add(head + "Under way: " + Plural.of(steps.size(), "step")
                + steps.stream()
                        .findFirst()
                        .map(step -> " (" + name(step) + ", for " + seconds(step.elapsedNs()) + ")")
                        .orElse("")
                + "; " + Plural.of(requests.running(), "running request") + ", "
                + Plural.of(requests.waiting(), "waiting request") + ".");
        requests.oldest().map(this::oldest).ifPresent(lines::add);
        places.forEach(each -> lines.add(
                each.place().text(capital(each.role()) + " (" + each.place().thread() + ")")));
        return lines;
    }

    private static String name(OpenStep step) {
        return step.phase().displayName();
    }

    private String oldest(LiveRequest request) {
        return "The oldest request"
                + request.identity().id().map(id -> " (" + id + ")").orElse("") + " arrived " + seconds(request.ageNs())
                + " ago, "
                + (request.isRunning() ? "is running" : "is waiting for its first step") + ", and has "
                + Plural.of(request.outputTokens(), "token")
                + (requests.sinceTokenNs().isPresent()
                        ? ", the latest for " + seconds(requests.sinceTokenNs().getAsLong())
                        : "")
                + (requests.thread().isPresent() ? "." : "; the thread that serves it is unknown.");
    }

    private static String seconds(long ns) {
        return String.format(Locale.ROOT, "%.1f s", ns / NS_PER_S);
    }

    private static String capital(String text) {
        return text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1);
    }

    /**
     * Returns the state as a further entry of a report, under the key {@link #NOW}.
     *
     * @return an entry for {@code JsonReport.toJson} or a page
     */
    public Map<String, Object> reportEntries() {
        Map<String, Object> now = new LinkedHashMap<>();
        sinceStepNs.ifPresent(ns -> now.put("since_step_ns", ns));
        stalledNs.ifPresent(ns -> now.put("stalled_ns", ns));
        now.put("waiting", requests.waiting());
        now.put("running", requests.running());
        now.put("steps", steps.stream().map(Progress::values).toList());
        now.put("threads", places.stream().map(Progress::values).toList());
        now.put("text", lines());
        now.put("recent", recent.stream().map(RecentRequests::values).toList());
        return Map.of(NOW, now);
    }

    private static Map<String, Object> values(OpenStep step) {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("phase", name(step));
        values.put("elapsed_ns", step.elapsedNs());
        values.put("thread", step.thread().getName());
        return values;
    }

    private static Map<String, Object> values(Place each) {
        ThreadPlace place = each.place();
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("role", each.role());
        values.put("thread", place.thread());
        values.put("state", place.state().name());
        values.put("frames", frames(place.frames()));
        values.put("lock_known", place.isLockKnown());
        place.lock().ifPresent(lock -> values.put("lock", lock));
        place.owner().ifPresent(owner -> values.put("owner", owner));
        values.put("owner_frames", frames(place.ownerFrames()));
        return values;
    }

    private static List<String> frames(List<StackTraceElement> stack) {
        return stack.stream().map(ThreadPlace::text).toList();
    }
}
