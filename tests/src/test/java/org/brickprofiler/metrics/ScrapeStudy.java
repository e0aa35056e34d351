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
import java.util.concurrent.atomic.LongAdder;
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
 *
 * <p>With {@code tokens} and a number of pairs (default 30), it measures instead what a scrape a second adds to a
 * token. One more thread for each processor decodes tokens of 60 bricks, of about 100 us each. Blocks of four seconds
 * with and without scrapes alternate, in random order within a pair. It prints by how much longer a token takes by the
 * clock and in processor time of its thread, with an approximate 95 % interval of the mean over the pairs.
 */
public final class ScrapeStudy {

    private static final List<StepInfo.Phase> PHASES = List.of(StepInfo.Phase.values());
    private static final int THREADS = 32;
    private static final int BRICKS = 60;
    private static final int STEPS_BEFORE = 30;
    private static final int SECONDS_A_BLOCK = 4;

    /** The passes over the data of a brick that takes about 100 us. */
    private static final int ROUNDS = 8;

    private static final double NS_PER_MS = 1e6;

    private static final ThreadMXBean CPU = ManagementFactory.getThreadMXBean();

    private final BrickProfiler profiler =
            BrickProfiler.builder().percentiles(true).build();
    private final CountDownLatch ready = new CountDownLatch(THREADS);
    private final MetricsPage page = new MetricsPage();
    private final LongAdder tokens = new LongAdder();
    private final int intervalMs;

    /** Keeps the work of tokens from being optimised away. */
    private volatile float result;

    private ScrapeStudy(int intervalMs) {
        this.intervalMs = intervalMs;
    }

    /**
     * Runs the study.
     *
     * @param arguments the number of scrapes, and the ms between two
     */
    public static void main(String[] arguments) throws InterruptedException {
        if (arguments.length > 0 && arguments[0].equals("tokens")) {
            new ScrapeStudy(1_000).compareTokens(arguments.length > 1 ? Integer.parseInt(arguments[1]) : 30);
            return;
        }
        int scrapes = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 200;
        int intervalMs = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 1_000;
        new ScrapeStudy(intervalMs).run(scrapes);
    }

    private void startRecording() throws InterruptedException {
        profiler.enable();
        for (int number = 0; number < THREADS; number++) {
            SplittableRandom random = new SplittableRandom(number);
            start(() -> record(random));
        }
        ready.await();
    }

    private static Thread start(Runnable body) {
        Thread thread = new Thread(body);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private void run(int scrapes) throws InterruptedException {
        startRecording();
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

    // ---- what scrapes add to a token ----

    /** The time of a token in a block, ns: by the clock, of all threads together, and of their processors. */
    private record TokenTime(double wallNs, double cpuNs) {}

    private void compareTokens(int pairs) throws InterruptedException {
        startRecording();
        List<Thread> engine = new ArrayList<>();
        for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
            engine.add(start(this::decode));
        }
        SplittableRandom order = new SplittableRandom(1);
        for (int block = 0; block < 2; block++) {
            block(engine, true); // Until the code is compiled.
        }
        double[] wall = new double[pairs];
        double[] cpu = new double[pairs];
        for (int pair = 0; pair < pairs; pair++) {
            boolean isScrapedFirst = order.nextBoolean();
            TokenTime first = block(engine, isScrapedFirst);
            TokenTime second = block(engine, !isScrapedFirst);
            TokenTime scraped = isScrapedFirst ? first : second;
            TokenTime quiet = isScrapedFirst ? second : first;
            wall[pair] = Math.log(scraped.wallNs() / quiet.wallNs());
            cpu[pair] = Math.log(scraped.cpuNs() / quiet.cpuNs());
        }
        System.out.printf("a scrape a second adds to a token, %d pairs of blocks (%.0f)%n", pairs, result);
        printInterval("by the clock", wall);
        printInterval("in processor time", cpu);
    }

    private TokenTime block(List<Thread> engine, boolean isScraped) throws InterruptedException {
        double tokensBefore = tokens.sum();
        long cpuNs = -cpuNs(engine);
        long wallNs = -System.nanoTime();
        for (int second = 0; second < SECONDS_A_BLOCK; second++) {
            Thread.sleep(intervalMs / 2);
            if (isScraped) {
                page.render(ProfilerAccess.sums(profiler), MetricsPage.Format.PROMETHEUS);
            }
            Thread.sleep(intervalMs / 2);
        }
        wallNs += System.nanoTime();
        cpuNs += cpuNs(engine);
        double done = tokens.sum() - tokensBefore;
        return new TokenTime(wallNs / done, cpuNs / done);
    }

    private static long cpuNs(List<Thread> threads) {
        return threads.stream()
                .mapToLong(thread -> CPU.getThreadCpuTime(thread.getId()))
                .sum();
    }

    private void decode() {
        float[] data = new float[1 << 14];
        while (true) {
            profiler.beginStep(StepInfo.decode(1));
            for (int brick = 0; brick < BRICKS; brick++) {
                long timer = profiler.startBrick("model.layers.brick_" + brick);
                float sum = 0;
                for (int round = 0; round < ROUNDS; round++) {
                    for (float each : data) {
                        sum += each * 0.5f + round;
                    }
                }
                result = sum;
                profiler.stopBrick(timer, 1);
            }
            profiler.endPass();
            tokens.increment();
        }
    }

    private static void printInterval(String what, double[] logarithms) {
        double mean = Arrays.stream(logarithms).average().orElse(0);
        double squares = Arrays.stream(logarithms)
                .map(each -> (each - mean) * (each - mean))
                .sum();
        double error = 2 * Math.sqrt(squares / (logarithms.length - 1) / logarithms.length);
        System.out.printf(
                Locale.ROOT,
                "%s: %+.2f %% (%+.2f .. %+.2f)%n",
                what,
                100 * Math.expm1(mean),
                100 * Math.expm1(mean - error),
                100 * Math.expm1(mean + error));
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
