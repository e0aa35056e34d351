package org.brickprofiler.metrics;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.access.CurrentSums;
import org.brickprofiler.internal.access.ProfilerAccess;
import org.brickprofiler.metrics.prometheus.MetricsPage;
import org.brickprofiler.request.Outcome;

/**
 * Measures the processor time of a scrape: 32 threads record 60 bricks with percentiles in steps of three phases, each
 * for a request. The arguments are the number of scrapes (default 200) and the ms between two (default 1,000). It
 * prints the first scrape, then the second half of the scrapes; at last, for comparison, a quarter as many that read a
 * whole snapshot.
 */
public final class ScrapeStudy {

    private static final List<StepInfo.Phase> PHASES = List.of(StepInfo.Phase.values());
    private static final int THREADS = 32;
    private static final int BRICKS = 60;
    private static final int STEPS_BEFORE = 30;
    private static final double NS_PER_MS = 1e6;

    private static final ThreadMXBean CPU = ManagementFactory.getThreadMXBean();

    private final BrickProfiler profiler =
            BrickProfiler.builder().percentiles(true).build();
    private final CountDownLatch ready = new CountDownLatch(THREADS);
    private final MetricsPage page = new MetricsPage();
    private final int intervalMs;

    private ScrapeStudy(int intervalMs) {
        this.intervalMs = intervalMs;
    }

    /**
     * Runs the study.
     *
     * @param arguments the number of scrapes, and the ms between two
     */
    public static void main(String[] arguments) throws InterruptedException {
        int scrapes = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 200;
        int intervalMs = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 1_000;
        new ScrapeStudy(intervalMs).run(scrapes);
    }

    private void run(int scrapes) throws InterruptedException {
        profiler.enable();
        for (int number = 0; number < THREADS; number++) {
            SplittableRandom random = new SplittableRandom(number);
            Thread thread = new Thread(() -> record(random));
            thread.setDaemon(true);
            thread.start();
        }
        ready.await();
        List<Double> ms = scrape(scrapes, () -> ProfilerAccess.sums(profiler));
        System.out.printf(Locale.ROOT, "first scrape: %.1f ms%n", ms.get(0));
        print("scrapes " + scrapes / 2 + " to " + scrapes, ms.subList(scrapes / 2, scrapes));
        print("with a whole snapshot", scrape(scrapes / 4, () -> new CurrentSums(profiler.snapshot(), Map.of())));
        System.out.printf(
                "page: %d bytes%n",
                page.render(ProfilerAccess.sums(profiler), MetricsPage.Format.PROMETHEUS)
                        .getBytes(StandardCharsets.UTF_8)
                        .length);
    }

    private List<Double> scrape(int scrapes, Supplier<CurrentSums> reading) throws InterruptedException {
        List<Double> ms = new ArrayList<>();
        for (int i = 0; i < scrapes; i++) {
            Thread.sleep(intervalMs);
            long beforeNs = CPU.getCurrentThreadCpuTime();
            page.render(reading.get(), MetricsPage.Format.PROMETHEUS);
            ms.add((CPU.getCurrentThreadCpuTime() - beforeNs) / NS_PER_MS);
        }
        return ms;
    }

    private static void print(String what, List<Double> ms) {
        double[] sorted = ms.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        System.out.printf(
                Locale.ROOT,
                "%s: median %.2f ms, mean %.2f, most %.2f%n",
                what,
                sorted[sorted.length / 2],
                Arrays.stream(sorted).average().orElse(0),
                sorted[sorted.length - 1]);
    }

    /** Records a step a second, after some steps in a row. */
    private void record(SplittableRandom random) {
        try {
            for (int step = 0; ; step++) {
                StepInfo.Phase phase = PHASES.get(step % PHASES.size());
                long request = profiler.requests().arrived(10);
                profiler.beginStep(new StepInfo(phase, 4, 10, 100, 4, 0));
                profiler.requests().inStep(request, 10);
                for (int brick = 0; brick < BRICKS; brick++) {
                    profiler.record("model.layers.brick_" + brick, 1_000 + random.nextInt(100_000_000), 1);
                }
                profiler.endPass();
                profiler.requests().finished(request, step % 7 == 0 ? Outcome.FAILED : Outcome.COMPLETED);
                if (step == STEPS_BEFORE) {
                    ready.countDown();
                }
                if (step >= STEPS_BEFORE) {
                    Thread.sleep(1_000);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
