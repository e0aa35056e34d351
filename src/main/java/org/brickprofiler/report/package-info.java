/**
 * Reports and files. Of a {@link org.brickprofiler.ProfileSnapshot}: {@link org.brickprofiler.report.TextReport} for
 * a console, {@link org.brickprofiler.report.HtmlReport} for a browser, {@link org.brickprofiler.report.JsonReport} for
 * programs, which also reads its files back, and {@link org.brickprofiler.report.CsvReport} for spreadsheets. Of checksums:
 * {@link org.brickprofiler.report.DivergenceReport} and {@link org.brickprofiler.report.ChecksumFile}. Of runs that were
 * compared: {@link org.brickprofiler.report.ComparisonReport}. JSON and HTML need jackson-core on the class path, CSV needs
 * commons-csv, and text needs nothing.
 */
@NullMarked
package org.brickprofiler.report;

import org.jspecify.annotations.NullMarked;
