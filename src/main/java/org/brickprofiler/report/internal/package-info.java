/**
 * Common parts of reports: numbers for people, tables in plain text, JSON, Markdown, and the frame of a page. Not
 * exported.
 */
@NullMarked
package org.brickprofiler.report.internal;

import org.jspecify.annotations.NullMarked;
