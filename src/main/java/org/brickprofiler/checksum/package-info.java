/**
 * Finds the first step at which two runs of a model stop agreeing: each output leaves a checksum, and two logs of
 * checksums are compared, of one process or of two machines. Start at {@link org.brickprofiler.checksum.ChecksumLog}.
 */
@NullMarked
package org.brickprofiler.checksum;

import org.jspecify.annotations.NullMarked;
