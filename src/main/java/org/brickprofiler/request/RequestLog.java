package org.brickprofiler.request;

import static org.brickprofiler.internal.base.Sums.limited;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The latest steps, and the latest work on requests, in two rings of fixed size. Guarded by the recorder. Allocates
 * nothing for a step or a work.
 *
 * <p>A work is the time in which consecutive steps of one thread worked on one request. It covers these steps
 * completely, except that it may begin within the first one and end within the last one. Own work of a thread between
 * its steps is a work without steps. The segments of a request are derived from its works and the steps; nothing else
 * is stored for each token.
 */
final class RequestLog {

    private static final int STEPS = 1 << 14;
    private static final int WORKS = 1 << 15;

    // The cells of a step.
    private static final int NUMBER = 0;
    private static final int START = 1;
    private static final int END = 2;
    private static final int LANE = 3;
    private static final int FLAGS = 4;
    private static final int PROMPT_TOKENS = 5;
    private static final int PREFILLING = 6;
    private static final int DECODING = 7;
    private static final int STEP_CELLS = 8;

    private static final long PROMPTS = 1;
    private static final long ABANDONED = 2;

    // The cells of a work.
    private static final int HANDLE = 0;
    private static final int FIRST = 1;
    private static final int LAST_AND_PROMPT = 2;
    private static final int WORK_START = 3;
    private static final int WORK_END = 4;
    private static final int WORK_CELLS = 5;

    /** In place of the number of a step: the work is that of a thread outside of steps. */
    private static final long NO_STEP = 0;

    private final long[] steps = new long[STEPS * STEP_CELLS];
    private final long[] works = new long[WORKS * WORK_CELLS];

    /** The numbers of steps and works so far. */
    private long ended;

    private long worked;

    /** The latest end of the steps that the ring has overwritten. */
    private long lostNs = Long.MIN_VALUE;

    /** Logs a step that has ended or was abandoned. */
    void ended(RunningStep step, long endNs, boolean abandoned) {
        int at = (int) (ended & (STEPS - 1)) * STEP_CELLS;
        if (ended >= STEPS) {
            // Steps are logged in the order of their ends.
            lostNs = steps[at + END];
        }
        ended++;
        write(step, endNs, abandoned, steps, at);
    }

    private static void write(RunningStep step, long endNs, boolean abandoned, long[] cells, int at) {
        long tokens = 0;
        long prefilling = 0;
        for (int entry = 0; entry < step.entries(); entry++) {
            tokens = limited(tokens, step.promptTokens(entry));
            prefilling += step.isOwnPrompt(entry) ? 1 : 0;
        }
        cells[at + NUMBER] = step.number();
        cells[at + START] = step.startNs();
        cells[at + END] = endNs;
        cells[at + LANE] = step.lane();
        cells[at + FLAGS] = (step.hasPrompts() ? PROMPTS : 0) | (abandoned ? ABANDONED : 0);
        cells[at + PROMPT_TOKENS] = tokens;
        cells[at + PREFILLING] = prefilling;
        cells[at + DECODING] = step.entries() - prefilling;
    }

    /** Logs the work on a request of the steps from the one with the first number to the one with the last number. */
    void worked(long request, long first, long last, boolean prompt, long startNs, long endNs) {
        int at = (int) (worked++ & (WORKS - 1)) * WORK_CELLS;
        works[at + HANDLE] = request;
        works[at + FIRST] = first;
        works[at + LAST_AND_PROMPT] = last << 1 | (prompt ? 1 : 0);
        works[at + WORK_START] = startNs;
        works[at + WORK_END] = endNs;
    }

    /** Logs own work of the thread that serves a request, outside of its steps. */
    void workedOutside(long request, long startNs, long endNs) {
        worked(request, NO_STEP, NO_STEP, false, startNs, endNs);
    }

    /**
     * Copies the log.
     *
     * @param records the cells of the requests
     * @param ids their ids
     * @param underWay steps that have not ended
     * @param nowNs the clock
     * @param epochNs the clock at 0 of the scale of arrivals, ns
     * @return a supplier that makes the time line of these requests
     */
    Supplier<RequestTimeline> copy(long[] records, KeptIds ids, List<RunningStep> underWay, long nowNs, long epochNs) {
        long fromNs = Long.MAX_VALUE;
        for (int at = 0; at < records.length; at += RequestRecord.CELLS) {
            fromNs = Math.min(fromNs, records[at + RequestRecord.ARRIVED_CLOCK]);
        }
        int kept = latest(steps, STEP_CELLS, END, ended, fromNs);
        long[] stepsThen = new long[(kept + underWay.size()) * STEP_CELLS];
        copyLatest(steps, STEP_CELLS, ended, kept, stepsThen);
        for (int i = 0; i < underWay.size(); i++) {
            write(underWay.get(i), nowNs, false, stepsThen, (kept + i) * STEP_CELLS);
        }
        int keptWorks = latest(works, WORK_CELLS, WORK_END, worked, fromNs);
        long[] worksThen = new long[keptWorks * WORK_CELLS];
        copyLatest(works, WORK_CELLS, worked, keptWorks, worksThen);
        return new Copy(stepsThen, worksThen, records, ids, lostNs, epochNs);
    }

    /** Returns how many of the latest entries of a ring contain all that ended at a moment or later. */
    private static int latest(long[] ring, int cells, int end, long written, long fromNs) {
        int length = ring.length / cells;
        int kept = (int) Math.min(written, length);
        while (kept > 0 && ring[(int) ((written - kept) % length) * cells + end] < fromNs) {
            kept--;
        }
        return kept;
    }

    /** Copies the latest entries of a ring, the oldest first. */
    private static void copyLatest(long[] ring, int cells, long written, int kept, long[] to) {
        int length = ring.length / cells;
        int first = (int) ((written - kept) % length);
        int straight = Math.min(kept, length - first);
        System.arraycopy(ring, first * cells, to, 0, straight * cells);
        System.arraycopy(ring, 0, to, straight * cells, (kept - straight) * cells);
    }

    /**
     * A copy of the log, and the requests of a time line. It shares no array with the log, so it is read without the
     * lock.
     */
    private static final class Copy implements Supplier<RequestTimeline> {
        private final long[] steps;
        private final long[] works;
        private final long[] records;
        private final KeptIds ids;
        private final long lostNs;
        private final long epochNs;

        Copy(long[] steps, long[] works, long[] records, KeptIds ids, long lostNs, long epochNs) {
            this.steps = steps;
            this.works = works;
            this.records = records;
            this.ids = ids;
            this.lostNs = lostNs;
            this.epochNs = epochNs;
        }

        @Override
        public RequestTimeline get() {
            Map<Long, List<Integer>> worksOf = new HashMap<>();
            for (int at = 0; at < records.length; at += RequestRecord.CELLS) {
                worksOf.put(records[at + RequestRecord.HANDLE], new ArrayList<>());
            }
            for (int at = 0; at < works.length; at += WORK_CELLS) {
                List<Integer> wanted = worksOf.get(works[at + HANDLE]);
                if (wanted != null) {
                    wanted.add(at);
                }
            }
            List<Integer> kept = keptSteps();
            Map<Long, Integer> indexOf = new HashMap<>();
            List<RequestTimeline.Step> all = new ArrayList<>();
            for (int at : kept) {
                indexOf.put(steps[at + NUMBER], all.size());
                all.add(step(at));
            }
            List<RequestTimeline.Request> requests = new ArrayList<>();
            for (int at = 0; at < records.length; at += RequestRecord.CELLS) {
                List<Integer> own =
                        isKept(at) ? worksOf.getOrDefault(records[at + RequestRecord.HANDLE], List.of()) : List.of();
                boolean complete = isKept(at) && own.size() == records[at + RequestRecord.WORKS];
                List<RequestTimeline.Work> done = new ArrayList<>();
                List<RequestTimeline.OwnWork> outside = new ArrayList<>();
                if (complete) {
                    List<Integer> inOrder = new ArrayList<>(own);
                    inOrder.sort(Comparator.comparingLong(work -> works[work + WORK_START]));
                    for (int work : inOrder) {
                        if (works[work + FIRST] == NO_STEP) {
                            outside.add(ownWork(work));
                        } else {
                            done.add(work(work, indexOf));
                        }
                    }
                }
                // The epoch may have moved since the request finished; the steps are on its current scale.
                records[at + RequestRecord.ARRIVED] = records[at + RequestRecord.ARRIVED_CLOCK] - epochNs;
                RequestRecord record = ids.record(at / RequestRecord.CELLS, records, at);
                requests.add(new RequestTimeline.Request(record, done, outside, complete));
            }
            return new RequestTimeline(all, requests, epochNs);
        }

        /** Returns whether the log still has all steps since the arrival of a request. */
        private boolean isKept(int record) {
            // A step without duration may have ended at the very arrival, and worked on the request.
            return records[record + RequestRecord.ARRIVED_CLOCK] > lostNs;
        }

        /**
         * Returns the places of the steps during those requests whose steps are all kept, in the order of their
         * beginning.
         */
        private List<Integer> keptSteps() {
            long fromNs = Long.MAX_VALUE;
            long toNs = Long.MIN_VALUE;
            for (int at = 0; at < records.length; at += RequestRecord.CELLS) {
                if (isKept(at)) {
                    long arrivedNs = records[at + RequestRecord.ARRIVED_CLOCK];
                    fromNs = Math.min(fromNs, arrivedNs);
                    toNs = Math.max(toNs, arrivedNs + records[at + RequestRecord.DURATION]);
                }
            }
            List<Integer> kept = new ArrayList<>();
            for (int at = 0; at < steps.length; at += STEP_CELLS) {
                if (steps[at + END] >= fromNs && steps[at + START] <= toNs) {
                    kept.add(at);
                }
            }
            kept.sort(Comparator.comparingLong(at -> steps[at + NUMBER]));
            return kept;
        }

        private RequestTimeline.Step step(int at) {
            return new RequestTimeline.Step(
                    steps[at + START] - epochNs,
                    steps[at + END] - steps[at + START],
                    (int) steps[at + LANE],
                    (steps[at + FLAGS] & PROMPTS) != 0,
                    (steps[at + FLAGS] & ABANDONED) != 0,
                    (int) steps[at + PREFILLING],
                    (int) steps[at + DECODING],
                    steps[at + PROMPT_TOKENS]);
        }

        private RequestTimeline.OwnWork ownWork(int at) {
            return new RequestTimeline.OwnWork(works[at + WORK_START] - epochNs, works[at + WORK_END] - epochNs);
        }

        private RequestTimeline.Work work(int at, Map<Long, Integer> indexOf) {
            return new RequestTimeline.Work(
                    indexOf.getOrDefault(works[at + FIRST], -1),
                    indexOf.getOrDefault(works[at + LAST_AND_PROMPT] >>> 1, -1),
                    works[at + WORK_START] - epochNs,
                    works[at + WORK_END] - epochNs,
                    (works[at + LAST_AND_PROMPT] & 1) != 0);
        }
    }
}
