/**
 * Small tools: checks of arguments, settings, files that are written completely or not at all, a hash, text that stays
 * on its line, sorting, and the building blocks of device streams.
 */
@NullMarked
package org.brickprofiler.internal.io;

import org.jspecify.annotations.NullMarked;
