package org.brickprofiler.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Instant;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** Rates of a server with pauses in which no request is live. */
class ServingRatesTest {

    private final FakeClock clock = new FakeClock();
    private final RequestRecorder requests = new RequestRecorder(clock, () -> 0);

    private void serve(long waitNs) {
        long request = requests.arrived(4);
        clock.advance(waitNs);
        long step = requests.stepBegan(true, 0, clock.now());
        requests.inStep(request, 4);
        clock.advance(500_000_000);
        requests.stepEnded(step, clock.now(), 0);
        requests.finished(request, Outcome.COMPLETED);
    }

    private ProfileSnapshot snapshot() {
        return ProfileSnapshot.builder(Instant.EPOCH, Instant.EPOCH.plusSeconds(100), 100_000_000_000L)
                .requests(requests.stats())
                .requestTimeline(requests.timeline().get())
                .build();
    }

    @Spec("8.10")
    @Test
    void timeWithoutALiveRequestDoesNotCount() {
        requests.enable();
        for (int i = 0; i < 4; i++) {
            serve(500_000_000);
            clock.advance(9_000_000_000L);
        }
        ServingRates rates = ServingRates.of(snapshot()).orElseThrow();

        assertThat(rates.liveNs()).isEqualTo(4_000_000_000L);
        assertThat(rates.outputTokensPerSecond()).isCloseTo(1, within(1e-9));
        assertThat(rates.finishedPerSecond()).isCloseTo(1, within(1e-9));
        assertThat(rates.arrivedPerSecond().getAsDouble()).isCloseTo(0.1, within(1e-9));
        assertThat(rates.text())
                .isEqualTo("Output: 1.0 tokens/s and 1.0 requests/s, over the 4 s in which a request was live.");
        assertThat(rates.load()).as("no request waits for another one").isEmpty();
    }

    @Spec("8.10")
    @Test
    void requestsThatPileUpArriveFasterThanTheyFinish() {
        requests.enable();
        long[] waiting = new long[10];
        for (int i = 0; i < waiting.length; i++) {
            waiting[i] = requests.arrived(4);
            clock.advance(100_000_000);
        }
        for (long request : waiting) {
            long step = requests.stepBegan(true, 0, clock.now());
            requests.inStep(request, 4);
            clock.advance(400_000_000);
            requests.stepEnded(step, clock.now(), 0);
            requests.finished(request, Outcome.COMPLETED);
        }

        assertThat(ServingRates.of(snapshot()).orElseThrow().load())
                .isEqualTo(" 10 requests/s arrived, 2.0/s finished.");
        requests.arrived(4);
        assertThat(ServingRates.of(snapshot()).orElseThrow().load())
                .as("a request that waits has no end")
                .isEmpty();
    }

    @Spec("8.10")
    @Test
    void aTimelineThatLacksRequestsHasNoRates() {
        requests.enable();
        for (int i = 0; i < 1_100; i++) {
            serve(1);
        }
        assertThat(requests.timeline().get().requests()).hasSizeLessThan(1_100);
        assertThat(ServingRates.of(snapshot())).isEmpty();
    }
}
