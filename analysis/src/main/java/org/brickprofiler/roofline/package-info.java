/**
 * The distance of bricks to the limits of the machine: {@link org.brickprofiler.roofline.MachineRoof} measures the
 * machine, {@link org.brickprofiler.roofline.BrickRoofline} compares a profile, and the work recorded beside it, with
 * that machine, and {@link org.brickprofiler.roofline.RooflineReport} reports both.
 */
@NullMarked
package org.brickprofiler.roofline;

import org.jspecify.annotations.NullMarked;
