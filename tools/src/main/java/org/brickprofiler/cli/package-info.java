/**
 * The command line {@code brick}: {@link org.brickprofiler.cli.Brick} is its main class. The jar with the classifier
 * {@code all} contains it with its dependencies; the library's jar does not.
 */
@NullMarked
package org.brickprofiler.cli;

import org.jspecify.annotations.NullMarked;
