/**
 * Finds the first brick at which two runs of a model diverge: each run logs a checksum of every output, and the two
 * logs are compared. The runs may be on different machines. Start at {@link org.brickprofiler.checksum.ChecksumLog}.
 */
@NullMarked
package org.brickprofiler.checksum;

import org.jspecify.annotations.NullMarked;
