package org.brickprofiler.agent;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import org.brickprofiler.Brick;
import org.brickprofiler.BrickId;

/** The classes that the tests weave: the shapes of code in engines, without calls of a profiler. */
public class Engine {

    static final int FAILING = 7;

    private final int dim = 12;
    private final Shape shape = new Shape();
    float[] state = new float[4];

    /** A type whose sizes a rule may read. */
    static final class Shape {
        final long rows = 3;

        int columns() {
            return 5;
        }

        int failing() {
            throw new IllegalStateException("on purpose");
        }

        boolean isSquare() {
            return false;
        }
    }

    static double product(int n) {
        double sum = 0;
        for (int i = 0; i < n; i++) {
            sum += Math.sqrt(i);
        }
        return sum;
    }

    static void softmax() {}

    static void fail(int at) {
        if (at == FAILING) {
            throw new IllegalStateException("at " + at);
        }
    }

    double forward(int[] tokens, int layers) {
        double x = 0;
        for (int layer = 0; layer < layers; layer++) {
            x += product(10);
            x += product(20) + product(30);
            softmax();
        }
        return x;
    }

    /**
     * Leaves the span between product and softmax by a jump, a return, an exception that it catches, or one that it
     * does not.
     */
    int leave(int how) {
        int turns = 0;
        for (int i = 0; i < 3; i++) {
            try {
                product(i);
                turns++;
                if (how == 1 && i == 1) {
                    break;
                }
                if (how == 2 && i == 1) {
                    continue;
                }
                if (how == 3 && i == 1) {
                    return turns;
                }
                fail(how == 4 && i == 1 ? FAILING : 0);
                softmax();
            } catch (IllegalStateException caught) {
                turns += 10;
            }
        }
        fail(how == 5 ? FAILING : 0);
        return turns;
    }

    long factorial(int n) {
        return n <= 1 ? 1 : n * factorial(n - 1);
    }

    @Brick(value = BrickId.SAMPLING, elements = "1 or 2")
    static void sample() {}

    int reassigned(int[] tokens, int count) {
        tokens = new int[count];
        softmax();
        return tokens.length;
    }

    void lambdas(int heads, AtomicInteger calls) {
        each(heads, head -> {
            product(head);
            softmax();
            calls.incrementAndGet();
        });
        each(heads, Math::abs);
    }

    static void each(int count, IntConsumer task) {
        for (int i = 0; i < count; i++) {
            task.accept(i);
        }
    }

    /** Runs something in each layer, first on this thread and then on another. */
    void pass(int layers, Runnable look) throws InterruptedException {
        for (int layer = 0; layer < layers; layer++) {
            product(layer);
            look.run();
            onThread(look);
        }
    }

    /** A task of the engine's own. */
    interface Task {
        void run(int from, int to);

        default int grain() {
            return 1;
        }
    }

    /** An interface with two methods to implement, which the agent does not accept as a task. */
    interface Unit extends Task {
        void stop();
    }

    /** A task that sets the size of its parts. */
    record Parts(IntConsumer look) implements Task {
        @Override
        public void run(int from, int to) {
            product(from);
            look.accept(to);
        }

        @Override
        public int grain() {
            return 2;
        }
    }

    /** Goes through layers in some order. */
    void blocks(int[] order, IntConsumer look) throws InterruptedException {
        for (int index : order) {
            block(index, look);
        }
    }

    /** Looks on this thread, and then on others. */
    void block(int index, IntConsumer look) throws InterruptedException {
        look.accept(-1);
        inParts(4, new Parts(look));
    }

    static void inParts(int count, Task task) throws InterruptedException {
        for (int i = 0; i < count; i += task.grain()) {
            int from = i;
            onThread(() -> task.run(from, from + task.grain()));
        }
    }

    static void either(Task one, Task other) {
        one.run(0, other.grain());
    }

    static void unit(Unit unit) {
        unit.stop();
    }

    static void onThread(Runnable task) throws InterruptedException {
        Thread thread = new Thread(task);
        thread.start();
        thread.join();
    }

    /** Processes a prompt in parts, of which the last one gives a token, and then generates {@code tokens} more. */
    int generate(int[][] parts, int tokens) {
        int position = 0;
        int given = 0;
        for (int i = 0; i < parts.length + tokens; i++) {
            if (i < parts.length) {
                evaluate(this, parts[i], 2.5, position, i == parts.length - 1);
                position += parts[i].length;
                if (i < parts.length - 1) {
                    continue;
                }
            } else {
                evaluate(this, new int[1], 0.5, position++, true);
            }
            softmax();
            given++;
        }
        return 100 * position + given;
    }

    static long evaluate(Engine engine, int[] part, double scale, long position, boolean gives) {
        return gives ? part.length : 0;
    }

    int tolerant(Shape other) {
        return other == null ? -1 : 1;
    }

    int size(Shape other) {
        return other.columns();
    }

    static synchronized long wide(long a, double b, long c) {
        long x = a;
        String text = "";
        if (b > 1) {
            long y = c + x;
            text = "y" + y;
            softmax();
        } else {
            double z = b;
            text = z + "";
        }
        try {
            fail((int) a);
        } finally {
            softmax();
        }
        return text.length();
    }

    int overloaded(int x) {
        return x;
    }

    int overloaded(float[] x) {
        return x.length;
    }

    void endless(boolean first) {
        if (first) {
            softmax();
        } else {
            product(1);
        }
    }

    native void nothing();

    /** For a rule that names a method without code. */
    public interface Kernel {
        void run(int n);
    }
}
