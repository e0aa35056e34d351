package org.brickprofiler.demo.device;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * What the process holds. Each is empty where nobody tells: the process's own figures come from Linux.
 *
 * @param heapBytes live objects of Java, after a collection
 * @param residentBytes the memory of the process that is in the machine's
 * @param handles files and whatever else has a number among them, as a driver's connections have
 * @param deviceFreeBytes free memory of the device
 */
record Holdings(
        OptionalLong heapBytes, OptionalLong residentBytes, OptionalLong handles, OptionalLong deviceFreeBytes) {

    private static final long MB = 1_000_000;
    private static final long HEAP_BOUND_BYTES = 2 * MB;
    private static final long RESIDENT_BOUND_BYTES = 32 * MB;
    private static final long HANDLES_BOUND = 4;
    private static final long DEVICE_BOUND_BYTES = 16 * MB;

    /** A part that may grow up to a bound. */
    private record Part(String name, OptionalLong early, OptionalLong late, long unit, long bound) {

        boolean isTold() {
            return early.isPresent() && late.isPresent();
        }

        long growth() {
            return late.orElse(0) - early.orElse(0);
        }

        String text() {
            return isTold()
                    ? String.format(Locale.ROOT, unit == 1 ? "%s %+.0f" : "%s %+.1f MB", name, (double) growth() / unit)
                    : name + " not told";
        }
    }

    /** Looks, after a collection. */
    @SuppressWarnings("SystemGc") // live objects are what is left by a collection
    static Holdings now(Gpu gpu) {
        System.gc();
        long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        return new Holdings(OptionalLong.of(heap), askResident(), countHandles(), gpu.freeBytes());
    }

    private static OptionalLong askResident() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter(line -> line.startsWith("VmRSS:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1_024)
                    .findFirst();
        } catch (IOException nobodyTells) {
            return OptionalLong.empty();
        }
    }

    private static OptionalLong countHandles() {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return OptionalLong.of(files.count());
        } catch (IOException nobodyTells) {
            return OptionalLong.empty();
        }
    }

    private List<Part> partsSince(Holdings early) {
        // Less free memory is more that is held.
        return List.of(
                new Part("live heap", early.heapBytes, heapBytes, MB, HEAP_BOUND_BYTES),
                new Part("resident", early.residentBytes, residentBytes, MB, RESIDENT_BOUND_BYTES),
                new Part("handles", early.handles, handles, 1, HANDLES_BOUND),
                new Part("device memory", deviceFreeBytes, early.deviceFreeBytes, MB, DEVICE_BOUND_BYTES));
    }

    /** Whether nothing has grown by more than what may come and go. */
    boolean hasNotGrownFrom(Holdings early) {
        return partsSince(early).stream().allMatch(part -> !part.isTold() || part.growth() <= part.bound());
    }

    /** How much everything has grown, in words. */
    String growthFrom(Holdings early) {
        List<String> texts = new ArrayList<>();
        partsSince(early).forEach(part -> texts.add(part.text()));
        return String.join(", ", texts);
    }

    /** For a file; what nobody tells is left out. */
    Map<String, Object> figures() {
        Map<String, Object> figures = new LinkedHashMap<>();
        heapBytes.ifPresent(bytes -> figures.put("live_heap_bytes", bytes));
        residentBytes.ifPresent(bytes -> figures.put("resident_bytes", bytes));
        handles.ifPresent(count -> figures.put("handles", count));
        deviceFreeBytes.ifPresent(bytes -> figures.put("device_free_bytes", bytes));
        return figures;
    }
}
