package org.brickprofiler.record;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Which table belongs to which thread, and what ended threads left behind. Immutable; a change is a new object. */
final class ThreadTables extends ThreadSlots<StatTable> {

    static final ThreadTables EMPTY =
            new ThreadTables(new StatTable[0], new StatSums(), new PendingQueue[0], FIRST_LENGTH);

    private final StatSums retired;
    private final PendingQueue[] orphans;

    /** With how many tables the ended threads are looked for next: then the search costs little for each new one. */
    private final int sweepAt;

    private ThreadTables(StatTable[] live, StatSums retired, PendingQueue[] orphans, int sweepAt) {
        super(live);
        this.retired = retired;
        this.orphans = orphans;
        this.sweepAt = sweepAt;
    }

    /** The sums of ended threads; only read. */
    StatSums retired() {
        return retired;
    }

    /** The queues that ended threads left measurements in; not to be changed. */
    PendingQueue[] orphans() {
        return orphans;
    }

    /** Adds some rows of all threads as they are now, while they may be written. */
    void addTo(StatSums sums, int fromKey, int toKey) {
        sums.add(retired, fromKey, toKey);
        for (StatTable table : live()) {
            sums.addLive(table, fromKey, toKey);
            sums.addQueue(table.pending(), false);
        }
        for (PendingQueue queue : orphans) {
            sums.addQueue(queue, false);
        }
    }

    /** Counts the threads of queues from which measurements were taken, and begins anew. The retired ones are counted. */
    void takeQueues(StatSums sums) {
        for (StatTable table : live()) {
            sums.takeQueue(table.pending(), false);
        }
        for (PendingQueue queue : orphans) {
            sums.takeQueue(queue, false);
        }
    }

    /** Whether another thread than the given one has a table. */
    boolean hasOthersThan(Thread thread) {
        return live().length > 1 || (live().length == 1 && live()[0].owner() != thread);
    }

    /** Whether the writer of an old table is known to write there no more. */
    boolean hasLeft(StatTable old) {
        Thread owner = old.owner();
        StatTable current = owner == null ? null : search(owner);
        return current == null ? owner == null || !owner.isAlive() : current != old && current.isWritten();
    }

    ThreadTables with(StatTable table) {
        StatTable[] more = Arrays.copyOf(live(), live().length + 1);
        more[more.length - 1] = table;
        return new ThreadTables(more, retired, orphans, sweepAt);
    }

    /** The same with an empty table in the place of each that was written, and nothing retired. */
    ThreadTables renewed() {
        StatTable[] renewed = live().clone();
        for (int i = 0; i < renewed.length; i++) {
            renewed[i] = renewed[i].isWritten() ? renewed[i].renewed() : renewed[i];
        }
        return new ThreadTables(renewed, new StatSums(), orphans, sweepAt);
    }

    ThreadTables sweptIfDue() {
        return live().length < sweepAt ? this : swept();
    }

    /**
     * The same with the tables of ended threads folded into the retired sums, and without their drained queues; this
     * object where there are none, without allocation.
     */
    ThreadTables swept() {
        return isClean() ? this : cleaned();
    }

    private boolean isClean() {
        for (StatTable table : live()) {
            if (!table.isOwnerAlive()) {
                return false;
            }
        }
        for (PendingQueue queue : orphans) {
            if (queue.size() == 0) {
                return false;
            }
        }
        return live().length < sweepAt;
    }

    private ThreadTables cleaned() {
        List<StatTable> alive = new ArrayList<>(live().length);
        List<PendingQueue> queues = new ArrayList<>(List.of(orphans));
        StatSums sums = retired.copy();
        for (StatTable table : live()) {
            if (table.isOwnerAlive()) {
                alive.add(table);
            } else {
                sums.add(table);
                queues.add(table.pending());
            }
        }
        queues.removeIf(queue -> {
            boolean empty = queue.size() == 0;
            if (empty) {
                sums.addQueue(queue, false);
            }
            return empty;
        });
        return new ThreadTables(
                alive.toArray(StatTable[]::new),
                sums,
                queues.toArray(PendingQueue[]::new),
                2 * alive.size() + FIRST_LENGTH);
    }
}
