/**
 * Reports made of a {@link org.brickprofiler.ProfileSnapshot}: {@link org.brickprofiler.report.TextReport} for people.
 */
@NullMarked
package org.brickprofiler.report;

import org.jspecify.annotations.NullMarked;
