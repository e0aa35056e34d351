/**
 * The distance of bricks to the limits of the machine: {@link org.brickprofiler.roofline.MachineRoof} measures the
 * machine, {@link org.brickprofiler.roofline.BrickRoofline} compares a profile, and the work recorded beside it, with
 * that machine, and {@link org.brickprofiler.roofline.RooflineReport} reports both.
 *
 * <h2>Which roof counts</h2>
 *
 * A roof must be a bound that no brick can exceed; otherwise the distance to it means nothing. A roof is therefore the
 * highest of several measurements on this machine, not the figure of a data sheet; and the bytes of a brick are the
 * least that must move.
 *
 * <ul>
 *   <li><b>Which bandwidth?</b> The weights of a small model stay in a cache, and their bricks run at several times the
 *       bandwidth of the memory. The deciding quantity is the amount of other data that is used before the same byte is
 *       used again: in decoding, all weights and the whole cache of keys and values, however small one matrix is. Work
 *       therefore states its working set, and bandwidth is measured by working set instead of by cache level: a virtual
 *       machine reports caches that it shares with others, and a set of half such a cache is read at half the rate of a
 *       smaller one. Between two measured sizes, the rate of the smaller size counts, which is the higher rate.
 *   <li><b>Reading or triad?</b> Bricks read more than they write, but the triad is faster if two loads and a store run
 *       in parallel. The higher of the two rates is the roof.
 *   <li><b>Vectors without the Vector API.</b> C2 vectorises loops over arrays with one common index, but no reduction
 *       of floats, which it may not reorder. The measurement of reading therefore adds rows to a row that stays in the
 *       first-level cache, four at a time: with eight, C2 of JDK 17 gives up.
 *   <li><b>Neither?</b> If neither bytes nor operations explain the larger part of a brick's time, the brick is bound
 *       by neither. The rule has no parameter, and needs no model of scalar code, latency or threads, which are the
 *       causes.
 *   <li>A roof that was measured yesterday may have been measured on a busier or a cooler machine. The brief
 *       measurement beside a run repeats two figures of the roof. The profile stores them, and a report compares them.
 * </ul>
 */
@NullMarked
package org.brickprofiler.roofline;

import org.jspecify.annotations.NullMarked;
