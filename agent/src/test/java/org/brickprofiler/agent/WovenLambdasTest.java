package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Lambdas of which several could be meant. */
class WovenLambdasTest {

    /** Passes lambdas to calls. */
    static final class Lambdas {
        private static int sum;

        private int count;

        @Override
        public String toString() {
            return sum + " of " + count;
        }

        private static void both(IntSupplier first, Supplier<String> second) {
            sum += first.getAsInt() + second.get().length();
        }

        private static void named(String name, IntSupplier task) {
            sum += task.getAsInt() + name.length();
        }

        void hoisted(int n) {
            IntSupplier task = () -> count += n;
            Supplier<String> name = () -> "task " + n;
            named(name.get() + name.get(), task);
        }

        void afterALoop(int n) {
            IntSupplier task = () -> count += n;
            for (int i = 0; i < n; i++) {
                named(n > 1 ? "many" : "one", task);
            }
        }

        void given(int n) {
            given(n, () -> count);
        }

        private void given(int n, IntSupplier task) {
            IntSupplier other = () -> count += n;
            named("other " + other.getAsInt(), task);
        }

        void chosen(int n) {
            IntSupplier task = n > 1 ? () -> count += n : () -> count--;
            named("chosen", task);
        }

        void pair(int n) {
            both(() -> count += n, () -> "second");
        }
    }

    private static Weaver.Result lambda(String method, String call) throws Exception {
        return Woven.result(
                Lambdas.class,
                "bricks:\n  - in: " + Lambdas.class.getName() + "." + method + "\n    lambda: " + call
                        + "\n    brick: SAMPLING\n    elements: n\n");
    }

    @ParameterizedTest
    @CsvSource({"hoisted, 1", "afterALoop, 3"})
    void weavesTheLambdaThatIsPassedThroughAVariable(String method, int count) throws Exception {
        Class<?> woven = Woven.load(
                Lambdas.class,
                "bricks:\n  - in: " + Lambdas.class.getName() + "." + method
                        + "\n    lambda: named\n    brick: SAMPLING\n    elements: n\n");
        Constructor<?> constructor = woven.getDeclaredConstructor();
        constructor.setAccessible(true);
        Method called = woven.getDeclaredMethod(method, int.class);
        called.setAccessible(true);
        called.invoke(constructor.newInstance(), 3);
        assertThat(Woven.recorded()).isEqualTo("{Sampling=" + count + "/" + 3 * count + "}");
    }

    @ParameterizedTest
    @CsvSource({
        "'given(int, IntSupplier)', named, 'given passes no lambda to named of which this is certain'",
        "chosen, named, 'chosen passes no lambda to named of which this is certain'",
        "pair, both, 'both takes 2 lambdas, and a rule cannot say which'"
    })
    void refusesALambdaThatIsNotCertain(String method, String call, String message) throws Exception {
        Weaver.Result result = lambda(method, call);
        assertThat(result.bytes()).isNull();
        assertThat(Woven.messages(result)).singleElement().asString().startsWith("2: " + message);
    }
}
