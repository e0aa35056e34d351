package org.brickprofiler.internal.device;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.brickprofiler.device.MarkCost;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.internal.record.PhaseKey;
import org.brickprofiler.internal.record.RowCounts;
import org.brickprofiler.internal.record.StatRow;
import org.brickprofiler.internal.record.StatSums;
import org.brickprofiler.internal.record.StatTable;
import org.brickprofiler.internal.record.TableRegistry;
import org.brickprofiler.internal.record.TimerToken;
import org.jspecify.annotations.Nullable;

/** Figures of device samples other than their times, as read by a {@link DeviceRecorder}. Immutable; any thread. */
public final class DeviceFigures {

    private final StatSums launches;
    private final int fromKey;

    /** By phase, and from the first key on. */
    private final long[][] samples;

    private final RowCounts.Reading unresolved;
    private final RowCounts.Reading withoutStart;
    private final RowCounts.Reading marksInside;
    private final RowCounts.Reading withoutMarkTime;

    private final List<StreamTotals> streams;
    private final Estimates estimates;

    /**
     * The bricks without marks, by row.
     *
     * @param rows their number and estimated time
     * @param buckets their durations by bucket; empty without percentiles
     */
    record Estimates(Map<Integer, Estimate> rows, Map<Integer, long[]> buckets) {}

    private DeviceFigures(
            StatSums launches,
            int fromKey,
            long[][] samples,
            RowCounts.Reading unresolved,
            RowCounts.Reading withoutStart,
            RowCounts.Reading marksInside,
            RowCounts.Reading withoutMarkTime,
            List<StreamTotals> streams,
            Estimates estimates) {
        this.launches = launches;
        this.fromKey = fromKey;
        this.samples = samples;
        this.unresolved = unresolved;
        this.withoutStart = withoutStart;
        this.marksInside = marksInside;
        this.withoutMarkTime = withoutMarkTime;
        this.streams = streams;
        this.estimates = estimates;
    }

    /**
     * Returns the bricks of a row without marks.
     *
     * @param key a row that was asked for
     * @return the sum of those of all phases
     */
    public Estimate estimate(int key) {
        Estimate sum = Estimate.NONE;
        for (int phase = 0; phase < PhaseKey.PHASES; phase++) {
            sum = sum.plus(estimate(phase, key));
        }
        return sum;
    }

    /**
     * Returns the bricks of a row in a phase without marks.
     *
     * @param phase the number of the phase, or {@link PhaseKey#NO_PHASE}
     * @param key a row that was asked for
     * @return their number and estimated time
     */
    public Estimate estimate(int phase, int key) {
        return estimates.rows.getOrDefault(PhaseKey.of(phase, key), Estimate.NONE);
    }

    /**
     * Adds the durations of the bricks without marks to others.
     *
     * @param phase the number of the phase, or {@link PhaseKey#NO_PHASE}
     * @param key a row that was asked for
     * @param sums receives them by bucket
     */
    public void addBuckets(int phase, int key, long[] sums) {
        long[] of = estimates.buckets.get(PhaseKey.of(phase, key));
        for (int i = 0; of != null && i < of.length; i++) {
            sums[i] += of[i];
        }
    }

    /**
     * Returns the host's launch times of a brick: the times between setting its two marks, for the samples whose launch
     * was timed.
     *
     * @param key the brick
     * @return its sums; {@link StatRow#EMPTY} if there are no such samples
     */
    public StatRow launches(int key) {
        return launches.row(key);
    }

    /**
     * Returns the host's launch times of a brick in a phase.
     *
     * @param phase the number of the phase, or {@link PhaseKey#NO_PHASE}
     * @param key the brick
     * @return its sums; {@link StatRow#EMPTY} if there are no such samples
     */
    public StatRow launches(int phase, int key) {
        return launches.row(phase, key);
    }

    /**
     * Returns how many samples of a brick a device timed.
     *
     * @param key a brick that was asked for
     * @return 0 or more
     */
    public long samples(int key) {
        long sum = 0;
        for (long[] ofPhase : samples) {
            sum += ofPhase[key - fromKey];
        }
        return sum;
    }

    /**
     * Returns how many samples of a brick in a phase a device timed.
     *
     * @param phase the number of the phase, or {@link PhaseKey#NO_PHASE}
     * @param key a brick that was asked for
     * @return 0 or more
     */
    public long samples(int phase, int key) {
        return samples[phase][key - fromKey];
    }

    /**
     * Returns how many samples of a row have no time.
     *
     * @param key a row that was asked for
     * @return 0 or more
     */
    public long unresolved(int key) {
        return unresolved.of(key);
    }

    /**
     * Returns how many samples of a row in a phase have no time.
     *
     * @param phase the number of the phase, or {@link PhaseKey#NO_PHASE}
     * @param key a row that was asked for
     * @return 0 or more
     */
    public long unresolved(int phase, int key) {
        return unresolved.of(phase, key);
    }

    /**
     * Returns how many of the samples without a time are deferred measurements without a known start.
     *
     * @param key a row that was asked for
     * @return 0 to {@link #unresolved}
     */
    public long withoutStart(int key) {
        return withoutStart.of(key);
    }

    /**
     * Returns how many of the samples of a phase without a time are deferred measurements without a known start.
     *
     * @param phase the number of the phase, or {@link PhaseKey#NO_PHASE}
     * @param key a row that was asked for
     * @return 0 to {@link #unresolved(int, int)}
     */
    public long withoutStart(int phase, int key) {
        return withoutStart.of(phase, key);
    }

    /**
     * Returns how many marks were set inside the samples of a brick, beside those at their ends.
     *
     * @param key a brick that was asked for
     * @return 0 or more; an estimate if samples have no marks
     */
    public long marksInside(int key) {
        return marksInside.of(key);
    }

    /**
     * Returns how many marks were set inside the samples of a brick in a phase.
     *
     * @param phase the number of the phase, or {@link PhaseKey#NO_PHASE}
     * @param key a brick that was asked for
     * @return 0 or more
     */
    public long marksInside(int phase, int key) {
        return marksInside.of(phase, key);
    }

    /**
     * Returns what marks add to the samples of a brick.
     *
     * @param key a brick that was asked for
     * @return the cost on all streams with samples; unknown if it is unknown for one of these, or for a sample
     */
    public MarkCost markCost(int key) {
        return withoutMarkTime.of(key) > 0 ? MarkCost.NOT_RECORDED : markCost();
    }

    /**
     * Returns what marks add to the samples of a brick in a phase.
     *
     * @param phase the number of the phase, or {@link PhaseKey#NO_PHASE}
     * @param key a brick that was asked for
     * @return the cost on all streams with samples; unknown if it is unknown for one of these, or for a sample
     */
    public MarkCost markCost(int phase, int key) {
        return withoutMarkTime.of(phase, key) > 0 ? MarkCost.NOT_RECORDED : markCost();
    }

    private MarkCost markCost() {
        return streams.stream()
                .filter(stream -> stream.samples() > 0)
                .map(StreamTotals::markCost)
                .reduce(DeviceFigures::between)
                .orElse(MarkCost.NOT_RECORDED);
    }

    /** Returns the middle of two costs, with an error that covers both; it is not known which bricks have which. */
    private static MarkCost between(MarkCost one, MarkCost two) {
        if (!one.isKnown() || !two.isKnown() || one.equals(two)) {
            return one.isKnown() ? two : one;
        }
        double apartNs = Math.max(Math.abs(one.brickNs() - two.brickNs()), Math.abs(one.markNs() - two.markNs()));
        return new MarkCost(
                (one.brickNs() + two.brickNs()) / 2,
                (one.markNs() + two.markNs()) / 2,
                Math.max(one.errorNs(), two.errorNs()) + apartNs / 2,
                "");
    }

    /**
     * Returns how many platform threads set the marks of the samples that were taken from the queues.
     *
     * @return 0 or more
     */
    public int threads() {
        return launches.queuingThreads();
    }

    /**
     * Returns whether virtual threads, which are not counted one by one, set marks of such samples.
     *
     * @return true if at least one did
     */
    public boolean virtualThreads() {
        return launches.queuingVirtualThreads();
    }

    /**
     * Returns the streams.
     *
     * @return totals of each, in the order in which the recorder received them; cannot be changed
     */
    public List<StreamTotals> streams() {
        return streams;
    }

    /**
     * Counts the resolved and unresolved samples of a recorder, row by row. Any thread may count one as unresolved; the
     * rest happens on one thread at a time. Allocates nothing once rows have their size.
     */
    static final class Sums {

        private static final int CHUNK_SHIFT = 6;
        private static final int CHUNK = 1 << CHUNK_SHIFT;

        private final TableRegistry bricks;
        private final TableRegistry launches;

        /** By phase and key. */
        private final long[][] samples = new long[PhaseKey.PHASES][0];

        /** Receives the times of a batch; null between batches. A reset waits for the end of the batch. */
        private @Nullable StatTable table;

        private final RowCounts unresolved = new RowCounts();
        private final RowCounts withoutStart = new RowCounts();
        private final RowCounts marksInside = new RowCounts();
        private final RowCounts withoutMarkTime = new RowCounts();

        /**
         * Creates sums without samples.
         *
         * @param bricks receives the device's times
         * @param launches receives the launch times of the samples for which the host measured them
         */
        Sums(TableRegistry bricks, TableRegistry launches) {
            this.bricks = bricks;
            this.launches = launches;
        }

        /** Begins a batch of samples with times, which lasts until {@link #end}. */
        void begin() {
            table = bricks.acquire();
        }

        /** Ends the batch. */
        void end() {
            bricks.release(Objects.requireNonNull(table));
            table = null;
        }

        /**
         * Counts a sample with its time; between {@link #begin} and {@link #end}.
         *
         * @param row the {@link PhaseKey} of the brick
         * @param elapsedNs its duration on the device, ns
         * @param launchNs the host's time between its marks, ns; {@link DeviceRecorder#NO_TIME} if it was not measured
         * @param atNs the host's clock at its end, as far as it is known
         * @param elements elements it processed
         */
        void resolved(int row, long elapsedNs, long launchNs, long atNs, long elements) {
            int key = PhaseKey.key(row);
            StatTable ofBatch = Objects.requireNonNull(table);
            ofBatch.use(PhaseKey.phase(row));
            // It is not on the timeline of the calling thread, which did not run it.
            ofBatch.addForeign(key, elapsedNs, atNs, elements);
            count(PhaseKey.phase(row), key);
            if (launchNs != DeviceRecorder.NO_TIME) {
                StatTable timed = launches.acquire(PhaseKey.phase(row));
                timed.addForeign(key, launchNs, atNs, elements);
                launches.release(timed);
            }
        }

        private void count(int phase, int key) {
            long[] ofPhase = samples[phase];
            if (key >= ofPhase.length) {
                ofPhase = Arrays.copyOf(ofPhase, (key | (CHUNK - 1)) + 1);
                samples[phase] = ofPhase;
            }
            ofPhase[key]++;
        }

        /**
         * Counts a sample that will never have a time. Any thread.
         *
         * @param row the {@link PhaseKey} of the brick
         */
        void unresolved(int row) {
            unresolved.increment(row);
        }

        /** Counts samples that will never have a time, in the same way. */
        void unresolved(int row, long number) {
            if (number > 0) {
                unresolved.add(row, number);
            }
        }

        /**
         * Counts a deferred measurement that will never have a time, because its start is not known. Any thread.
         *
         * @param row the {@link PhaseKey} of the brick
         */
        void withoutStart(int row) {
            withoutStart.increment(row);
            unresolved(row);
        }

        /** Counts marks that were set inside of samples of a row. */
        void marksInside(int row, long number) {
            if (number > 0) {
                marksInside.add(row, number);
            }
        }

        /** Counts a sample of which it is not known what marks add to it. */
        void withoutMarkTime(int row) {
            withoutMarkTime.increment(row);
        }

        /** Returns the figures of some rows. */
        DeviceFigures figures(int fromKey, int toKey, List<StreamTotals> streams, Estimates estimates) {
            return new DeviceFigures(
                    launches.read(fromKey, toKey),
                    fromKey,
                    samples(fromKey, toKey),
                    unresolved.read(fromKey, toKey),
                    withoutStart.read(fromKey, toKey),
                    marksInside.read(fromKey, toKey),
                    withoutMarkTime.read(fromKey, toKey),
                    streams,
                    estimates);
        }

        /** Returns the figures of all rows, and resets them. */
        DeviceFigures figuresAndReset(List<StreamTotals> streams, Estimates estimates) {
            DeviceFigures ended = new DeviceFigures(
                    launches.readAndReset(),
                    0,
                    samples(0, TimerToken.MAX_KEY + 1),
                    unresolved.readAndReset(),
                    withoutStart.readAndReset(),
                    marksInside.readAndReset(),
                    withoutMarkTime.readAndReset(),
                    streams,
                    estimates);
            for (long[] ofPhase : samples) {
                Arrays.fill(ofPhase, 0);
            }
            return ended;
        }

        private long[][] samples(int fromKey, int toKey) {
            return Arrays.stream(samples)
                    .map(ofPhase -> IntStream.range(fromKey, toKey)
                            .mapToLong(key -> key < ofPhase.length ? ofPhase[key] : 0)
                            .toArray())
                    .toArray(long[][]::new);
        }
    }
}
