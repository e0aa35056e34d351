package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.brickprofiler.testing.AllocatedBytes;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TaskWeaverTest {

    private final List<String> seen = new ArrayList<>();

    /** Every kind of argument, a method that tasks may leave as it is, and one that makes another task. */
    private interface Wide {
        double sum(int a, long b, double c, String d, float[] e, byte f) throws Exception;

        default String name() {
            return "a task";
        }

        default Wide negated() {
            return (a, b, c, d, e, f) -> -sum(a, b, c, d, e, f);
        }
    }

    private sealed interface Closed {
        void run();
    }

    private record Only() implements Closed {
        @Override
        public void run() {}
    }

    @SuppressWarnings("unchecked")
    private static <T> T carried(Class<T> type, T task) throws Throwable {
        return (T) TaskWeaver.carrier(MethodHandles.lookup(), type).invoke(task);
    }

    private void see(Object what) {
        seen.add(what + " in " + Woven.PROFILER.currentLayer());
    }

    @BeforeEach
    void beginLayerThree() {
        Woven.PROFILER.reset();
        Woven.PROFILER.enable();
        Woven.PROFILER.startLayer(3);
    }

    @AfterEach
    void endPass() {
        Woven.PROFILER.endPass();
    }

    @Test
    void callsTheTaskWithItsArgumentsForTheLayer() throws Throwable {
        Wide task = carried(Wide.class, new Wide() {
            @Override
            public double sum(int a, long b, double c, String d, float[] e, byte f) throws Exception {
                see(d);
                if (a < 0) {
                    throw new Exception("on purpose");
                }
                return a + b + c + e[0] + f;
            }

            @Override
            public String name() {
                see("its name");
                return "my task";
            }
        });
        Woven.PROFILER.endLayer();
        Woven.PROFILER.startLayer(8);

        assertThat(task.sum(1, 20L, 300, "x", new float[] {4_000}, (byte) 5)).isEqualTo(4_326);
        assertThat(task.negated().sum(1, 2, 3, "y", new float[1], (byte) 0)).isEqualTo(-6);
        assertThat(task.name()).isEqualTo("my task");
        assertThatThrownBy(() -> task.sum(-1, 0, 0, "z", new float[1], (byte) 0))
                .hasMessage("on purpose");
        see("then");
        assertThat(seen).containsExactly("x in 3", "y in 3", "its name in 3", "z in 3", "then in 8");
    }

    @Test
    @SuppressWarnings("unchecked")
    void tasksOfTheJdkAreCarriedTooAndTheirCompositions() throws Throwable {
        Callable<String> callable = carried(Callable.class, () -> {
            see("callable");
            return "done";
        });
        Consumer<String> consumer = carried(Consumer.class, this::see);
        IntConsumer ints = carried(IntConsumer.class, this::see);
        Woven.PROFILER.endPass();

        assertThat(callable.call()).isEqualTo("done");
        consumer.andThen(value -> see(value + " again")).accept("consumer");
        ints.accept(17);
        see("then");
        assertThat(seen)
                .containsExactly("callable in 3", "consumer in 3", "consumer again in 3", "17 in 3", "then in -1");
    }

    @Test
    void outsideOfLayersATaskIsNotWrapped() throws Throwable {
        Runnable task = () -> see("it");
        @Nullable Runnable none = null;
        assertThat((Runnable) TaskWeaver.carrier(MethodHandles.lookup(), Runnable.class)
                        .invoke(none))
                .isNull();
        assertThat(carried(Runnable.class, task)).isNotSameAs(task);
        Woven.PROFILER.endPass();
        assertThat(carried(Runnable.class, task)).isSameAs(task);
    }

    @Test
    void aTaskTypeThatCannotBeImplementedIsNotWrappedAndIsReported() {
        Recorder recorder = Woven.recorder(
                Woven.PROFILER, new Recorder.StepCounts(0, () -> {}, null), new AgentLosses(seen::add), seen::add);
        Closed task = new Only();
        assertThat(recorder.carrier(MethodHandles.lookup(), Closed.class)).satisfies(carrier -> {
            Closed same = (Closed) carrier.invoke(task);
            same.run();
            assertThat(same).isSameAs(task);
        });
        assertThat(seen)
                .singleElement()
                .asString()
                .startsWith("tasks of the type org.brickprofiler.agent.TaskWeaverTest$Closed know no layer: ");
    }

    @Test
    void aCallOfATaskAllocatesNothing() throws Throwable {
        int[] turns = {0};
        IntConsumer task = carried(IntConsumer.class, value -> turns[0] += value);
        Runnable loop = () -> {
            for (int i = 0; i < 10_000; i++) {
                task.accept(1);
            }
        };
        assertThat(AllocatedBytes.fewest(10, () -> AllocatedBytes.of(loop))).isZero();
        assertThat(turns[0]).isPositive();
    }
}
