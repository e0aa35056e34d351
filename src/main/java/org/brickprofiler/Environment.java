package org.brickprofiler;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * The machine and virtual machine of a profile. Immutable.
 *
 * @param javaVersion version of the Java runtime
 * @param jvm name and version of the virtual machine
 * @param os name and version of the operating system
 * @param arch processor architecture
 * @param cpu model of the processor, or its architecture if the system does not report one
 * @param processors processors that the virtual machine may use
 * @param clockResolutionNs smallest observed step of {@link System#nanoTime()}, ns
 */
public record Environment(
        String javaVersion, String jvm, String os, String arch, String cpu, int processors, long clockResolutionNs)
        implements Comparable<Environment> {

    private static final Path LINUX_CPU_INFO = Path.of("/proc/cpuinfo");
    private static final int CLOCK_STEPS = 1_000;

    private static final Comparator<Environment> ORDER = Comparator.comparing(Environment::javaVersion)
            .thenComparing(Environment::jvm)
            .thenComparing(Environment::os)
            .thenComparing(Environment::arch)
            .thenComparing(Environment::cpu)
            .thenComparingInt(Environment::processors)
            .thenComparingLong(Environment::clockResolutionNs);

    /**
     * Refuses null.
     *
     * @throws NullPointerException when a component is null; the message names it
     */
    public Environment {
        Objects.requireNonNull(javaVersion, "javaVersion");
        Objects.requireNonNull(jvm, "jvm");
        Objects.requireNonNull(os, "os");
        Objects.requireNonNull(arch, "arch");
        Objects.requireNonNull(cpu, "cpu");
    }

    /** Reads the environment once. */
    private static final class Holder {
        static final Environment CURRENT = read();
    }

    /**
     * Returns the environment of this virtual machine, which the first call reads.
     *
     * @return the same object each time
     */
    public static Environment current() {
        return Holder.CURRENT;
    }

    private static Environment read() {
        String arch = System.getProperty("os.arch", "unknown");
        return new Environment(
                System.getProperty("java.version", "unknown"),
                System.getProperty("java.vm.name", "unknown") + " " + System.getProperty("java.vm.version", ""),
                System.getProperty("os.name", "unknown") + " " + System.getProperty("os.version", ""),
                arch,
                cpuModel(arch),
                Runtime.getRuntime().availableProcessors(),
                measuredClockStepNs());
    }

    private static String cpuModel(String fallback) {
        if (!Files.isReadable(LINUX_CPU_INFO)) {
            return fallback;
        }
        try (Stream<String> lines = Files.lines(LINUX_CPU_INFO, StandardCharsets.UTF_8)) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse(fallback);
        } catch (IOException | java.io.UncheckedIOException unreadable) {
            return fallback;
        }
    }

    private static long measuredClockStepNs() {
        long smallest = Long.MAX_VALUE;
        for (int i = 0; i < CLOCK_STEPS; i++) {
            long before = System.nanoTime();
            long after = System.nanoTime();
            while (after == before) {
                after = System.nanoTime();
            }
            smallest = Math.min(smallest, after - before);
        }
        return smallest;
    }

    /** Orders by the components in turn, so that sets of environments print in the same order. */
    @Override
    public int compareTo(Environment other) {
        Objects.requireNonNull(other, "other");
        return ORDER.compare(this, other);
    }
}
