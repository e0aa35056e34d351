package org.brickprofiler.agent;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.IntToLongFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Lambda expressions, texts and records of all kinds, for {@link LinkedClassesTest}. */
public final class LinkedSample implements Callable<List<String>> {

    private final List<String> said = new ArrayList<>();
    private final Map<String, Integer> numbers = new HashMap<>(Map.of("one", 1));

    /** Creates the sample. */
    public LinkedSample() {}

    private record Point(
            int x,
            long y,
            double z,
            boolean flag,
            char letter,
            String name,
            @Nullable Object none,
            List<Object> all) {}

    private record Measured<T extends Number>(T value) {
        long asLong(ToLongFunction<Measured<T>> function) {
            return function.applyAsLong(this);
        }
    }

    private final class Inner {
        private String hidden(String text) {
            return "hidden " + text + said.size();
        }

        UnaryOperator<String> own() {
            return this::hidden;
        }
    }

    private static int twice(int number) {
        return 2 * number;
    }

    private String prefixed(Object text) {
        return said.size() + ": " + text;
    }

    private void say(Object text) {
        said.add(prefixed(text));
    }

    @Override
    public List<String> call() throws Exception {
        long wide = 5_000_000_000L;
        byte small = -3;
        char letter = 'x';
        String nothing = null;
        Supplier<String> captures = () -> wide + "," + small + letter + nothing + '\0' + 1.5f + true;
        say(captures.get());
        say(((Supplier<?>) ArrayList<String>::new).get());
        say(((Function<String, Object>) StringBuilder::new).apply("new"));
        say(((IntFunction<int[]>) int[]::new).apply(3).length);
        IntToLongFunction widens = LinkedSample::twice;
        say(widens.applyAsLong(21));
        ToLongFunction<Integer> unboxes = number -> number;
        say(unboxes.applyAsLong(7));
        ToDoubleFunction<Integer> unboxesAndWidens = Integer::intValue;
        say(unboxesAndWidens.applyAsDouble(8));
        Function<Integer, Integer> boxes = LinkedSample::twice;
        say(boxes.apply(4));
        BiFunction<String, Object, Boolean> ofReceiver = String::equals;
        say(ofReceiver.apply("a", "a"));
        ToLongFunction<String> erased = numbers::get;
        say(erased.applyAsLong("one"));
        say(new Measured<>(9).asLong(Measured<Integer>::value));
        LongSupplier bound = "bound"::hashCode;
        say(bound.getAsLong());
        Runnable discards = new AtomicInteger()::incrementAndGet;
        discards.run();
        say(new Inner().own().apply("text"));
        List<String> words = new ArrayList<>(List.of("pear", "fig", "apple"));
        words.sort(Comparator.comparing(String::length)
                .thenComparing(Comparator.<String>naturalOrder().reversed()));
        say(words);
        Point one = new Point(1, 2, Double.NaN, true, 'c', "p", null, List.of("q"));
        Point same = new Point(1, 2, Double.NaN, true, 'c', "p", null, List.of("q"));
        Object text = "p";
        say(one + " " + one.hashCode() + one.equals(same) + one.equals(text)
                + one.equals(new Point(1, 2, 0, true, 'c', "p", null, List.of())));
        Object measured = new Measured<>(1);
        say(new Measured<>(1L).toString() + new Measured<>(1L).equals(measured));
        Callable<String> nested = () -> ((Supplier<String>) () -> "nested" + wide).get();
        say(nested.call());
        return said;
    }
}
