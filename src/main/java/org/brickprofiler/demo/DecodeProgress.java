package org.brickprofiler.demo;

import java.io.PrintStream;
import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.util.Locale;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/** Tells how far decoding has come. */
interface DecodeProgress extends AutoCloseable {

    /** Tells nobody. */
    DecodeProgress SILENT = new DecodeProgress() {
        @Override
        public void step() {
            // Nobody watches.
        }

        @Override
        public void close() {
            // Nothing was opened.
        }
    };

    /**
     * Draws a bar, which a thread of its own redraws a few times a second.
     *
     * @param tokens number of tokens to come
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

    /** A token was decoded. */
    void step();

    /** The warm-up is over; what comes from now on counts. */
    default void warmedUp() {
        // A bar goes on.
    }

    /** Decoding is over. */
    @Override
    void close();
}
