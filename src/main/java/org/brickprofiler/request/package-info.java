/**
 * Requests that an engine serves, from arrival to finish, with one cause for each nanosecond in between. This package
 * uses the times of steps only; it does not depend on bricks.
 *
 * <h2>One step costs the same for every request</h2>
 *
 * The recorder of requests knows steps, but no bricks. It keeps two sums: the time in which a step with prompts was
 * under way, and the time in which only decoding was. A request remembers both at the moment up to which its time is
 * attributed. The differences at its next step are its waiting time by cause, so each step of a request costs the same,
 * whatever other requests do in between.
 *
 * <ul>
 *   <li>An abandoned step gives no tokens, but waiting requests count it as under way: until a step is abandoned,
 *       nobody knows that it will be, and the requests did wait behind it.
 *   <li>Waiting after a token is a stall if another token follows, and delivery otherwise. Until this is known, it is
 *       kept separately.
 *   <li>How much a thread that serves a request has worked between two of its steps is known at the second one, but not
 *       when. The work counts from the first one on, because an engine tokenizes and detokenizes before it waits for
 *       its turn. CPU time and bricks are not added: a brick that computes is in both.
 *   <li>Between the steps of a thread that serves a request, each sample takes the slow path, which finds the time that
 *       nested bricks cover together. All other samples cost what they did.
 *   <li>One lock guards everything. An uncontended lock costs less than a clock read, and without a lock, the parts of
 *       a request that several threads touch (arrival, steps, finish) could not be kept consistent.
 *   <li>The causes of the slowest requests cannot be found afterwards if only a sum is kept. So the times up to the
 *       first token are summed for each bucket of the time to first token: any range of percentiles has its causes, in
 *       fixed memory, and windows and ranks can be merged.
 * </ul>
 *
 * <h2>The time line</h2>
 *
 * A segment for each token of each request would cost memory and stores on the path of a step. The recorder keeps steps
 * instead, and one entry for each run of consecutive steps of a thread that worked on a request as a whole: a request
 * that decodes undisturbed has one entry for all of its tokens. Segments are derived from both when somebody reads
 * them. The recorder's own accounting writes these entries, so the segments agree with the causes to the nanosecond;
 * readers of files, and the script of the page, compare both and draw no request whose segments contradict its causes.
 */
@NullMarked
package org.brickprofiler.request;

import org.jspecify.annotations.NullMarked;
