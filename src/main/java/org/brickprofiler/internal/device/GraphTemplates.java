package org.brickprofiler.internal.device;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.internal.mark.GraphMarks;
import org.brickprofiler.internal.mark.GraphMarks.Loss;
import org.brickprofiler.internal.record.PhaseKey;
import org.jspecify.annotations.Nullable;

/**
 * The bricks that were recorded while one stream was captured into graphs. They are no samples but a template of them:
 * each announced launch of the graph is one sample of each brick. One thread at a time; measuring a launch allocates
 * nothing once a template has its size, which the marks of the stream bound.
 *
 * <h2>The times of a launch</h2>
 *
 * A launch sets the marks of its template anew, so their times are those of the latest launch that reached them. A mark
 * that no launch has set so far may still have the time of an earlier use. A launch is therefore enclosed by two
 * ordinary marks. The first is the one behind the previous launch, or the one before the capture; the second is the one
 * behind this launch. Once the second is reached, the times of all marks of the template are read, and accepted only if
 * each lies between the two:
 *
 * <ul>
 *   <li>A mark with a time before the first is of an earlier launch or an earlier use: this launch has not set it.
 *   <li>A mark with a time after the second, or one that is not reached, is of a later launch. So is the start of a
 *       brick if it lies behind the brick's end.
 *   <li>Another launch may set marks while they are read. The times are sums of short steps from mark to mark, from the
 *       first enclosing mark to the second. If a mark changes after the step to it was read and before the step from it
 *       is read, the sum is short by the time between the two launches, which is positive. The enclosing marks do not
 *       change: the time between them is also queried as a whole, and has to be equal to the sum.
 * </ul>
 *
 * <p>Otherwise all bricks of the launch are unresolved. Accepted times are stored as numbers, so the marks may change
 * afterwards.
 */
final class GraphTemplates {

    private static final int FIRST_BRICKS = 16;

    /** Some devices report times as a {@code float}: the relative error of a time is less than 2<sup>-22</sup>. */
    private static final int FLOAT_BITS = 22;

    private final GraphMarks source;
    private final Marks marks;
    private final DeviceFigures.Sums sums;

    /** In ascending order of the number of the capture. */
    private final List<Template> all = new ArrayList<>();

    /** Whether launches are lost that are not counted yet, because bricks of their graphs may still be in a queue. */
    private boolean hasLost;

    /** Whether a launch was taken since the last {@link #settle}. */
    private boolean hasTaken;

    // Filled by measuring.
    private int[] asked = {};
    private long[] stepsNs = {};
    private final int[] ends = new int[2];
    private final long[] endsNs = new long[2];
    private boolean early;

    /** The bricks of one graph. */
    static final class Template {

        private final int capture;

        /** The mark before the next launch, held; or {@link DeviceStream#NO_MARK}. */
        private int before;

        private int size;
        private int[] keys = new int[FIRST_BRICKS];
        private int[] starts = new int[FIRST_BRICKS];
        private int[] ends = new int[FIRST_BRICKS];
        private long[] elements = new long[FIRST_BRICKS];

        // The marks of the bricks, each once, in the order in which they were set; and how far each lies behind the
        // mark after the launch that was measured last, ns, 0 or less.
        private int sorted;
        private int[] marks = {};
        private int[] startPositions = {};
        private int[] endPositions = {};
        private long[] offsetsNs = {};

        /** How many launches were announced. */
        private int launches;

        /** The launch that waits for its times, or 0; and the phase of its samples. */
        private int pending;

        private int pendingPhase;

        /** The launch that was measured last, and whether its times were taken. */
        private int measured;

        private boolean taken;

        /** How many launches are lost and not counted, by phase; the latest of these, and why. */
        private final int[] lost = new int[PhaseKey.PHASES];

        private int lostLaunch;
        private @Nullable Loss loss;

        private boolean released;

        private Template(int capture, int before) {
            this.capture = capture;
            this.before = before;
        }

        int size() {
            return size;
        }

        int key(int brick) {
            return keys[brick];
        }

        int start(int brick) {
            return starts[brick];
        }

        int end(int brick) {
            return ends[brick];
        }

        long elements(int brick) {
            return elements[brick];
        }
    }

    /**
     * Creates the state without templates.
     *
     * @param source reports which marks are part of graphs, and their times
     * @param marks holds the marks
     * @param sums counts unresolved bricks
     */
    GraphTemplates(GraphMarks source, Marks marks, DeviceFigures.Sums sums) {
        this.source = source;
        this.marks = marks;
        this.sums = sums;
    }

    // ---- captures ----

    /**
     * Adds an empty template for a capture that begins.
     *
     * @param before a mark that was set before it, of which this takes over a hold; or {@link DeviceStream#NO_MARK}
     */
    void open(int capture, int before) {
        all.add(-1 - indexOf(capture), new Template(capture, before));
    }

    /** Returns whether a capture is open. */
    boolean isCapturing() {
        return source.isCapturing();
    }

    /** Returns whether a mark was found since the last call that was set in a capture outside of a scope. */
    boolean takeStray() {
        return source.takeStray();
    }

    private @Nullable Template template(int capture) {
        int index = indexOf(capture);
        return index < 0 ? null : all.get(index);
    }

    /** Returns the index of a capture; without one, -1 less the index at which it would be. Allocates nothing. */
    private int indexOf(int capture) {
        int low = 0;
        int high = all.size() - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            int found = all.get(middle).capture;
            if (found == capture) {
                return middle;
            }
            if (found < capture) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return -1 - low;
    }

    /**
     * Adds a brick that ended to its template, if it is part of a graph, and takes over the holds of its marks. A brick
     * with one mark in a graph and the other outside, or in another graph, is unresolved.
     *
     * @return false if neither mark is part of a graph
     */
    boolean take(int row, int start, int end, long elements) {
        int capture = source.captureOf(end);
        int startCapture = source.captureOf(start);
        if (capture == GraphMarks.NONE && startCapture == GraphMarks.NONE) {
            return false;
        }
        Template template = capture == startCapture ? template(capture) : null;
        if (template == null || template.released) {
            sums.unresolved(row);
            marks.letGo(start);
            marks.letGo(end);
            return true;
        }
        int at = template.size;
        if (at == template.keys.length) {
            template.keys = Arrays.copyOf(template.keys, 2 * at);
            template.starts = Arrays.copyOf(template.starts, 2 * at);
            template.ends = Arrays.copyOf(template.ends, 2 * at);
            template.elements = Arrays.copyOf(template.elements, 2 * at);
        }
        template.keys[at] = PhaseKey.key(row);
        template.starts[at] = start;
        template.ends[at] = end;
        template.elements[at] = elements;
        template.size++;
        return true;
    }

    /**
     * Notes that the graph of a capture will not be launched again. Lets go of its marks once its last launch is
     * resolved.
     */
    void release(int capture) {
        Template template = template(capture);
        if (template != null) {
            template.released = true;
            dropIfDone(template);
        }
    }

    private void dropIfDone(Template template) {
        if (!template.released
                || template.pending != 0
                || Arrays.stream(template.lost).anyMatch(launches -> launches != 0)) {
            return;
        }
        all.remove(template);
        for (int brick = 0; brick < template.size; brick++) {
            marks.letGo(template.starts[brick]);
            marks.letGo(template.ends[brick]);
        }
        if (template.before != DeviceStream.NO_MARK) {
            marks.letGo(template.before);
        }
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    /** Sets a flag for each mark that a template holds. */
    void keep(boolean[] kept) {
        for (Template template : all) {
            for (int brick = 0; brick < template.size; brick++) {
                kept[template.starts[brick]] = true;
                kept[template.ends[brick]] = true;
            }
            if (template.before != DeviceStream.NO_MARK) {
                kept[template.before] = true;
            }
        }
    }

    // ---- launches ----

    /**
     * Adds a launch, which waits for its times from then on. The previous launch is lost if it still waits.
     *
     * @param phase the number of the phase of its samples
     * @param end the mark behind the launch, of which this takes over a hold; or {@link DeviceStream#NO_MARK}
     * @param owner the thread that launched
     * @param waiting receives the launch as one sample from the mark before it to the mark behind it
     */
    void takeLaunch(int capture, int phase, int end, long owner, WaitingSamples waiting) {
        Template template = template(capture);
        if (template == null || template.released) {
            if (template == null) {
                source.report(
                        Loss.UNKNOWN,
                        "the launches of captured graph " + capture
                                + " have no samples in this profiler, which was made"
                                + " after the capture: make each profiler before the capture, or capture again");
            }
            if (end != DeviceStream.NO_MARK) {
                marks.letGo(end);
            }
            return;
        }
        hasTaken = true;
        if (template.pending != 0) {
            lose(template, template.pending, template.pendingPhase, Loss.FOLLOWED);
        }
        template.launches++;
        int before = template.before;
        if (before == DeviceStream.NO_MARK || end == DeviceStream.NO_MARK) {
            lose(template, template.launches, phase, Loss.UNMARKED);
            marks.miss();
            if (before != DeviceStream.NO_MARK) {
                marks.letGo(before);
            }
            template.before = end;
            return;
        }
        template.pending = template.launches;
        template.pendingPhase = phase;
        template.before = end;
        marks.hold(end);
        waiting.addLaunch(phase, capture, template.launches, before, end, owner);
    }

    /** Returns whether a launch was taken since {@link #settle}: bricks of its template may still be in a queue. */
    boolean hasTaken() {
        boolean has = hasTaken;
        hasTaken = false;
        return has;
    }

    /** Counts the bricks of lost launches. Call it when no brick of a template is in a queue. */
    void settle() {
        if (hasLost) {
            hasLost = false;
            for (int i = all.size() - 1; i >= 0; i--) {
                Template template = all.get(i);
                if (template.loss != null && template.size > 0) {
                    report(template, template.loss);
                }
                template.loss = null;
                for (int phase = 0; phase < PhaseKey.PHASES; phase++) {
                    for (; template.lost[phase] > 0; template.lost[phase]--) {
                        for (int brick = 0; brick < template.size; brick++) {
                            sums.unresolved(PhaseKey.of(phase, template.keys[brick]));
                        }
                    }
                }
                dropIfDone(template);
            }
        }
    }

    private void lose(Template template, int launch, int phase, @Nullable Loss loss) {
        template.lost[phase]++;
        template.lostLaunch = launch;
        template.loss = loss;
        hasLost = true;
        if (template.pending == launch) {
            template.pending = 0;
        }
    }

    private void report(Template template, Loss loss) {
        source.report(
                loss,
                "the " + template.size + " bricks of launch " + template.lostLaunch + " of captured graph "
                        + template.capture + " are unresolved"
                        + switch (loss) {
                            case FOLLOWED ->
                                ": the next launch was announced before this one was resolved. End the pass before the"
                                        + " next launch, or capture the work twice and launch the two graphs in turn";
                            case OVERWRITTEN ->
                                ": a later launch has recorded its events again. Announce every launch, and launch in"
                                        + " the captured stream only";
                            case NOT_SET ->
                                ": its events have no times of this launch. Announce each launch to the capture of the"
                                        + " graph, and launch in the captured stream only";
                            case UNKNOWN -> "";
                            case UNMARKED ->
                                ": no mark could be set around it. Open captures before they begin, and give the stream"
                                        + " more marks where they have run out";
                        });
    }

    /** Gives up the launch of a waiting sample: its bricks are unresolved. */
    void giveUp(int capture, int launch) {
        Template template = template(capture);
        if (template != null && template.pending == launch) {
            lose(template, launch, template.pendingPhase, null);
            settle();
        }
    }

    /** Forgets the launches that wait. */
    void forgetLaunches() {
        for (int i = all.size() - 1; i >= 0; i--) {
            Template template = all.get(i);
            template.pending = 0;
            dropIfDone(template);
        }
    }

    /** Returns how many bricks wait for the times of a launch. */
    int pendingCount() {
        int count = 0;
        for (int i = 0; i < all.size(); i++) {
            Template template = all.get(i);
            count += template.pending != 0 ? template.size : 0;
        }
        return count;
    }

    /** Notes that the launch of a waiting sample is resolved. */
    void resolved(int capture, int launch) {
        Template template = template(capture);
        if (template != null && template.pending == launch) {
            template.pending = 0;
            dropIfDone(template);
        }
    }

    // ---- times ----

    /**
     * Reads the times of a launch whose end is reached, unless that was done before.
     *
     * @param before the mark before the launch
     * @param end the mark behind it
     * @return the template, for {@link #addTo}; null if the launch is lost, or if the times cannot be queried now,
     *     which {@link #isEarly} returns
     */
    @Nullable
    Template measure(int capture, int launch, int before, int end) {
        early = false;
        Template template = template(capture);
        if (template == null || template.pending != launch) {
            return null;
        }
        if (template.measured != launch || template.sorted != template.size) {
            sortMarks(template);
            Loss loss = template.size == 0 ? null : read(template, before, end);
            if (early) {
                return null;
            }
            template.measured = launch;
            template.taken = loss == null;
            if (loss != null) {
                lose(template, launch, template.pendingPhase, loss);
                settle();
            }
        }
        return template.taken ? template : null;
    }

    /** Returns whether the latest query of times was too early, and has to be repeated later. */
    boolean isEarly() {
        return early;
    }

    /** Puts the marks of bricks that are new into the order in which they were set. */
    private void sortMarks(Template template) {
        if (template.sorted == template.size) {
            return;
        }
        int size = template.size;
        template.marks = IntStream.concat(
                        Arrays.stream(template.starts, 0, size), Arrays.stream(template.ends, 0, size))
                .distinct()
                .boxed()
                .sorted(Comparator.comparingLong(marks::turn))
                .mapToInt(Integer::intValue)
                .toArray();
        int count = template.marks.length;
        int[] positions = new int[marks.room()];
        for (int i = 0; i < count; i++) {
            positions[template.marks[i]] = i;
        }
        template.startPositions = Arrays.stream(template.starts, 0, size)
                .map(mark -> positions[mark])
                .toArray();
        template.endPositions = Arrays.stream(template.ends, 0, size)
                .map(mark -> positions[mark])
                .toArray();
        template.offsetsNs = new long[count];
        template.sorted = size;
        if (asked.length < count + 2) {
            asked = new int[count + 2];
            stepsNs = new long[count + 2];
        }
    }

    /** Reads the times of a launch. Returns the reason why they are not those of the launch; null if they are. */
    private @Nullable Loss read(Template template, int before, int end) {
        int count = template.marks.length;
        asked[0] = before;
        System.arraycopy(template.marks, 0, asked, 1, count);
        asked[count + 1] = end;
        source.elapsedNs(asked, count + 2, stepsNs);
        ends[0] = before;
        ends[1] = end;
        source.elapsedNs(ends, ends.length, endsNs);
        early = endsNs[1] == DeviceStream.NOT_REACHED;
        if (!isTime(endsNs[1])) {
            return Loss.NOT_SET;
        }
        long offsetNs = 0;
        for (int i = count + 1; i > 0; i--) {
            if (!isTime(stepsNs[i])) {
                // The end of the launch is reached, so a mark that is not reached will be set by a later launch.
                return stepsNs[i] == DeviceStream.NOT_REACHED ? Loss.OVERWRITTEN : Loss.NOT_SET;
            }
            offsetNs -= stepsNs[i];
            if (i > 1) {
                template.offsetsNs[i - 2] = offsetNs;
            }
        }
        return check(template, offsetNs, endsNs[1]);
    }

    /**
     * Checks the times that were read. Returns the reason why they are not those of the launch; null if they are.
     *
     * @param beforeNs the time from the mark behind the launch to the mark before it, as the sum of the steps; negative
     * @param wholeNs the time from the mark before the launch to the mark behind it, queried as a whole
     */
    private static @Nullable Loss check(Template template, long beforeNs, long wholeNs) {
        long roundedNs = Math.abs(wholeNs) >> FLOAT_BITS;
        boolean isTorn = Math.abs(wholeNs + beforeNs) > roundedNs + template.offsetsNs.length;
        for (int brick = 0; brick < template.size; brick++) {
            long startNs = template.offsetsNs[template.startPositions[brick]];
            isTorn |= template.offsetsNs[template.endPositions[brick]] < startNs;
        }
        long latestNs = Long.MIN_VALUE;
        long earliestNs = Long.MAX_VALUE;
        for (long offsetNs : template.offsetsNs) {
            latestNs = Math.max(latestNs, offsetNs);
            earliestNs = Math.min(earliestNs, offsetNs);
        }
        if (latestNs > 0 || (isTorn && earliestNs >= beforeNs)) {
            return Loss.OVERWRITTEN;
        }
        // Marks that were all reached together with the one before were reached before the launch.
        boolean isEarlier = earliestNs < beforeNs + roundedNs || latestNs <= beforeNs;
        return isTorn || isEarlier ? Loss.NOT_SET : null;
    }

    private static boolean isTime(long ns) {
        return ns != DeviceStream.UNRESOLVED && ns != DeviceStream.NOT_REACHED;
    }

    /** Adds the marks and bricks of a launch that was measured to a batch. */
    static void addTo(MarkChain chain, Template template, int end) {
        for (int i = 0; i < template.marks.length; i++) {
            chain.addLaunched(template.marks[i], end, template.offsetsNs[i]);
        }
        for (int brick = 0; brick < template.size; brick++) {
            chain.addSample(template.starts[brick], template.ends[brick]);
        }
    }
}
