package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.brickprofiler.device.HostStream;
import org.brickprofiler.testing.AllocatedBytes;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.tile.TileProfiler;
import org.brickprofiler.trace.TraceRecorder;
import org.junit.jupiter.api.Test;

/**
 * No path of the recording API allocates in its steady state, compiled or interpreted: one byte in every stretch of
 * calls fails the test.
 */
final class AllocationTest {

    private static final int CALLS = 40_000;
    private static final int WARM_UP_CALLS = 5_000;

    /**
     * The interpreted run makes one in so many of the {@link #CALLS} and {@link #WARM_UP_CALLS}: nearly three passes of
     * all layers.
     */
    private static final int INTERPRETED = 40;

    private static final int STRETCHES = 10;
    private static final int BRICKS = 23;
    private static final int LAYERS = 16;
    private static final long LARGEST_PER_THREAD_BYTES = 8 * 1024;

    @Spec("2.11")
    @Test
    void noPathAllocates() {
        assertThat(allocatedBytes(CALLS, WARM_UP_CALLS))
                .allSatisfy((path, bytes) -> assertThat(bytes).as(path).isZero());
    }

    @Spec("2.11")
    @Test
    void noPathAllocatesInInterpretedCode() throws IOException {
        ProcessResult interpreted = ChildProcess.java(AllocationTest.class)
                .jvmOptions(List.of("-Xint"))
                .run()
                .assertSucceeded();
        assertThat(interpreted.output()).contains("start and stop by id=0");
    }

    /**
     * Measures all known bricks on a thread that only uses timers, including everything that its first sample
     * allocates.
     */
    @Spec("2.12")
    @Test
    void aThreadTakesFewBytes() throws InterruptedException {
        BrickProfiler profiler = BrickProfiler.enabled();
        // The classes that the first sample of a virtual machine loads and links are loaded before.
        profiler.stopBrick(profiler.startBrick(BrickId.ROPE_EMBEDDING), 1);
        AtomicLong bytes = new AtomicLong();
        Thread recorder = new Thread(() -> bytes.set(AllocatedBytes.of(() -> {
            for (BrickId id : BrickId.values()) {
                profiler.stopBrick(profiler.startBrick(id), 1);
            }
        })));
        recorder.start();
        recorder.join();
        assertThat(bytes.get()).isBetween(1L, LARGEST_PER_THREAD_BYTES);
    }

    /** The main method of the interpreted run: prints the bytes of each path, and fails if any is not 0. */
    public static void main(String[] args) {
        Map<String, Long> bytes = allocatedBytes(CALLS / INTERPRETED, WARM_UP_CALLS / INTERPRETED);
        System.out.println(bytes);
        System.exit(bytes.values().stream().allMatch(each -> each == 0) ? 0 : 1);
    }

    private static Map<String, Long> allocatedBytes(int calls, int warmUpCalls) {
        Map<String, Long> bytes = new LinkedHashMap<>();
        new Paths().all().forEach((name, path) -> bytes.put(name, bytesOf(path, calls, warmUpCalls)));
        return bytes;
    }

    /** Returns the fewest bytes that one of several stretches of calls allocates. */
    private static long bytesOf(Runnable path, int calls, int warmUpCalls) {
        return AllocatedBytes.fewest(STRETCHES, () -> {
            for (int i = 0; i < warmUpCalls; i++) {
                path.run();
            }
            return AllocatedBytes.ofCalls(calls, path);
        });
    }

    /** The paths, each as one call that goes on to the next brick. */
    private static final class Paths {
        private final BrickId[] ids = BrickId.values();
        private final BrickProfiler on = BrickProfiler.enabled();
        private final ThreadProfiler bound = on.forThisThread();
        private final BrickProfiler off = new BrickProfiler();
        private final BrickProfiler detailed =
                BrickProfiler.builder().percentiles(true).build();
        private final BrickProfiler sequential =
                BrickProfiler.builder().attribution(Attribution.SEQUENTIAL).build();
        private final TileProfiler tiles = on.tiles();
        private final String[] names = new String[BRICKS];
        private final int[] keys = new int[BRICKS];
        private final BrickProfiler device =
                BrickProfiler.builder().deviceStream(new HostStream()).build();
        private final BrickProfiler traced = BrickProfiler.builder()
                .deviceStream(new HostStream())
                .tracing(TraceRecorder.builder().threadCapacity(1_000).build())
                .build();
        private final BrickStream stream;
        private int turn;
        private int sinceEnd;
        private long timer;
        private long deviceTimer;

        Paths() {
            detailed.enable();
            sequential.enable();
            tiles.enable();
            device.enable();
            traced.enable();
            stream = device.stream("host");
            for (int i = 0; i < BRICKS; i++) {
                names[i] = "custom-" + i;
                keys[i] = on.brickKey("custom-" + i);
            }
        }

        private static void nothing() {}

        private int next() {
            turn = turn + 1 == BRICKS ? 0 : turn + 1;
            return turn;
        }

        Map<String, Runnable> all() {
            Map<String, Runnable> paths = new LinkedHashMap<>();
            paths.put("start and stop by id", () -> on.stopBrick(on.startBrick(ids[next()]), 1));
            paths.put("start and stop by key", () -> on.stopBrick(on.startBrick(keys[next()]), 1));
            paths.put("start and stop by dynamic name", () -> on.stopBrick(on.startBrick(names[next()]), 1));
            paths.put("start and stop by alias", () -> on.stopBrick(on.startBrick("Softmax"), 1));
            paths.put("start and stop by another spelling", () -> on.stopBrick(on.startBrick("flash_attn"), 1));
            paths.put("lap by id", () -> timer = on.lap(timer, 1, ids[next()]));
            paths.put("lap by key", () -> timer = on.lap(timer, 1, keys[next()]));
            paths.put("bound, start and stop", () -> bound.stopBrick(bound.startBrick(ids[next()]), 1));
            paths.put("bound, lap by key", () -> timer = bound.lap(timer, 1, keys[next()]));
            paths.put("percentiles", () -> detailed.stopBrick(detailed.startBrick(ids[next()]), 1));
            paths.put("time", () -> on.time(ids[next()], 1, Paths::nothing));
            paths.put("record", () -> on.record(ids[next()], 5, 1));
            paths.put("record by name", () -> on.record(names[next()], 5, 1));
            paths.put("recordBytes", () -> on.recordBytes(ids[next()], 5, 1, 8, 4));
            paths.put("recordCycles", () -> on.recordCycles(ids[next()], 5, 1, 9));
            paths.put("recordWork", () -> on.recordWork(ids[next()], 2, 4));
            paths.put("time by key", () -> on.time(keys[next()], 1, Paths::nothing));
            paths.put("deferred, literal", () -> passPart(on));
            paths.put("deferred, sequential", () -> passPart(sequential));
            paths.put("device, start and stop", () -> devicePassPart(device.startBrick(ids[next()])));
            paths.put("device, on a timeline", this::tracedPassPart);
            paths.put("device, by stream", () -> devicePassPart(stream.startBrick(ids[next()])));
            paths.put("device, lap", this::deviceLap);
            paths.put("device, deferred", this::deviceDeferred);
            paths.put("tile start and stop", () -> tiles.stop(tiles.start(TileLevel.MIDI, next(), 1), 1, 2));
            paths.put("tile record", () -> tiles.record(TileLevel.MICRO, next(), 1, 5, 1, 2));
            paths.put("off, start and stop", () -> off.stopBrick(off.startBrick(ids[next()]), 1));
            paths.put("off, by name", () -> off.stopBrick(off.startBrick(names[next()]), 1));
            paths.put("off, lap", () -> timer = off.lap(timer, 1, ids[next()]));
            paths.put("off, deferred", () -> off.recordDeferred(ids[next()], off.elapsedNs(), 1));
            paths.put("off, scope", () -> off.scope(ids[next()], 1).close());
            return paths;
        }

        private void devicePassPart(long started) {
            device.stopBrick(started, 1);
            endDevicePass();
        }

        private void tracedPassPart() {
            traced.stopBrick(traced.startBrick(ids[next()]), 1);
            if (turn == 0) {
                traced.endPass();
            }
        }

        private void deviceLap() {
            deviceTimer = device.lap(deviceTimer, 1, ids[next()]);
            endDevicePass();
        }

        private void deviceDeferred() {
            device.recordDeferred(ids[next()], device.elapsedNs(), 1);
            endDevicePass();
        }

        private void endDevicePass() {
            sinceEnd++;
            if (sinceEnd == LAYERS * BRICKS) {
                sinceEnd = 0;
                device.endPass();
            }
        }

        /** Defers one measurement, and resolves all measurements at the end of each pass. */
        private void passPart(BrickProfiler profiler) {
            profiler.recordDeferred(ids[next()], profiler.elapsedNs(), 1);
            if (profiler.pendingCount() == LAYERS * BRICKS) {
                profiler.finalize(profiler.elapsedNs());
            }
        }
    }
}
