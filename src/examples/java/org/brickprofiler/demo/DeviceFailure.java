package org.brickprofiler.demo;

/** The driver did not do what it was asked. */
public final class DeviceFailure extends RuntimeException {

    private static final long serialVersionUID = 1;

    /**
     * Creates a failure.
     *
     * @param message which call, and what the driver answered
     */
    public DeviceFailure(String message) {
        super(message);
    }
}
