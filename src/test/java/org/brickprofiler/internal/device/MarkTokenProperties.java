package org.brickprofiler.internal.device;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.brickprofiler.internal.record.PhaseKey;
import org.brickprofiler.internal.record.TimerToken;
import org.brickprofiler.testing.Spec;

final class MarkTokenProperties {

    @Property
    void aDeviceTokenHoldsItsParts(
            @ForAll @IntRange(max = TimerToken.MAX_KEY) int key,
            @ForAll @IntRange(max = MarkToken.MAX_STREAMS - 1) int stream,
            @ForAll @LongRange(max = (1L << Marks.HANDLE_BITS) - 1) long handle,
            @ForAll boolean timed) {
        long token = MarkToken.device(key, stream, handle, timed);
        assertThat(token).isNotEqualTo(TimerToken.VOID);
        assertThat(MarkToken.isDevice(token)).isTrue();
        assertThat(MarkToken.key(token)).isEqualTo(key);
        assertThat(MarkToken.stream(token)).isEqualTo(stream);
        assertThat(MarkToken.handle(token)).isEqualTo(handle);
        assertThat(MarkToken.isTimed(token)).isEqualTo(timed);
    }

    @Property
    void anUnmarkedTokenHoldsItsPartsAndIsOneOfItsStreamAndEpochAlone(
            @ForAll @IntRange(max = TimerToken.MAX_KEY) int key,
            @ForAll @IntRange(max = PhaseKey.PHASES - 1) int phase,
            @ForAll @IntRange(max = MarkToken.MAX_STREAMS - 2) int stream,
            @ForAll @IntRange(min = 0) int epoch,
            @ForAll boolean isOwn) {
        int row = PhaseKey.of(phase, key);
        long common = MarkToken.unmarked(stream, epoch);
        long token = MarkToken.unmarked(common, MarkToken.ofRow(row), isOwn);
        assertThat(MarkToken.isDevice(token)).isTrue();
        assertThat(MarkToken.isUnmarked(token)).isTrue();
        assertThat(MarkToken.key(token)).isEqualTo(key);
        assertThat(MarkToken.row(token)).isEqualTo(row);
        assertThat(MarkToken.stream(token)).isEqualTo(stream);
        assertThat(MarkToken.isOwn(token)).isEqualTo(isOwn);
        assertThat(MarkToken.isUnmarked(token, common)).isTrue();
        assertThat(MarkToken.isUnmarkedOwn(token, common)).isEqualTo(isOwn);
        assertThat(MarkToken.isUnmarked(token, MarkToken.unmarked(stream + 1, epoch)))
                .isFalse();
        assertThat(MarkToken.isUnmarked(token, MarkToken.unmarked(stream, epoch + 1)))
                .isFalse();
        assertThat(MarkToken.isUnmarked(MarkToken.host(key, token), common)).isFalse();
        assertThat(MarkToken.isUnmarked(MarkToken.device(key, stream, Marks.NONE, isOwn), common))
                .isFalse();
    }

    @Spec("2.6")
    @Property
    void aHostTokenHoldsItsTime(
            @ForAll @IntRange(max = TimerToken.MAX_KEY) int key,
            @ForAll long startNs,
            @ForAll @LongRange(max = 1L << 49) long elapsedNs) {
        long token = MarkToken.host(key, startNs);
        assertThat(token).isNotEqualTo(TimerToken.VOID);
        assertThat(MarkToken.isDevice(token)).isFalse();
        assertThat(MarkToken.key(token)).isEqualTo(key);
        assertThat(MarkToken.elapsedNs(token, startNs + elapsedNs)).isEqualTo(elapsedNs);
    }

    @Spec("2.6")
    @Property
    void aClockThatRunsBackwardsByAMomentGivesZero(
            @ForAll long startNs, @ForAll @LongRange(max = 1L << 20) long backNs) {
        assertThat(MarkToken.elapsedNs(MarkToken.host(7, startNs), startNs - backNs))
                .isZero();
    }

    @Spec("2.6")
    @Property
    void aLongerTimeIsUnresolvedUntilTheStartWraps(
            @ForAll long startNs,
            @ForAll @LongRange(min = (1L << 49) + 1, max = (1L << 50) - (1L << 20) - 1) long longNs) {
        assertThat(MarkToken.elapsedNs(MarkToken.host(7, startNs), startNs + longNs))
                .isEqualTo(TimerToken.UNRESOLVED);
    }

    @Example
    void theVoidTokenHasNoKey() {
        assertThat(MarkToken.key(TimerToken.VOID)).isEqualTo(-1);
        assertThat(MarkToken.isDevice(TimerToken.VOID)).isFalse();
    }
}
