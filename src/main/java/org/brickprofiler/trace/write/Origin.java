package org.brickprofiler.trace.write;

/** Who recorded a timeline. */
public enum Origin {
    /** This library: a file names it as its producer, and spans of bricks are samples. */
    OWN,
    /**
     * Another program, whose trace was read: a file does not name this library, and categories are written as they are,
     * so that it is understood as what it was made from.
     */
    OTHER
}
