package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** A brick recorded by its key or by its name has the same samples as a known one recorded by its id. */
@Spec("2.9")
final class DynamicBricksTest {

    private static final int NO_BRICK = 4_000;

    private final FakeClock clock = new FakeClock(1_000_000);
    private final BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();
    private final int key;

    DynamicBricksTest() {
        profiler.enable();
        key = profiler.brickKey("mine", BrickCategory.FFN);
    }

    private BrickStats mine() {
        return profiler.stats("mine").orElseThrow();
    }

    private Runnable takes(long ns) {
        return () -> clock.advance(ns);
    }

    private Supplier<String> answers(long ns) {
        return () -> {
            clock.advance(ns);
            return "answer";
        };
    }

    @Test
    void bytesAreRecordedByKey() {
        profiler.recordBytes(key, 10, 2, 100, 25);
        profiler.recordBytes("mine", 10, 2, 100, 25);

        assertThat(mine().count()).isEqualTo(2);
        assertThat(mine().totalBytes()).isEqualTo(200);
        assertThat(mine().totalCompressedBytes()).isEqualTo(50);
        assertThat(mine().category()).isEqualTo(BrickCategory.FFN);
    }

    @Test
    void cyclesAreRecordedByKey() {
        profiler.recordCycles(key, 10, 2, 300);
        profiler.recordCycles("mine", 10, 2, 100);

        assertThat(mine().totalCycles()).isEqualTo(400);
        assertThat(mine().minCycles()).isEqualTo(100);
        assertThat(mine().maxCycles()).isEqualTo(300);
    }

    @Test
    void deferredMeasurementsAreRecordedByKey() {
        profiler.recordDeferred(key, 10, 3);
        assertThat(profiler.pendingCount()).isEqualTo(1);
        profiler.finalize(100);

        assertThat(mine().totalNs()).isEqualTo(90);
        assertThat(mine().totalElements()).isEqualTo(3);
    }

    @Test
    void codeIsTimedByKeyAndByName() {
        profiler.time(key, 1, takes(10));
        profiler.time("mine", 1, takes(20));
        assertThat(profiler.<String>time(key, 1, answers(30))).isEqualTo("answer");
        assertThat(profiler.<String>time("mine", 1, answers(40))).isEqualTo("answer");
        profiler.time("RmsNorm", 1, takes(5));

        assertThat(mine().count()).isEqualTo(4);
        assertThat(mine().totalNs()).isEqualTo(100);
        assertThat(mine().totalElements()).isEqualTo(4);
        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(5);
    }

    @Test
    void codeThatThrowsIsTimed() {
        IllegalStateException thrown = new IllegalStateException("from the body");
        Runnable throwing = () -> {
            clock.advance(7);
            throw thrown;
        };
        Supplier<String> alsoThrowing = () -> {
            throwing.run();
            return "";
        };
        assertThatThrownBy(() -> profiler.time(key, 1, throwing)).isSameAs(thrown);
        assertThatThrownBy(() -> profiler.time("mine", 1, throwing)).isSameAs(thrown);
        assertThatThrownBy(() -> profiler.<String>time(key, 1, alsoThrowing)).isSameAs(thrown);
        assertThatThrownBy(() -> profiler.<String>time("mine", 1, alsoThrowing)).isSameAs(thrown);

        assertThat(mine().count()).isEqualTo(4);
        assertThat(mine().totalNs()).isEqualTo(28);
    }

    @Test
    void scopesAreOpenedByKeyAndByName() {
        try (BrickScope scope = profiler.scope(key, 2)) {
            assertThat(scope).isNotNull();
            clock.advance(10);
        }
        try (BrickScope scope = profiler.scope("mine", 3)) {
            assertThat(scope).isNotNull();
            clock.advance(20);
        }
        assertThat(mine().totalNs()).isEqualTo(30);
        assertThat(mine().totalElements()).isEqualTo(5);
    }

    @Test
    void nothingIsRecordedWhileOff() {
        profiler.disable();
        profiler.recordBytes(key, 10, 2, 100, 25);
        profiler.recordCycles(key, 10, 2, 100);
        profiler.recordDeferred(key, 10, 3);
        profiler.time(key, 1, takes(10));
        profiler.time("mine", 1, takes(10));
        assertThat(profiler.<String>time("mine", 1, answers(10))).isEqualTo("answer");
        assertThat(profiler.scope(key, 1)).isSameAs(profiler.scope("mine", 1)).isSameAs(profiler.scope("new", 1));

        assertThat(profiler.stats("mine")).isEmpty();
        assertThat(profiler.stats("new")).isEmpty();
        assertThat(profiler.hasPending()).isFalse();
    }

    @Test
    void invalidKeysNamesAndAmountsAreRefusedBeforeTheCodeRuns() {
        List<String> ran = new ArrayList<>();
        Runnable body = () -> ran.add("body");
        Supplier<Boolean> answer = () -> ran.add("body");
        List<Consumer<BrickProfiler>> byKey = List.of(
                p -> p.recordBytes(NO_BRICK, 1, 1, 1, 1),
                p -> p.recordCycles(NO_BRICK, 1, 1, 1),
                p -> p.recordDeferred(NO_BRICK, 1, 1),
                p -> p.time(NO_BRICK, 1, body),
                p -> p.time(NO_BRICK, 1, answer),
                p -> p.scope(NO_BRICK, 1));
        List<Consumer<BrickProfiler>> negative = List.of(
                p -> p.recordBytes(key, 1, 1, 1, -77),
                p -> p.recordCycles(key, 1, 1, -77),
                p -> p.recordDeferred(key, 1, -77),
                p -> p.time(key, -77, body),
                p -> p.time(key, -77, answer),
                p -> p.time("mine", -77, body),
                p -> p.time("mine", -77, answer),
                p -> p.scope(key, -77),
                p -> p.scope("mine", -77));
        List<Consumer<BrickProfiler>> nameless =
                List.of(p -> p.time("", 1, body), p -> p.time("", 1, answer), p -> p.scope("", 1));

        for (boolean on : new boolean[] {true, false}) {
            if (!on) {
                profiler.disable();
            }
            byKey.forEach(call -> assertThatIllegalArgumentException()
                    .isThrownBy(() -> call.accept(profiler))
                    .withMessageContaining(" " + NO_BRICK));
            negative.forEach(call -> assertThatIllegalArgumentException()
                    .isThrownBy(() -> call.accept(profiler))
                    .withMessageContaining("-77"));
            nameless.forEach(call -> assertThatIllegalArgumentException()
                    .isThrownBy(() -> call.accept(profiler))
                    .withMessageContaining("empty"));
        }
        assertThat(ran).isEmpty();
        assertThat(profiler.allBrickStats()).isEmpty();
        assertThat(profiler.hasPending()).isFalse();
    }
}
