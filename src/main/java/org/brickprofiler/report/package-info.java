/**
 * Reports and files. A {@link org.brickprofiler.ProfileSnapshot} is reported by
 * {@link org.brickprofiler.report.TextReport} for a console, {@link org.brickprofiler.report.HtmlReport} for a browser,
 * {@link org.brickprofiler.report.JsonReport} for programs, and {@link org.brickprofiler.report.CsvReport} for
 * spreadsheets. {@code JsonReport} also reads its files back. {@link org.brickprofiler.report.DivergenceReport} and
 * {@link org.brickprofiler.report.ChecksumFile} report checksums.
 *
 * <p>A file is written beside its destination and renamed to it, so a reader never finds half a file. Readers ignore
 * unknown keys and refuse a larger major version.
 */
@NullMarked
package org.brickprofiler.report;

import org.jspecify.annotations.NullMarked;
