/**
 * The profiles of many ranks and runs as tables for SQL queries: {@link org.brickprofiler.fleet.FleetPack} is a folder
 * of tables, and a {@link org.brickprofiler.fleet.FleetEngine} executes the queries. No part of the library.
 */
@NullMarked
package org.brickprofiler.fleet;

import org.jspecify.annotations.NullMarked;
