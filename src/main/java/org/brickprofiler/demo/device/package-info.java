/**
 * The demonstration on a device: kernels written by hand in PTX, the decoder that launches them, what watching it costs,
 * and the checks that are to be run on a machine with a GPU. Needs JCuda.
 */
@NullMarked
package org.brickprofiler.demo.device;

import org.jspecify.annotations.NullMarked;
