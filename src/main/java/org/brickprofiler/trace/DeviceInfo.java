package org.brickprofiler.trace;

import java.util.Objects;
import java.util.OptionalLong;
import org.brickprofiler.Backend;

/**
 * A device that tracks refer to. Immutable.
 *
 * @param id its index, which is the {@link Track#id()} of its track
 * @param name the model, as its driver reports it
 * @param backend the programming interface of the device
 * @param memoryBytes its memory, bytes, if known
 */
public record DeviceInfo(int id, String name, Backend backend, OptionalLong memoryBytes) {

    /**
     * Checks the components.
     *
     * @throws IllegalArgumentException for a negative index or size
     */
    public DeviceInfo {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(backend, "backend");
        Objects.requireNonNull(memoryBytes, "memoryBytes");
        if (id < 0) {
            throw new IllegalArgumentException("the index of a device is not negative: " + id);
        }
        if (memoryBytes.orElse(0) < 0) {
            throw new IllegalArgumentException("a device's memory is not negative: " + memoryBytes.getAsLong());
        }
    }
}
