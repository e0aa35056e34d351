/**
 * Reports and files. For a {@link org.brickprofiler.ProfileSnapshot}: {@link org.brickprofiler.report.TextReport} for a
 * console, {@link org.brickprofiler.report.HtmlReport} for a browser, {@link org.brickprofiler.report.JsonReport} for
 * programs, which also reads its files back, and {@link org.brickprofiler.report.CsvReport} for spreadsheets. For
 * checksums: {@link org.brickprofiler.report.DivergenceReport} and {@link org.brickprofiler.report.ChecksumFile}. For
 * compared runs: {@link org.brickprofiler.report.ComparisonReport}. CSV needs commons-csv on the class path.
 */
@NullMarked
package org.brickprofiler.report;

import org.jspecify.annotations.NullMarked;
