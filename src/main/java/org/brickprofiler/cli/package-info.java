/**
 * The command line {@code brick}: {@link org.brickprofiler.cli.Brick} is its main class. Needs picocli, progressbar and
 * jackson-core on the class path; the jar with the classifier {@code cli} brings them.
 */
@NullMarked
package org.brickprofiler.cli;

import org.jspecify.annotations.NullMarked;
