package org.brickprofiler.demo;

/** Thrown if the driver fails. */
public final class DeviceFailure extends RuntimeException {

    private static final long serialVersionUID = 1;

    /**
     * Creates a failure.
     *
     * @param message the call, and the driver's result
     */
    public DeviceFailure(String message) {
        super(message);
    }
}
