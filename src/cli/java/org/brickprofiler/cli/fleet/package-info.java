/**
 * The profiles of many ranks and runs as tables that SQL is asked of: {@link org.brickprofiler.cli.fleet.FleetPack} is
 * a folder of them, and a {@link org.brickprofiler.cli.fleet.FleetEngine} answers. No part of the library.
 */
@NullMarked
package org.brickprofiler.cli.fleet;

import org.jspecify.annotations.NullMarked;
