/**
 * Small tools around bytes and numbers: checks of arguments, files that are there whole or not at all, a hash, text
 * that stays on its line, sorting, and what the streams of devices are made of.
 */
@NullMarked
package org.brickprofiler.internal.io;

import org.jspecify.annotations.NullMarked;
