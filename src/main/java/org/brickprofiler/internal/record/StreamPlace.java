package org.brickprofiler.internal.record;

/**
 * Which queue of which device. Immutable.
 *
 * @param backend how the device is reached: {@code CPU}, {@code CUDA}, {@code METAL}
 * @param deviceIndex the number of the device among those that are reached so, 0 or more
 * @param deviceName what does the work
 * @param name what people call the queue
 * @param number the number of the queue among those of a profiler, 0 or more
 */
public record StreamPlace(String backend, int deviceIndex, String deviceName, String name, int number) {}
