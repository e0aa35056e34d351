package org.brickprofiler.demo;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A device that a person chose to compute on.
 *
 * @param kind how it is reached
 * @param number its place among the devices of that kind, from 0
 */
record DeviceChoice(Kind kind, int number) {

    private static final Pattern TEXT = Pattern.compile("(cuda|opencl)(?::(\\d{1,4}))?");

    /** The ways to reach a device. */
    enum Kind {
        CUDA,
        OPENCL
    }

    /** Reads {@code cuda}, {@code cuda:N}, {@code opencl} or {@code opencl:N}; empty for anything else. */
    static Optional<DeviceChoice> parse(String text) {
        Matcher parts = TEXT.matcher(text);
        if (!parts.matches()) {
            return Optional.empty();
        }
        Kind kind = parts.group(1).equals("cuda") ? Kind.CUDA : Kind.OPENCL;
        return Optional.of(new DeviceChoice(kind, parts.group(2) == null ? 0 : Integer.parseInt(parts.group(2))));
    }

    /** Returns why the device is missing; empty if it exists. */
    Optional<String> missing() {
        return switch (kind) {
            case CUDA -> Gpu.missing(number);
            case OPENCL -> OpenClDevice.missing(number);
        };
    }

    /**
     * Opens the device, and compiles the kernels for it.
     *
     * @throws DeviceFailure if it is missing, or the driver refuses a call
     */
    ComputeDevice open() {
        return switch (kind) {
            case CUDA -> Gpu.open(number);
            case OPENCL -> OpenClDevice.open(number);
        };
    }
}
