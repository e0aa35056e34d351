/**
 * Small tools of every package: checks, sums, texts, the log. They know nothing of bricks, and of no other package
 * here.
 */
@NullMarked
package org.brickprofiler.internal.base;

import org.jspecify.annotations.NullMarked;
