package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.brickprofiler.Backend;
import org.brickprofiler.trace.TraceInfo.Device;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class TraceModelTest {

    private static TraceInfo info(OptionalInt rank, int worldSize, long pid, long unixNs, long dropped, long errorNs) {
        return TraceInfo.builder("p", pid)
                .rank(rank, worldSize)
                .moment(-5, unixNs)
                .droppedSpans(dropped)
                .clockErrorNs(OptionalLong.of(errorNs))
                .devices(new ArrayList<>())
                .build();
    }

    @Test
    void anyMomentOfTheClockIsFineAndTheDevicesAreACopy() {
        List<Device> devices = new ArrayList<>();
        TraceInfo info = TraceInfo.builder("p", 0)
                .rank(OptionalInt.of(0), 1)
                .moment(Long.MIN_VALUE, 0)
                .devices(devices)
                .build();

        devices.add(new Device(0, "d", Backend.CPU, OptionalLong.of(0)));

        assertThat(info.devices()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "8, 8, 1, 1, 1, 1, rank 8 of 8 processes",
        "-1, 8, 1, 1, 1, 1, rank -1 of 8 processes",
        "0, 0, 1, 1, 1, 1, 'a run has at least one process, not 0'",
        "0, 1, -2, 1, 1, 1, pid -2 is negative",
        "0, 1, 1, -3, 1, 1, unixNs -3 is negative",
        "0, 1, 1, 1, -4, 1, droppedSpans -4 is negative",
        "0, 1, 1, 1, 1, -5, clockErrorNs -5 is negative",
    })
    void impossibleValuesAreRefused(
            int rank, int worldSize, long pid, long unixNs, long dropped, long errorNs, String message) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> info(OptionalInt.of(rank), worldSize, pid, unixNs, dropped, errorNs))
                .withMessage(message);
    }

    @Test
    void aParentIsAnIndexOrTheProcess() {
        assertThat(new Track(Track.Kind.DEVICE, "d", Track.PROCESS, 0).unit()).isEmpty();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Track(Track.Kind.DEVICE, "d", -2, 0))
                .withMessage("the parent of a track is an index or -1, not -2");
    }

    @Test
    void aDeviceHasAnIndexAndASize() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Device(-1, "d", Backend.CPU, OptionalLong.empty()))
                .withMessage("the index of a device is not negative: -1");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Device(1, "d", Backend.CPU, OptionalLong.of(-7)))
                .withMessage("a device's memory is not negative: -7");
    }

    @Test
    void nothingIsEarlierThanTheFirstEventOfAnyTrack() {
        assertThat(new Moments(List.of(List.of(7L, 9L), List.of(), List.of(-3L, 8L))).earliestNs())
                .isEqualTo(-3);
        assertThat(new Moments(List.of(List.of(Long.MAX_VALUE))).earliestNs()).isEqualTo(Long.MAX_VALUE);
        assertThat(new Moments(List.of(List.of())).earliestNs())
                .as("the clock's own moment")
                .isEqualTo(-5);
    }

    /** Instants only. */
    private record Moments(List<List<Long>> atNs) implements Timeline {

        @Override
        public TraceInfo info() {
            return TraceModelTest.info(OptionalInt.empty(), 1, 1, 1, 0, 0);
        }

        @Override
        public List<SpanName> names() {
            return List.of(new SpanName("n", "Other"));
        }

        @Override
        public List<Track> tracks() {
            return atNs.stream()
                    .map(moments -> new Track(Track.Kind.HOST_THREAD, "t", Track.PROCESS, 1))
                    .toList();
        }

        @Override
        public void replay(int track, TimelineVisitor visitor) {
            atNs.get(track).forEach(ns -> visitor.instant(ns, 0));
        }
    }
}
