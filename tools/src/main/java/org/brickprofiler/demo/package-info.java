/**
 * A small but real decoder of the Llama architecture, profiled with this library. It uses the library as any engine
 * would; nothing else in the library depends on it.
 */
@NullMarked
package org.brickprofiler.demo;

import org.jspecify.annotations.NullMarked;
