/**
 * The command line {@code brick}: {@link org.brickprofiler.cli.Brick} is its main class. It is in the jar with the
 * classifier {@code cli}, with all that it needs, and no part of the library.
 */
@NullMarked
package org.brickprofiler.cli;

import org.jspecify.annotations.NullMarked;
