package org.brickprofiler.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.OptionalInt;

/** A terminal whose keys a test presses, and whose output it reads. */
final class FakeTerminal implements TopTerminal {

    private final StringWriter text = new StringWriter();
    private final Deque<Integer> keys = new ArrayDeque<>();

    final PrintWriter out = new PrintWriter(text);
    TopPage.Size size = new TopPage.Size(24, 80, true, false, true);
    int restored;

    void press(int key) {
        keys.add(key);
    }

    /** Returns the output since the last call. */
    String written() {
        out.flush();
        String written = text.toString();
        text.getBuffer().setLength(0);
        return written;
    }

    @Override
    public TopPage.Size size() {
        return size;
    }

    /** Returns the next key at once; without one, waits as long as a person who presses none. */
    @Override
    public OptionalInt key(Duration time) {
        Integer key = keys.poll();
        if (key != null) {
            return OptionalInt.of(key);
        }
        long endNs = System.nanoTime() + time.toNanos();
        while (System.nanoTime() < endNs) {
            Thread.onSpinWait();
        }
        return OptionalInt.empty();
    }

    @Override
    public void restore() {
        restored++;
    }
}
