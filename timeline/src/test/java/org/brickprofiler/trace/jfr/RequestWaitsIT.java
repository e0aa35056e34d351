package org.brickprofiler.trace.jfr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.management.ObjectName;
import org.assertj.core.data.Percentage;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.record.HostThreadTimes;
import org.brickprofiler.internal.record.ThreadTimes;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.request.Wait;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.SlowSteps;
import org.brickprofiler.trace.TraceRecorder;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Waits that are planted between the steps of a request, beside a stopwatch; on the clock of the system. */
@Timeout(120)
final class RequestWaitsIT {

    private static final long HELD_MS = 300;
    private static final Percentage TENTH = Percentage.withPercentage(10);

    private final TraceRecorder recorder =
            TraceRecorder.builder().keepSlowSteps(3).build();
    private final BrickProfiler profiler =
            BrickProfiler.builder().tracing(recorder).build();
    private final RequestRecorder requests = profiler.requests();

    @BeforeEach
    void on() {
        profiler.enable();
    }

    private static final class Cache {}

    private interface Body {
        void run() throws Exception;
    }

    /** Plants a wait between the two steps of a request that the calling thread serves. */
    private void request(Body planted) throws Exception {
        long request = requests.arrived(0);
        try (RequestRecorder.Scope scope = requests.serve(request)) {
            assertThat(scope).isNotNull();
            step();
            planted.run();
            step();
        }
        requests.finished(request, Outcome.COMPLETED);
    }

    private void step() {
        profiler.beginStep(StepInfo.decode(1));
        profiler.endPass();
    }

    /** Plants a wait between two steps that work on a request, of a thread that serves none. */
    private void batch(Body planted) throws Exception {
        long request = requests.arrived(0);
        stepOf(request);
        planted.run();
        stepOf(request);
        requests.finished(request, Outcome.COMPLETED);
    }

    private void stepOf(long request) {
        profiler.beginStep(StepInfo.decode(1));
        requests.inStep(request, 0);
        profiler.endPass();
    }

    private static long timed(Body body) throws Exception {
        long fromNs = System.nanoTime();
        body.run();
        return System.nanoTime() - fromNs;
    }

    private static long ns(RequestRecord record, Wait wait) {
        return Objects.requireNonNull(record.waitNs().get(wait));
    }

    /** Starts a thread that holds something for a while, and waits until it does. */
    private static void hold(String name, Holder holder) throws InterruptedException {
        CountDownLatch held = new CountDownLatch(1);
        Thread thread = new Thread(
                () -> holder.hold(() -> {
                    held.countDown();
                    sleep(HELD_MS);
                }),
                name);
        thread.start();
        held.await();
    }

    /** Runs something while it holds a lock. */
    private interface Holder {
        void hold(Runnable meanwhile);
    }

    private static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }

    private static void compute(long ms) {
        long untilNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
        while (System.nanoTime() < untilNs) {
            Thread.onSpinWait();
        }
    }

    @Spec("25.32")
    @Test
    void monitorsAndLocksAreNamedAndOtherSleepIsUnknown() throws Exception {
        Cache cache = new Cache();
        ReentrantLock lock = new ReentrantLock();
        Condition unsignalled = lock.newCondition();
        List<Long> stopwatch = new ArrayList<>();
        try (VirtualMachineStops stops = VirtualMachineStops.of(recorder)) {
            stops.splitWaits(requests);
            assertThatIllegalStateException().isThrownBy(() -> stops.splitWaits(requests));
            request(() -> {
                hold("evictor", meanwhile -> {
                    synchronized (cache) {
                        meanwhile.run();
                    }
                });
                stopwatch.add(timed(() -> {
                    synchronized (cache) {
                        assertThat(Thread.holdsLock(cache)).isTrue();
                    }
                }));
                // Own work after the wait, which the recorder assumes before it.
                compute(40);
            });
            request(() -> {
                hold("writer", meanwhile -> {
                    lock.lock();
                    try {
                        meanwhile.run();
                    } finally {
                        lock.unlock();
                    }
                });
                stopwatch.add(timed(() -> {
                    lock.lock();
                    try {
                        assertThat(lock.isHeldByCurrentThread()).isTrue();
                    } finally {
                        lock.unlock();
                    }
                }));
            });
            request(() -> Thread.sleep(100));
            request(() -> {
                lock.lock();
                try {
                    long leftNs = TimeUnit.MILLISECONDS.toNanos(100);
                    while (leftNs > 0) {
                        leftNs = unsignalled.awaitNanos(leftNs);
                    }
                } finally {
                    lock.unlock();
                }
            });
        }

        List<RequestRecord> records = requests.recent();
        RequestRecord atMonitor = records.get(0);
        assertThat(ns(atMonitor, Wait.BLOCKED)).isCloseTo(stopwatch.get(0), TENTH);
        assertThat(atMonitor.causeNs(Cause.OWN_WORK)).isPositive();
        assertThat(atMonitor.lock()).contains("monitor of " + Cache.class.getName() + ", held by evictor");
        RequestRecord atLock = records.get(1);
        assertThat(ns(atLock, Wait.BLOCKED)).isCloseTo(stopwatch.get(1), TENTH);
        assertThat(atLock.lock()).contains("java.util.concurrent.locks.ReentrantLock");
        for (RequestRecord idle : records.subList(2, 4)) {
            assertThat(ns(idle, Wait.BLOCKED)).isZero();
            assertThat(idle.lock()).isEmpty();
            assertThat(ns(idle, Wait.UNKNOWN)).isGreaterThan(90_000_000);
        }
        for (RequestRecord record : records) {
            assertThat(record.waitNs().values().stream().mapToLong(ns -> ns).sum())
                    .isEqualTo(record.waitingNs());
        }
        assertThat(requests.stats().waits().sources())
                .isNotEmpty()
                .allMatch(source -> source.startsWith("a flight recording"));
        assertThat(requests.stats().waits().ns(Wait.BLOCKED))
                .isEqualTo(ns(atMonitor, Wait.BLOCKED) + ns(atLock, Wait.BLOCKED));
    }

    /**
     * More processes than processors compute, so that the thread of the steps does not always have one. Threads of this
     * process would also make it wait at safepoints, which are no waits for a processor.
     */
    @Spec("25.32")
    @Test
    void aThreadWithoutAProcessorWaitsForOne() throws Exception {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        List<Process> rivals = new ArrayList<>();
        long[] leastNs = new long[1];
        long mostNs;
        try (VirtualMachineStops stops = VirtualMachineStops.of(recorder)) {
            stops.splitWaits(requests);
            for (int i = 0; i < 3 * Runtime.getRuntime().availableProcessors(); i++) {
                rivals.add(new ProcessBuilder("sh", "-c", "while :; do :; done").start());
            }
            // The wait of the request also contains parts of its two steps, in which the thread may lose its processor.
            mostNs = threads.getCurrentThreadCpuTime() - System.nanoTime();
            batch(() -> {
                leastNs[0] = threads.getCurrentThreadCpuTime() - System.nanoTime();
                compute(2_000);
                leastNs[0] += System.nanoTime() - threads.getCurrentThreadCpuTime();
            });
            mostNs += System.nanoTime() - threads.getCurrentThreadCpuTime();
        } finally {
            rivals.forEach(Process::destroyForcibly);
        }
        assumeThat(HostThreadTimes.ofThisThread().waitedNs())
                .as("the kernel records how long threads wait")
                .isNotEqualTo(ThreadTimes.UNKNOWN);
        assertThat(leastNs[0]).isGreaterThan(200_000_000);
        assertThat(ns(requests.recent().get(0), Wait.NO_PROCESSOR))
                .isBetween((long) (0.9 * leastNs[0]), (long) (1.1 * mostNs));
    }

    /**
     * A group of processes that get half of a processor, and get this before all others. It can only be made as root,
     * and outside of most containers.
     */
    private record Quota(Path folder, boolean isFirstVersion) implements AutoCloseable {

        private static final Path ROOT = Path.of("/sys/fs/cgroup");

        static Quota make() throws IOException {
            boolean isFirstVersion = Files.isDirectory(ROOT.resolve("cpu"));
            Path folder = ROOT.resolve(isFirstVersion ? "cpu" : "")
                    .resolve("brick-quota-" + ProcessHandle.current().pid());
            Quota quota = new Quota(Files.createDirectory(folder), isFirstVersion);
            try {
                quota.write(isFirstVersion ? "cpu.cfs_quota_us" : "cpu.max", isFirstVersion ? "50000" : "50000 100000");
                quota.write(isFirstVersion ? "cpu.shares" : "cpu.weight", isFirstVersion ? "262144" : "10000");
                return quota;
            } catch (IOException refused) {
                quota.close();
                throw refused;
            }
        }

        private void write(String file, String value) throws IOException {
            Files.writeString(folder.resolve(file), value);
        }

        List<String> entering() {
            return List.of("sh", "-c", "echo $$ > " + folder.resolve("cgroup.procs") + " && exec \"$@\"", "sh");
        }

        long throttledNs() throws IOException {
            String name = isFirstVersion ? "throttled_time " : "throttled_usec ";
            return Files.readAllLines(folder.resolve("cpu.stat")).stream()
                    .filter(line -> line.startsWith(name))
                    .mapToLong(line -> Long.parseLong(line.substring(name.length())) * (isFirstVersion ? 1 : 1_000))
                    .sum();
        }

        @Override
        public void close() throws IOException {
            Files.delete(folder);
        }
    }

    /**
     * Computes between two steps, then in one, and prints what the group says of these times, and the request of the
     * first and the explanation of the step of the second one.
     */
    static final class UnderQuota {

        public static void main(String[] arguments) throws Exception {
            ThreadMXBean threads = ManagementFactory.getThreadMXBean();
            Quota quota = new Quota(Path.of(arguments[0]), Boolean.parseBoolean(arguments[1]));
            RequestWaitsIT here = new RequestWaitsIT();
            here.on();
            long[] waitedNs = new long[2];
            long[] throttledNs = new long[2];
            try (VirtualMachineStops stops = VirtualMachineStops.of(here.recorder)) {
                stops.splitWaits(here.requests);
                // The quota is read each second, and must be read before and after what it throttles.
                sleep(1_250);
                for (int i = 0; i < 20; i++) {
                    here.step();
                }
                here.batch(() -> {
                    waitedNs[0] = threads.getCurrentThreadCpuTime() - System.nanoTime();
                    throttledNs[0] = -quota.throttledNs();
                    compute(1_400);
                    throttledNs[0] += quota.throttledNs();
                    waitedNs[0] += System.nanoTime() - threads.getCurrentThreadCpuTime();
                });
                here.profiler.beginStep(StepInfo.decode(1));
                waitedNs[1] = threads.getCurrentThreadCpuTime() - System.nanoTime();
                throttledNs[1] = -quota.throttledNs();
                compute(800);
                throttledNs[1] += quota.throttledNs();
                waitedNs[1] += System.nanoTime() - threads.getCurrentThreadCpuTime();
                here.profiler.endPass();
                sleep(1_250);
            }
            RequestRecord record = here.requests.recent().get(0);
            long ofStepNs = here.recorder.slowSteps().orElseThrow().slowest().get(0).parts().stream()
                    .filter(part -> part.kind() == SlowSteps.Kind.THROTTLED)
                    .mapToLong(SlowSteps.Part::excessNs)
                    .sum();
            System.out.println(waitedNs[0] + " " + throttledNs[0] + " " + ns(record, Wait.THROTTLED) + " "
                    + ns(record, Wait.NO_PROCESSOR) + " " + Math.min(waitedNs[1], throttledNs[1]) + " " + ofStepNs);
        }
    }

    /**
     * With a real quota, whose effect the kernel states for the group as a whole; the last second before the end is
     * unknown.
     */
    @Spec("25.32")
    @Test
    void aThreadWhoseQuotaIsUsedUpIsThrottled() throws Exception {
        Optional<Quota> made;
        try {
            made = Optional.of(Quota.make());
        } catch (IOException refused) {
            made = Optional.empty();
        }
        assumeThat(made).as("a group of processes with a quota can be made").isPresent();
        long[] ns;
        try (Quota quota = made.orElseThrow()) {
            String printed = ChildProcess.java(UnderQuota.class)
                    .through(quota.entering())
                    .arguments(List.of(quota.folder().toString(), Boolean.toString(quota.isFirstVersion())))
                    .run()
                    .assertSucceeded()
                    .out();
            ns = Stream.of(printed.strip().split(" "))
                    .mapToLong(Long::parseLong)
                    .toArray();
        }
        long waitedNs = ns[0];
        long throttledNs = ns[1];
        assertThat(throttledNs).isGreaterThan(200_000_000);
        assertThat(ns[2]).as("throttled").isGreaterThan((long) (0.75 * Math.min(waitedNs, throttledNs)));
        assertThat(ns[2] + ns[3]).isCloseTo(waitedNs, TENTH);
        assertThat(ns[5]).as("throttled in a step").isCloseTo(ns[4], Percentage.withPercentage(25));
    }

    /** Writes the pauses of collections to a file, as the option -Xlog:gc does. */
    private static void log(String... arguments) throws Exception {
        ManagementFactory.getPlatformMBeanServer()
                .invoke(
                        new ObjectName("com.sun.management:type=DiagnosticCommand"),
                        "vmLog",
                        new Object[] {arguments},
                        new String[] {String[].class.getName()});
    }

    /** Makes collections of some milliseconds. */
    private static void collect(int times) {
        List<Object[]> live = new ArrayList<>();
        for (int i = 0; i < 200_000; i++) {
            live.add(new Object[] {new Object(), i});
        }
        for (int i = 0; i < times; i++) {
            System.gc();
        }
        assertThat(live).hasSize(200_000);
    }

    @Spec("25.32")
    @Test
    void collectionsAgreeWithTheLogOfTheCollector(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("gc.log");
        try (VirtualMachineStops stops = VirtualMachineStops.of(recorder)) {
            stops.splitWaits(requests);
            batch(() -> {
                log("output=" + file, "what=gc=info");
                collect(12);
                log("output=" + file, "what=all=off");
            });
        }

        double loggedMs = 0;
        Matcher pause = Pattern.compile("Pause .* ([0-9.]+)ms").matcher(Files.readString(file));
        while (pause.find()) {
            loggedMs += Double.parseDouble(pause.group(1));
        }
        assertThat(loggedMs).isGreaterThan(12);
        assertThat(ns(requests.recent().get(0), Wait.GC) / 1e6).isCloseTo(loggedMs, Percentage.withPercentage(1));
    }

    @Spec("25.32")
    @Test
    void withoutARecordingCollectionsAreKnownInWholeMilliseconds() throws Exception {
        long[] ms = new long[1];
        try (CollectionWaits waits = CollectionWaits.of(requests)) {
            assertThat(waits).isNotNull();
            batch(() -> {
                ms[0] = -collectedMs();
                collect(12);
                ms[0] += collectedMs();
                Thread.sleep(50);
            });
            for (int i = 0; i < 500 && requests.stats().waits().allNs() == 0; i++) {
                Thread.sleep(20);
            }
        }

        RequestRecord record = requests.recent().get(0);
        assertThat(ns(record, Wait.GC)).isCloseTo(TimeUnit.MILLISECONDS.toNanos(ms[0]), within(24_000_000L));
        assertThat(ns(record, Wait.GC)).isPositive();
        assertThat(ns(record, Wait.GC) + ns(record, Wait.UNKNOWN)).isEqualTo(record.waitingNs());
        assertThat(requests.stats().waits().sources()).containsExactly("the collectors' beans, in whole ms");
    }

    private static long collectedMs() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
                .mapToLong(collector -> collector.getCollectionTime())
                .sum();
    }
}
