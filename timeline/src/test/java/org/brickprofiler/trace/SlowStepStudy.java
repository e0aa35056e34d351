package org.brickprofiler.trace;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.trace.SlowSteps.Explained;
import org.brickprofiler.trace.SlowSteps.Kind;
import org.brickprofiler.trace.SlowSteps.Part;
import org.brickprofiler.trace.SlowSteps.Verdict;

/**
 * How often the explanation of a slow step names the cause that was injected. Each trial is an engine of its own in
 * this process: 40 ordinary steps, one with the fault, and some more. The faults are real ones: a collection, a stop of
 * the process by a signal, a brick that computes longer, a longer context, and first touches of fresh memory.
 *
 * <p>A machine that other programs use takes the processor away in any step. The kernel counts that time, and the
 * explanation shows it as a part of its own. An explanation is right if, beside this part, the injected cause is the
 * largest part, and differs from the true amount by at most half of it, or 5 ms. The step that waits for the signal
 * computes meanwhile, for as long as the signal takes: its brick does not count either.
 *
 * <p>Arguments: the trials of each kind, 20 by default. The exit code is 1 if fewer than 19 of 20 of a kind are right.
 */
public final class SlowStepStudy {

    private static final int ORDINARY = 40;
    private static final int LONG_CONTEXT = 8;
    private static final long MS = 1_000_000;
    private static final int STOP_MS = 200;
    private static final int PAGE = 4_096;

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final List<byte[]> live = new ArrayList<>();
    private final float[] data = new float[1 << 12];
    private float result;

    /** The faults. */
    private enum Fault {
        COLLECTION,
        STOPPED_PROCESS,
        SLOW_BRICK,
        LONGER_CONTEXT,
        PAGE_FAULTS
    }

    private record Trial(Fault fault, Explained step, long trueNs, boolean isRight) {}

    private SlowStepStudy() {
        for (int i = 0; i < data.length; i++) {
            data[i] = i % 7;
        }
        // Something to mark and move.
        for (int i = 0; i < 400_000; i++) {
            live.add(new byte[64]);
        }
    }

    /**
     * Runs the study.
     *
     * @param args see the class
     */
    public static void main(String[] args) throws Exception {
        int trials = args.length == 0 ? 20 : Integer.parseInt(args[0]);
        SlowStepStudy study = new SlowStepStudy();
        for (int i = 0; i < 3; i++) {
            study.trial(Fault.SLOW_BRICK); // compiles
        }
        TreeMap<Fault, List<Trial>> all = new TreeMap<>();
        for (int i = 0; i < trials; i++) {
            for (Fault fault : Fault.values()) {
                Trial trial = study.trial(fault);
                all.computeIfAbsent(fault, first -> new ArrayList<>()).add(trial);
                System.out.printf(
                        Locale.ROOT,
                        "%-16s %-6s %6.1f ms injected: %s%n",
                        fault,
                        trial.isRight ? "right" : "WRONG",
                        trial.trueNs / 1e6,
                        trial.step.sentence());
            }
        }
        System.out.println();
        all.forEach((fault, ofFault) -> System.out.printf(
                Locale.ROOT,
                "%-16s right in %d of %d%n",
                fault,
                ofFault.stream().filter(Trial::isRight).count(),
                ofFault.size()));
        System.out.println(study.result == 0 ? "" : "computed");
        System.exit(all.values().stream().allMatch(SlowStepStudy::isGood) ? 0 : 1);
    }

    private static boolean isGood(List<Trial> trials) {
        return 20 * trials.stream().filter(Trial::isRight).count() >= 19L * trials.size();
    }

    private Trial trial(Fault fault) throws Exception {
        TraceRecorder recorder =
                TraceRecorder.builder().keepSlowSteps(2 * ORDINARY).build();
        BrickProfiler profiler = BrickProfiler.builder().tracing(recorder).build();
        profiler.enable();
        for (int i = 0; i < ORDINARY; i++) {
            step(profiler, 1_000 + i, 1, () -> 0);
        }
        long trueNs = step(
                profiler,
                fault == Fault.LONGER_CONTEXT ? LONG_CONTEXT * 1_000 : 1_000 + ORDINARY,
                fault == Fault.LONGER_CONTEXT ? LONG_CONTEXT : 1,
                () -> inject(fault));
        for (int i = 0; i < 4; i++) {
            step(profiler, 1_001 + ORDINARY + i, 1, () -> 0);
        }
        Explained step = recorder.timeline().info().slowSteps().orElseThrow().slowest().stream()
                .filter(each -> each.index() == ORDINARY)
                .findFirst()
                .orElseThrow();
        return new Trial(fault, step, trueNs, isRight(fault, step, trueNs));
    }

    private static boolean isRight(Fault fault, Explained step, long trueNs) {
        if (fault == Fault.LONGER_CONTEXT) {
            return step.verdict() == Verdict.FEW_COMPARABLE_STEPS
                    && step.sentence().contains("KV length of 8,000 is");
        }
        Part largest = step.parts().stream()
                .filter(part -> part.kind() != Kind.NO_PROCESSOR)
                .filter(part -> fault != Fault.STOPPED_PROCESS || part.kind() != Kind.BRICK)
                .findFirst()
                .orElseThrow();
        boolean isNamed =
                switch (fault) {
                    case COLLECTION -> largest.kind() == Kind.GARBAGE_COLLECTION;
                    case STOPPED_PROCESS -> largest.kind() == Kind.BLOCKED;
                    case SLOW_BRICK, PAGE_FAULTS -> largest.name().equals(BrickId.LM_HEAD.displayName());
                    case LONGER_CONTEXT -> false;
                };
        return isNamed && Math.abs(largest.excessNs() - trueNs) <= Math.max(trueNs / 2, 5 * MS);
    }

    /** An action that returns how long its fault took, ns. */
    @FunctionalInterface
    private interface Injection {
        long run() throws Exception;
    }

    private long step(BrickProfiler profiler, long kvLength, int context, Injection fault) throws Exception {
        profiler.beginStep(StepInfo.decode(kvLength));
        for (int layer = 0; layer < 4; layer++) {
            long timer = profiler.startBrick(BrickId.QKV_PROJECTION);
            compute(60);
            timer = profiler.lap(timer, 1, BrickId.FUSED_ATTENTION);
            compute(30 * context);
            profiler.stopBrick(timer, 1);
        }
        long timer = profiler.startBrick(BrickId.LM_HEAD);
        compute(60);
        long trueNs = fault.run();
        profiler.stopBrick(timer, 1);
        profiler.endPass();
        return trueNs;
    }

    private void compute(int rounds) {
        float sum = result;
        for (int round = 0; round < rounds; round++) {
            for (float each : data) {
                sum = sum * 0.999f + each;
            }
        }
        result = sum;
    }

    private long inject(Fault fault) throws Exception {
        long startNs = System.nanoTime();
        long ranNs = threads.getCurrentThreadCpuTime();
        switch (fault) {
            case COLLECTION -> {
                System.gc();
                return System.nanoTime() - startNs;
            }
            case STOPPED_PROCESS -> {
                return stopThisProcess();
            }
            case SLOW_BRICK -> compute(4_000);
            case PAGE_FAULTS -> touchFreshMemory();
            case LONGER_CONTEXT -> {
                return 0;
            }
        }
        return threads.getCurrentThreadCpuTime() - ranNs;
    }

    /** Stops the process by a signal for 200 ms, and computes until it has been continued. */
    private long stopThisProcess() throws IOException, InterruptedException {
        long pid = ProcessHandle.current().pid();
        Process shell = new ProcessBuilder(
                        "sh", "-c", "read go; kill -STOP " + pid + "; sleep 0." + STOP_MS + "; kill -CONT " + pid)
                .start();
        long deadlineNs = System.nanoTime() + 5_000 * MS;
        try (OutputStream to = shell.getOutputStream()) {
            to.write('\n');
        }
        long lastNs = System.nanoTime();
        while (shell.isAlive() && lastNs < deadlineNs) {
            lastNs = System.nanoTime();
        }
        return STOP_MS * MS;
    }

    private void touchFreshMemory() throws IOException {
        Path file = Files.createTempFile(Path.of("/dev/shm"), "study", ".memory");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MappedByteBuffer fresh = channel.map(FileChannel.MapMode.READ_WRITE, 0, 10_000L * PAGE);
            for (int page = 0; page < fresh.capacity(); page += PAGE) {
                fresh.put(page, (byte) 1);
            }
        } finally {
            Files.delete(file);
        }
    }
}
