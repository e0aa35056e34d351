package org.brickprofiler.record;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which table belongs to which thread, and what ended threads left behind. Immutable; a change is a new object.
 *
 * <p>The tables lie in an array twice as long as there are tables or longer, at the place that the thread's id gives
 * or, where that is taken, at the next free one.
 */
final class ThreadTables {

    private static final int FIRST_LENGTH = 16;

    static final ThreadTables EMPTY =
            new ThreadTables(new StatTable[FIRST_LENGTH], List.of(), new StatSums(), List.of(), FIRST_LENGTH);

    private final @Nullable StatTable[] slots;
    private final List<StatTable> live;
    private final StatSums retired;
    private final List<PendingQueue> orphans;

    /** With how many tables the ended threads are looked for next: then the search costs little for each new one. */
    private final int sweepAt;

    private ThreadTables(
            @Nullable StatTable[] slots,
            List<StatTable> live,
            StatSums retired,
            List<PendingQueue> orphans,
            int sweepAt) {
        this.slots = slots;
        this.live = live;
        this.retired = retired;
        this.orphans = orphans;
        this.sweepAt = sweepAt;
    }

    /** The table of a thread, or null. */
    @Nullable StatTable of(Thread thread) {
        @Nullable StatTable[] all = slots;
        StatTable table = all[(int) thread.getId() & (all.length - 1)];
        return table != null && table.owner() == thread ? table : probe(all, thread);
    }

    private static @Nullable StatTable probe(@Nullable StatTable[] all, Thread thread) {
        int mask = all.length - 1;
        for (int i = (int) thread.getId() & mask; ; i = (i + 1) & mask) {
            StatTable table = all[i];
            if (table == null || table.owner() == thread) {
                return table;
            }
        }
    }

    List<StatTable> live() {
        return live;
    }

    StatSums retired() {
        return retired;
    }

    List<PendingQueue> orphans() {
        return orphans;
    }

    /** Whether the writer of an old table is known to write there no more. */
    boolean hasLeft(StatTable old) {
        Thread owner = old.owner();
        StatTable current = owner == null ? null : of(owner);
        return current == null ? owner == null || !owner.isAlive() : current != old && current.isWritten();
    }

    ThreadTables with(StatTable table) {
        List<StatTable> more = new ArrayList<>(live.size() + 1);
        more.addAll(live);
        more.add(table);
        return new ThreadTables(place(more), more, retired, orphans, sweepAt);
    }

    /** The same with an empty table in the place of each that was written, and nothing retired. */
    ThreadTables renewed() {
        List<StatTable> renewed = new ArrayList<>(live.size());
        for (StatTable table : live) {
            renewed.add(table.isWritten() ? table.renewed() : table);
        }
        return new ThreadTables(place(renewed), renewed, new StatSums(), orphans, sweepAt);
    }

    ThreadTables sweptIfDue() {
        return live.size() < sweepAt ? this : swept();
    }

    /** The same with the tables of ended threads folded into the retired sums; this object where none has ended. */
    ThreadTables swept() {
        List<StatTable> alive = new ArrayList<>(live.size());
        List<StatTable> ended = new ArrayList<>();
        for (StatTable table : live) {
            Thread owner = table.owner();
            (owner != null && owner.isAlive() ? alive : ended).add(table);
        }
        boolean drained = orphans.stream().anyMatch(queue -> queue.size() == 0);
        if (ended.isEmpty() && !drained && live.size() < sweepAt) {
            return this;
        }
        StatSums sums = retired;
        List<PendingQueue> queues = new ArrayList<>(orphans);
        if (!ended.isEmpty()) {
            sums = retired.copy();
            for (StatTable table : ended) {
                sums.add(table);
                queues.add(table.pending());
            }
        }
        queues.removeIf(queue -> queue.size() == 0);
        return new ThreadTables(place(alive), alive, sums, queues, 2 * alive.size() + FIRST_LENGTH);
    }

    private static @Nullable StatTable[] place(List<StatTable> tables) {
        int length = FIRST_LENGTH;
        while (length < 2 * tables.size()) {
            length *= 2;
        }
        @Nullable StatTable[] slots = new StatTable[length];
        for (StatTable table : tables) {
            Thread owner = table.owner();
            int i = owner == null ? 0 : (int) owner.getId() & (length - 1);
            while (slots[i] != null) {
                i = (i + 1) & (length - 1);
            }
            slots[i] = table;
        }
        return slots;
    }
}
