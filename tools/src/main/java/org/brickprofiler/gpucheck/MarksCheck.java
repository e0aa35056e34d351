package org.brickprofiler.gpucheck;

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
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.demo.Gpu;

/**
 * Checks whether any resource grows with very many marks. The holdings after a tenth of them are compared with those at
 * the end.
 */
final class MarksCheck extends Check.OnDevice {

    private static final int BRICKS_PER_PASS = 500;
    private static final int MARKS_PER_BRICK = 2;
    private static final long LIMIT_NS = 120_000_000_000L;

    private final long marks;

    /**
     * Creates a check.
     *
     * @param marks the number of marks to set
     */
    MarksCheck(Gpu gpu, long marks) {
        super("marks", gpu);
        this.marks = marks;
    }

    @Override
    List<Outcome> run() {
        String claim = String.format(Locale.ROOT, "nothing grows with %,d marks", marks);
        BrickProfiler profiler = profiler();
        long bricks = Math.max(1, marks / MARKS_PER_BRICK);
        long startNs = System.nanoTime();
        long done = set(profiler, bricks / 10, startNs);
        Holdings early = Holdings.now(gpu);
        done += set(profiler, bricks - bricks / 10, startNs);
        double seconds = (System.nanoTime() - startNs) / 1e9;
        if (done < bricks) {
            return List.of(Outcome.notMade(
                    name,
                    claim,
                    String.format(Locale.ROOT, "only %,d marks were set in %.0f s", done * MARKS_PER_BRICK, seconds)));
        }
        Holdings late = Holdings.now(gpu);
        BrickStats stats = profiler.brickStats(BrickId.RMS_NORM);
        boolean complete = stats.count() == bricks && stats.device().unresolved() == 0 && profiler.pendingCount() == 0;
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("marks", done * MARKS_PER_BRICK);
        figures.put("seconds", seconds);
        figures.put("samples", stats.count());
        figures.put("unresolved", stats.device().unresolved());
        figures.put("after_a_tenth", early.figures());
        figures.put("in_the_end", late.figures());
        Outcome.Status grown = late.hasNotGrownFrom(early) ? Outcome.Status.HELD : Outcome.Status.MISSED;
        return List.of(new Outcome(
                name,
                complete ? grown : Outcome.Status.BROKEN,
                claim,
                String.format(
                        Locale.ROOT,
                        "%s; %,d samples, %,d unresolved; %.2f us a mark with all that comes after it",
                        late.growthFrom(early),
                        stats.count(),
                        stats.device().unresolved(),
                        seconds * 1e6 / (done * MARKS_PER_BRICK)),
                figures));
    }

    /** Returns the number of bricks that were timed before the time limit. */
    private long set(BrickProfiler profiler, long bricks, long startNs) {
        long done = 0;
        while (done < bricks && System.nanoTime() - startNs < LIMIT_NS) {
            long pass = Math.min(BRICKS_PER_PASS, bricks - done);
            for (int i = 0; i < pass; i++) {
                profiler.stopBrick(profiler.startBrick(BrickId.RMS_NORM), 1);
            }
            profiler.endPass();
            done += pass;
        }
        return done;
    }

    /**
     * The resources held by the process. A value is empty if it is unknown: the process's own figures come from Linux.
     *
     * @param heapBytes live objects of Java after a collection, bytes
     * @param residentBytes resident memory of the process, bytes
     * @param handles open files and other handles, such as a driver's connections
     * @param deviceFreeBytes free memory of the device, bytes
     */
    record Holdings(
            OptionalLong heapBytes, OptionalLong residentBytes, OptionalLong handles, OptionalLong deviceFreeBytes) {

        private static final long MB = 1_000_000;
        private static final long HEAP_BOUND_BYTES = 2 * MB;
        private static final long RESIDENT_BOUND_BYTES = 32 * MB;
        private static final long HANDLES_BOUND = 4;
        private static final long DEVICE_BOUND_BYTES = 16 * MB;

        /** A resource that may grow up to a bound. */
        private record Part(String name, OptionalLong early, OptionalLong late, long unit, long bound) {

            boolean isKnown() {
                return early.isPresent() && late.isPresent();
            }

            long growth() {
                return late.orElse(0) - early.orElse(0);
            }

            String text() {
                return isKnown()
                        ? String.format(
                                Locale.ROOT, unit == 1 ? "%s %+.0f" : "%s %+.1f MB", name, (double) growth() / unit)
                        : name + " unknown";
            }
        }

        /** Reads the resources after a collection. */
        @SuppressWarnings("SystemGc") // live objects are those that a collection leaves
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
            } catch (IOException unknown) {
                return OptionalLong.empty();
            }
        }

        private static OptionalLong countHandles() {
            try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
                return OptionalLong.of(files.count());
            } catch (IOException unknown) {
                return OptionalLong.empty();
            }
        }

        private List<Part> partsSince(Holdings early) {
            // Less free memory means more held memory.
            return List.of(
                    new Part("live heap", early.heapBytes, heapBytes, MB, HEAP_BOUND_BYTES),
                    new Part("resident", early.residentBytes, residentBytes, MB, RESIDENT_BOUND_BYTES),
                    new Part("handles", early.handles, handles, 1, HANDLES_BOUND),
                    new Part("device memory", deviceFreeBytes, early.deviceFreeBytes, MB, DEVICE_BOUND_BYTES));
        }

        /** Returns whether no resource has grown by more than normal variation. */
        boolean hasNotGrownFrom(Holdings early) {
            return partsSince(early).stream().allMatch(part -> !part.isKnown() || part.growth() <= part.bound());
        }

        /** Returns the growth of all resources, in words. */
        String growthFrom(Holdings early) {
            List<String> texts = new ArrayList<>();
            partsSince(early).forEach(part -> texts.add(part.text()));
            return String.join(", ", texts);
        }

        /** Returns the figures for a file, without unknown ones. */
        Map<String, Object> figures() {
            Map<String, Object> figures = new LinkedHashMap<>();
            heapBytes.ifPresent(bytes -> figures.put("live_heap_bytes", bytes));
            residentBytes.ifPresent(bytes -> figures.put("resident_bytes", bytes));
            handles.ifPresent(count -> figures.put("handles", count));
            deviceFreeBytes.ifPresent(bytes -> figures.put("device_free_bytes", bytes));
            return figures;
        }
    }
}
