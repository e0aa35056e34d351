/**
 * The recording engine, in plain ints and longs: timers, one table of sums per recording thread, names and keys, layers
 * and phases, timelines, and the queue of measurements that wait for a synchronisation. This package does not depend on
 * the public types of bricks; it knows a brick by its name and key.
 *
 * <p>These types are public so that the packages above can use them. Applications use {@code org.brickprofiler}.
 *
 * <h2>Why a timer is a long</h2>
 *
 * An object for each measurement would be allocated whenever escape analysis fails: in interpreted code, in virtual
 * calls, and in fields. The {@code long} holds a key of 12 bits and the lower bits of the clock. A key is therefore a
 * small {@code int}, about 4,000 dynamic bricks are possible, and intervals are exact up to days, not years. Further
 * names share one row, so that the table cannot grow without bound: an application that puts a request's id into a name
 * must not fill the heap.
 *
 * <p>A timer is a value. A timer needs no owner, so any thread may stop it. Stopping a timer twice counts twice:
 * detecting that would need a memory of every timer. Zero is the void timer: {@code stopBrick} compares with zero and
 * returns. The timers of bricks, of tiles and of marks have different bits, so a timer that is passed to the wrong
 * method is void.
 *
 * <p>The profiler's own work lies outside the interval: a start reads the clock last, and a stop reads the clock first.
 * About one read of the clock remains inside the interval.
 *
 * <p>On some processors a clock read waits for all earlier instructions. On those processors the latency of a stop is
 * not hidden behind the next start, and every dependent load adds its latency. The path of a sample therefore has few
 * <i>dependent</i> loads, and its bounds are ratios to bare clock reads on the same machine.
 *
 * <h2>Threads</h2>
 *
 * Each row has one writer and consistent readers: {@link PerThread} has the memory model, and {@link TableRegistry} the
 * reason for which a reset loses nothing.
 *
 * <p>The design rests on these assumptions. {@code VarHandle} reads and writes a {@code long} atomically in the modes
 * used. A store reaches the other processors within 50 us, far longer than a store buffer needs. If a store takes
 * longer, counts and sums still hold; only the extremes of several late samples are replaced by their mean. A thread is
 * not killed between the two stores of a row's counts. If a thread is killed there, a reader takes the row as it is
 * after ten seconds instead of waiting forever.
 *
 * <p>Stress tests (jcstress) run the shipped classes. Beside each test stands a control that was weakened on purpose
 * and must fail: a stress test that cannot fail shows nothing.
 *
 * <h2>Cold memory</h2>
 *
 * Between two bricks an engine reads its weights, and between two steps all of them. Nothing of the profiler is in a
 * cache then: neither its data, nor its address translations (TLB), nor its code. The cost of a sample is that of its
 * cache misses, and an object on a page of its own costs several hundred nanoseconds. The latencies of dependent loads
 * add up; those of other loads overlap. The layout therefore keeps the chain of objects short, under two conditions: a
 * sample in hot memory does no more work than before, and a reader still gets whole rows.
 *
 * <p>The objects that each path waits for, one after the other:
 *
 * <ul>
 *   <li>start: the profiler
 *   <li>stop, on the thread that recorded first: the profiler, the row
 *   <li>stop, on another thread: the profiler, the slots with their places, the thread's table, the row
 *   <li>stop, by a bound profiler on another thread: the bound profiler, the thread's table, the row
 *   <li>percentiles, in addition: none, since the log is beside the row; for every 32nd sample the row's buckets
 *   <li>a step: the profiler, the thread's places, the recorder with its list of ended steps; the rows of the phase
 *       once
 * </ul>
 *
 * <ul>
 *   <li><b>A row is 64 bytes</b>, with all columns of a sample side by side; columns that few samples need are in
 *       another array. Java cannot align an array to a cache line: it begins at any multiple of eight bytes, and a
 *       collection moves it. A row is therefore often in two adjacent lines, which are loaded at the same time. Padding
 *       would not change that.
 *   <li><b>Each phase has rows of its own</b>, since prefill and decode are different populations. A step exchanges the
 *       rows of its thread, so the path of a sample is the same with phases and without.
 *   <li><b>The lane</b>: the profiler's own fields hold the rows of the thread that recorded first, and the state for
 *       which these rows are valid. The state is one number that encodes on or off, the phase under way, whether a
 *       reset is replacing the tables, and the number of resets so far. Whatever ends the thread's right to use these
 *       rows changes the state, or deselects the phase in the thread's table, which closes the lane. One comparison of
 *       two fields of the same object replaces the lookup.
 *   <li><b>The log of percentiles</b>: the buckets of a row are 18 KB, on five pages. A sample stores the number of its
 *       bucket, 16 bits, in a log beside the row. When the log has 32 entries, all are counted in the buckets at once,
 *       so that their cache misses overlap. Readers add the log to the buckets.
 *   <li><b>A step reads each row of its phase once</b>, at its end: the sum at the end of a step is that at the
 *       beginning of the next one. If only one thread records, the step remembers its table, and the time that resets
 *       have handed over. As long as no other thread records and nothing is reset, the next step reads the table
 *       without a lock. The step is then written to two cache lines of a list. Sums, durations and kept steps are
 *       updated for 64 steps at a time, or earlier if somebody reads or listens.
 *   <li><b>Code counts as well.</b> The compiler inlines whatever has run a hundred times when it compiles a caller,
 *       and code that is rarely needed then separates the lines of the code that is always needed. The update of the
 *       sums is therefore deferred, which also makes it so rare that the compiler keeps it a separate method.
 * </ul>
 *
 * <h2>Deferred measurements</h2>
 *
 * A kernel launch returns before the kernel has run, so engines note starts, wait once, and resolve all measurements.
 * Without a device, only a list of starts and one common end are known. {@code LITERAL} measures each start to the
 * common end. This is right for one measurement between two waits and misleading for several, since their spans overlap
 * and their sum exceeds the elapsed time. {@code LITERAL} is the default of the published contract, so the profiler
 * counts the overlaps, and reports name the remedy. {@code SEQUENTIAL} measures each start to the next start: this is
 * also an estimate, but its parts sum to the whole.
 *
 * <p>A start is stored in the clock's own time, so {@code resetEpoch()} does not move pending starts. The queue is
 * bounded: a forgotten {@code finalize} costs samples, which are counted, but not memory.
 *
 * <h2>Layers</h2>
 *
 * {@code lap} makes the end of one brick the start of the next, so engines often call {@code endLayer()} just after the
 * lap that began the next layer's first brick, or just before it. Splitting that brick would invent a sample. The whole
 * brick belongs to the layer in which it ran longer. Timeline and graph use the same rule.
 *
 * <p>The workers of a thread pool do not know their layer. A token, one {@code long}, that the engine passes with the
 * task is enough; a context that propagates automatically would need a hook in every executor.
 */
@NullMarked
package org.brickprofiler.internal.record;

import org.jspecify.annotations.NullMarked;
