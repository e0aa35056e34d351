package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Map;
import java.util.OptionalLong;
import org.brickprofiler.Backend;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.SyncMode;
import org.brickprofiler.device.MarkCost;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TraceInfo.Device;
import org.brickprofiler.trace.TraceRecorder;
import org.brickprofiler.trace.read.Omission.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A timeline of samples that devices timed is read back as the profiler's profile, in which no launch counts. */
final class DeviceRoundTripTest {

    private final FakeClock clock = new FakeClock(5_000);
    private final TraceRecorder recorder = TraceRecorder.builder().clock(clock).build();
    private final SimulatedStream decode = new SimulatedStream("decode", clock);
    private final SimulatedStream copies = new SimulatedStream("copies", clock);
    private final BrickProfiler profiler = BrickProfiler.builder()
            .clock(clock)
            .deviceStream(decode)
            .deviceStream(copies)
            .tracing(recorder)
            .build();

    DeviceRoundTripTest() {
        profiler.enable();
    }

    private void brick(BrickId id, long deviceNs, long elements) {
        long timer = profiler.startBrick(id);
        decode.work(deviceNs);
        clock.advance(5);
        profiler.stopBrick(timer, elements);
    }

    private void copy(long deviceNs) {
        long timer = profiler.stream("copies").startBrick("copy");
        copies.work(deviceNs);
        clock.advance(3);
        profiler.stopBrick(timer, 1);
    }

    private void pass() {
        copy(400);
        brick(BrickId.RMS_NORM, 70, 1);
        brick(BrickId.LM_HEAD, 9_000, 0);
        brick(BrickId.RMS_NORM, 30, 64);
        profiler.endLayer();
        profiler.endPass();
    }

    private void sameAsTheProfiler() throws IOException {
        assertThat(profiler.snapshot().samples()).isPositive();
        RoundTrip.assertSame(recorder.timeline(), profiler.snapshot());
    }

    @ParameterizedTest
    @EnumSource(SyncMode.class)
    void theProfileComesBackInEveryMode(SyncMode mode) throws Exception {
        profiler.setSyncMode(mode);
        pass();
        new Crew().run(this::pass).join();
        sameAsTheProfiler();
    }

    @ParameterizedTest
    @EnumSource
    void samplesWithWhatMarksAddAreSaidToBeSo(RoundTrip.Format format) throws IOException {
        pass();
        assertThat(Omissions.counted(format.read(recorder.timeline()))).isEmpty();
        decode.markCost(new MarkCost(10, 8, 2, ""));
        pass();
        TraceProfile profile = format.read(recorder.timeline());

        RoundTrip.assertSame(recorder.timeline(), profiler.snapshot());
        assertThat(Omissions.counted(profile)).containsExactly(Map.entry(Reason.WITH_MARKS, 8L));
        assertThat(profile.summary())
                .contains("8 of a device as recorded, with what marks add: the run's profile has net times");
    }

    @Test
    void finishedWorkOfAnUnfinishedPassIsReadBack() throws IOException {
        brick(BrickId.RMS_NORM, 70, 1);
        clock.advance(1_000);
        brick(BrickId.RMS_NORM, 5_000, 1);
        profiler.endPassAsync();
        assertThat(profiler.snapshot().samples()).isEqualTo(1);
        sameAsTheProfiler();
        clock.advance(10_000);
        profiler.endPassAsync();
        assertThat(profiler.snapshot().samples()).isEqualTo(2);
        sameAsTheProfiler();
    }

    @Test
    void someSamplesOfABrickMayBeTheHosts() throws IOException {
        brick(BrickId.RMS_NORM, 70, 1);
        profiler.endPass();
        // The last sample is the one that was resolved last.
        assertThat(profiler.snapshot().samples()).isEqualTo(1);
        profiler.setSyncMode(SyncMode.NONE);
        clock.advance(100);
        brick(BrickId.RMS_NORM, 5_000, 1);
        sameAsTheProfiler();
    }

    @Test
    void unresolvedSamplesAreNotReadBack() throws IOException {
        brick(BrickId.RMS_NORM, 70, 1);
        profiler.endPass();
        decode.capture(true);
        brick(BrickId.RMS_NORM, 70, 1);
        decode.capture(false);
        profiler.endPass();
        sameAsTheProfiler();
    }

    @ParameterizedTest
    @EnumSource(RoundTrip.Format.class)
    void spansRecordedByHandAddNothingToTheSamples(RoundTrip.Format format) throws IOException {
        Device gpu = new Device(3, "a GPU", Backend.CUDA, OptionalLong.empty());
        recorder.stream(gpu, "stream 7", 7)
                .launchedSpan(
                        "RmsNorm", "Norm", 6_000, 44, 1, Thread.currentThread().getId(), 5_000);
        pass();
        sameAsTheProfiler();

        TraceProfile reading = format.read(recorder.timeline());
        assertThat(reading.eventsCounted()).isEqualTo(4);
        assertThat(Omissions.ignored(reading)).containsEntry(Reason.DEVICE, 1L).containsEntry(Reason.NO_BRICK, 5L);
        // The rows and the wall time are those of the two streams, without the launches.
        assertThat(reading.rows()).isEqualTo(2);
        assertThat(reading.wallNs()).isEqualTo(9_100);
    }

    @Test
    void skippedStepsOfTheHostLeaveOutTheirWorkOnTheDevice() throws IOException {
        for (int step = 0; step < 3; step++) {
            pass();
            clock.advance(1_000);
        }
        for (RoundTrip.Format format : RoundTrip.Format.values()) {
            TraceProfile reading =
                    format.read(recorder.timeline(), ReadOptions.defaults().withSkipSteps(2));
            assertThat(reading.snapshot().samples()).isEqualTo(4);
        }
    }

    @Test
    void theProfileStaysIfTheTimelineIsConverted() throws IOException {
        pass();
        pass();
        Timeline timeline = recorder.timeline();
        for (RoundTrip.Format format : RoundTrip.Format.values()) {
            TraceTimeline reading =
                    TraceReader.timeline(new ByteArrayInputStream(format.written(timeline)), ReadOptions.defaults());
            assertThat(Omissions.unkept(reading)).doesNotContainKey(Reason.ARGUMENT);
            assertThat(reading.timeline().info().clockErrorNs())
                    .isEqualTo(timeline.info().clockErrorNs());
            RoundTrip.assertSame(reading.timeline(), profiler.snapshot());
        }
    }

    @Test
    void samplesThatAreMissingMakeTheTableIncomplete() throws IOException {
        brick(BrickId.LM_HEAD, 30, 1);
        decode.capture(true);
        brick(BrickId.RMS_NORM, 50, 1);
        decode.capture(false);
        profiler.endPass();

        assertThat(profiler.snapshot().samples()).isEqualTo(1);
        for (RoundTrip.Format format : RoundTrip.Format.values()) {
            assertThat(Omissions.faults(format.read(recorder.timeline()).omissions()))
                    .extracting(Omission::reason)
                    .containsExactly(Reason.LOST_SPANS);
        }
    }
}
