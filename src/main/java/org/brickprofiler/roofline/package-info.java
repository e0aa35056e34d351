/**
 * The distance of bricks to the limits of the machine: {@link org.brickprofiler.roofline.MachineRoof} measures the
 * machine, {@link org.brickprofiler.roofline.WorkModel} computes the work of a model's bricks, and
 * {@link org.brickprofiler.roofline.BrickRoofline} compares a profile with both.
 */
@NullMarked
package org.brickprofiler.roofline;

import org.jspecify.annotations.NullMarked;
