/**
 * Common parts of reports: numbers for people, tables in plain text, JSON, Markdown, and the frame of a page. Not
 * exported.
 *
 * <h2>The page for a browser</h2>
 *
 * The page is one file, because it is attached to messages, stored beside releases, and opened years after its
 * creation. It contains no third-party libraries, and uses only features of browsers: what browsers support today, they
 * will support in ten years. Its script draws from the JSON in the page, not from markup written by Java, so the
 * numbers exist once and can be saved. If scripts are not allowed, as in the artifact viewers of build servers, the
 * page shows the text report.
 *
 * <p>A colour always stands for a category, and never alone: names and numbers stand beside it, since the page is also
 * printed, and read by screen readers. Each distribution has its own logarithmic scale from its shortest to its longest
 * sample: on a common scale the bricks of one model would be lines. The time of a layer is shown as a multiple of the
 * brick's median over the layers; the table shows its share of the whole. Tokens are the elements of the brick that
 * each token passes once (Sampling, LmHead or Embedding), and the page names that brick; without such a brick there are
 * no tokens per second.
 *
 * <p>A page that shows two sides draws all intervals on one scale, linear within the floor and logarithmic beyond it,
 * so that both 1 % and a factor of ten are visible. Verdicts have shapes as well as words. Bricks with a verdict come
 * first, sorted by the size of their change: the largest change of all is often noise in a brick that takes little
 * time.
 *
 * <p>Two steps are drawn in full: the median, since it is typical, and the slowest, since users ask about it. Both use
 * one scale, and their difference is summed by name.
 *
 * <p>Beyond 60 requests, one row for each would leave a diagonal line on an empty page. The page then packs requests
 * into as few rows as possible, and begins with the time around the slowest one. Waiting is drawn thin and work high,
 * so that shape and colour convey the same.
 */
@NullMarked
package org.brickprofiler.report.internal;

import org.jspecify.annotations.NullMarked;
