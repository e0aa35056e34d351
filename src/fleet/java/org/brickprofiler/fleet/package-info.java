/**
 * The profiles of many ranks and runs as tables that SQL is asked of: {@link org.brickprofiler.fleet.FleetPack} is a
 * folder of them, and a {@link org.brickprofiler.fleet.FleetEngine} answers. No part of the library.
 */
@NullMarked
package org.brickprofiler.fleet;

import org.jspecify.annotations.NullMarked;
