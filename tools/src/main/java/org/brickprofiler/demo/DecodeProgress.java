package org.brickprofiler.demo;

import java.io.PrintStream;
import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.util.Locale;
import jdk.jfr.Recording;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.brickprofiler.trace.TraceRecorder;

/** Follows the progress of decoding. */
interface DecodeProgress extends AutoCloseable {

    /** Shows nothing. */
    DecodeProgress SILENT = new DecodeProgress() {
        @Override
        public void step() {
            // No progress is shown.
        }

        @Override
        public void close() {
            // Nothing was opened.
        }
    };

    /**
     * Returns a progress bar, which a separate thread redraws a few times a second.
     *
     * @param tokens the number of tokens to come
     * @param out a terminal
     */
    static DecodeProgress bar(int tokens, PrintStream out) {
        int columns = 79;
        ProgressBar bar = new ProgressBarBuilder()
                .setTaskName("Decoding")
                .setInitialMax(tokens)
                .setUnit(" tokens", 1)
                .showSpeed(new DecimalFormat("0.0", DecimalFormatSymbols.getInstance(Locale.ROOT)))
                .setStyle(ProgressBarStyle.ASCII)
                .setUpdateIntervalMillis(200)
                .setConsumer(new ConsoleProgressBarConsumer(out, columns))
                .build();
        return new DecodeProgress() {
            @Override
            public void step() {
                bar.step();
            }

            @Override
            public void close() {
                bar.close();
            }
        };
    }

    /**
     * Returns a progress that also sets counters on a timeline: tokens per second, and the heap in use. It clears the
     * timeline after the warm-up.
     *
     * @param inner the progress that follows as well
     * @param trace the timeline
     */
    static DecodeProgress counted(DecodeProgress inner, TraceRecorder trace) {
        TraceRecorder.Counter tokensPerSecond = trace.counter("tokens/s", "tokens/s");
        TraceRecorder.Counter heapBytes = trace.counter("heap in use", "bytes");
        return new DecodeProgress() {
            private long lastNs = System.nanoTime();

            @Override
            public void step() {
                long now = System.nanoTime();
                tokensPerSecond.set(1e9 / Math.max(1, now - lastNs));
                lastNs = now;
                Runtime runtime = Runtime.getRuntime();
                heapBytes.set((double) runtime.totalMemory() - runtime.freeMemory());
                inner.step();
            }

            @Override
            public void warmedUp() {
                trace.clear();
                inner.warmedUp();
            }

            @Override
            public void close() {
                inner.close();
            }
        };
    }

    /**
     * Returns a progress that also starts a flight recording after the warm-up.
     *
     * @param inner the progress that follows as well
     * @param recording a recording that has not begun
     */
    static DecodeProgress recorded(DecodeProgress inner, Recording recording) {
        return new DecodeProgress() {
            @Override
            public void step() {
                inner.step();
            }

            @Override
            public void warmedUp() {
                recording.start();
                inner.warmedUp();
            }

            @Override
            public void close() {
                inner.close();
            }
        };
    }

    /** Counts a decoded token. */
    void step();

    /** Ends the warm-up; later tokens count. */
    default void warmedUp() {
        // A bar goes on.
    }

    /** Ends the progress, because decoding is over. */
    @Override
    void close();
}
