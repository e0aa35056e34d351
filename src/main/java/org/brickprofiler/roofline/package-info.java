/**
 * How far bricks stay below what the machine can do: {@link org.brickprofiler.roofline.MachineRoof} measures the
 * machine, {@link org.brickprofiler.roofline.WorkModel} says what a model's bricks have to do, and
 * {@link org.brickprofiler.roofline.BrickRoofline} sets a profile against both.
 */
@NullMarked
package org.brickprofiler.roofline;

import org.jspecify.annotations.NullMarked;
