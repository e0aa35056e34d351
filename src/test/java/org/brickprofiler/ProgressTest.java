package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.request.LiveRequest;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.testing.VirtualThreadStarter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The steps and requests under way, on a clock of the test, and the places of real threads. */
@Spec("25.30")
@Timeout(60)
final class ProgressTest {

    private static final long S = 1_000_000_000;

    private final FakeClock clock = new FakeClock();
    private final BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();
    private final RequestRecorder requests = profiler.requests();

    ProgressTest() {
        profiler.enable();
    }

    private void step() {
        profiler.beginStep(StepInfo.decode(1));
        clock.advance(S / 10);
        profiler.endPass();
    }

    @Test
    void withoutWorkThereIsNoStall() {
        assertThat(BrickProfiler.enabled().progress()).isEqualTo(Progress.NONE);
        step();
        clock.advance(3_600 * S);
        Progress idle = profiler.progress();
        assertThat(idle.sinceStepNs()).hasValue(3_600 * S);
        assertThat(idle.stalledNs()).isEmpty();
        assertThat(idle.isUnderWay()).isFalse();
        assertThat(idle.lines()).isEmpty();
    }

    /** An hour without requests is no part of the stall. */
    @Test
    void aStallBeginsWithTheOldestWorkOrTheLatestStep() {
        step();
        clock.advance(3_600 * S);
        long oldest = requests.arrived(7);
        clock.advance(2 * S - 1);
        assertThat(profiler.progress().stalledNs()).isEmpty();
        assertThat(profiler.progress().lines())
                .containsExactly(
                        "Under way: 0 steps; 0 running requests, 1 waiting request.",
                        "The oldest request arrived 2.0 s ago, is waiting for its first step, and has 0 tokens; the thread"
                                + " that serves it is unknown.");
        clock.advance(1);
        assertThat(profiler.progress().stalledNs()).hasValue(2 * S);

        requests.arrived(1);
        profiler.beginStep(StepInfo.prefill(7));
        requests.inStep(oldest, 7);
        clock.advance(3 * S);
        Progress inStep = profiler.progress();
        assertThat(inStep.stalledNs()).hasValue(5 * S);
        assertThat(inStep.steps()).extracting(Progress.OpenStep::elapsedNs).containsExactly(3 * S);
        assertThat(inStep.requests().oldest()).map(LiveRequest::isRunning).contains(true);
        assertThat(inStep.requests().waiting()).isEqualTo(1);
        assertThat(inStep.requests().thread()).contains(Thread.currentThread());
        assertThat(inStep.places())
                .extracting(Progress.Place::role)
                .containsExactly("the thread of the oldest request");

        profiler.endPass();
        clock.advance(S);
        Progress after = profiler.progress();
        assertThat(after.stalledNs()).isEmpty();
        assertThat(after.places()).isEmpty();
        LiveRequest decoded = after.requests().oldest().orElseThrow();
        assertThat(decoded).isEqualTo(new LiveRequest(6 * S, true, 7, 1, decoded.identity()));
        assertThat(after.requests().sinceTokenNs()).hasValue(S);
        assertThat(after.requests().thread()).isEmpty();

        requests.finished(oldest, Outcome.COMPLETED);
        assertThat(profiler.progress().requests().oldest())
                .map(LiveRequest::promptTokens)
                .contains(1L);
        profiler.disable();
        assertThat(profiler.progress().isUnderWay()).isFalse();
    }

    @Test
    void theOldestOfManyRequestsAreListed() {
        long[] handles = IntStream.range(0, 40)
                .mapToLong(i -> {
                    clock.advance(1);
                    return requests.arrived(i);
                })
                .toArray();
        // A step makes the oldest one the latest in the order of signs of life.
        profiler.beginStep(StepInfo.decode(1));
        requests.inStep(handles[0], 0);
        profiler.endPass();
        assertThat(requests.stats().oldestLive())
                .extracting(LiveRequest::promptTokens)
                .containsExactlyElementsOf(
                        LongStream.range(0, RequestStats.SLOWEST).boxed().toList());
        RequestRecorder.Live live = profiler.progress().requests();
        assertThat(live.oldest()).map(LiveRequest::promptTokens).contains(0L);
        assertThat(live.waiting()).isEqualTo(39);
    }

    /** A scope that another thread closed, and a thread that has ended, name no thread. */
    @Test
    void theServingThreadIsKnownWhileItServes() throws Exception {
        long request = requests.arrived(1);
        CountDownLatch serves = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        RequestRecorder.Scope[] scope = new RequestRecorder.Scope[1];
        Thread server = new Thread(() -> {
            scope[0] = requests.serve(request);
            serves.countDown();
            LockSupport.park();
            awaitQuietly(end);
        });
        server.start();
        serves.await();
        assertThat(profiler.progress().requests().thread()).contains(server);
        clock.advance(2 * S);
        in(Thread.State.WAITING, server);
        assertThat(profiler.progress().lines().get(2))
                .startsWith("The thread of the oldest request (" + server.getName() + ") waits");
        scope[0].close();
        assertThat(profiler.progress().requests().thread()).isEmpty();
        LockSupport.unpark(server);
        end.countDown();
        server.join();
        assertThat(profiler.progress().requests().thread()).isEmpty();
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void theServingVirtualThreadIsUnknown() throws Exception {
        VirtualThreadStarter starter = VirtualThreadStarter.orSkip();
        long request = requests.arrived(1);
        CountDownLatch serves = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        Thread server = starter.start(() -> {
            try (RequestRecorder.Scope scope = requests.serve(request)) {
                serves.countDown();
                awaitQuietly(end);
            }
        });
        serves.await();
        clock.advance(2 * S);
        assertThat(profiler.progress().lines().get(1)).endsWith("; the thread that serves it is unknown.");
        ThreadPlace place = ThreadPlace.of(server);
        assertThat(place.isLockKnown()).isFalse();
        assertThat(place.text()).contains("whether it waits for a lock is unknown");
        end.countDown();
        server.join();
    }

    @Test
    void theReportHasTheWordsAndTheNumbers() {
        requests.named(requests.arrived(1), "r-17");
        clock.advance(8_200_000_000L);
        Map<String, Object> entries = profiler.progress().reportEntries();
        assertThat(JsonReport.toJson(profiler.snapshot(), entries))
                .contains(
                        "\"stalled_ns\": 8200000000",
                        "Stalled: no step has ended yet, for 8.2 s. Under way: 0 steps;",
                        "The oldest request (r-17) arrived 8.2 s ago, ")
                .doesNotContain("since_step_ns");
    }

    // ---- places ----

    /** Returns the place of a thread once it is in a state. */
    private static ThreadPlace in(Thread.State state, Thread thread) throws InterruptedException {
        while (thread.getState() != state) {
            Thread.sleep(1);
        }
        return ThreadPlace.of(thread);
    }

    @Test
    void aBlockedThreadNamesTheHolderOfItsMonitor() throws Exception {
        Object monitor = new Object();
        Thread waiting = new Thread(
                () -> {
                    synchronized (monitor) {
                        clock.advance(1);
                    }
                },
                "waiting");
        ThreadPlace place;
        synchronized (monitor) {
            waiting.start();
            place = in(Thread.State.BLOCKED, waiting);
        }
        waiting.join();
        assertThat(place.owner()).contains(Thread.currentThread().getName());
        assertThat(place.text())
                .startsWith("waiting is blocked: it waits for java.lang.Object@")
                .contains(", which " + Thread.currentThread().getName() + " holds. It stands at ")
                .contains("ProgressTest.java:", "The holder stands at ");
        assertThat(ThreadPlace.of(waiting).text()).isEqualTo("waiting has ended. Its stack is unknown.");
    }

    @Test
    void aThreadThatWaitsForALockNamesItsHolderAndOneThatParksNone() throws Exception {
        ReentrantLock lock = new ReentrantLock();
        Thread waiting = new Thread(
                () -> {
                    lock.lock();
                    try {
                        clock.advance(1);
                    } finally {
                        lock.unlock();
                    }
                },
                "waiting");
        ThreadPlace place;
        lock.lock();
        try {
            waiting.start();
            place = in(Thread.State.WAITING, waiting);
        } finally {
            lock.unlock();
        }
        waiting.join();
        assertThat(place.text())
                .startsWith("waiting waits: it waits for java.util.concurrent.locks.ReentrantLock$NonfairSync@")
                .contains(", which " + Thread.currentThread().getName() + " holds.");

        Thread parked = new Thread(LockSupport::park, "parked");
        parked.start();
        ThreadPlace alone = in(Thread.State.WAITING, parked);
        LockSupport.unpark(parked);
        parked.join();
        assertThat(alone.lock()).isEmpty();
        assertThat(alone.text()).startsWith("parked waits. It stands at ");
    }
}
