package org.brickprofiler.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Locale;
import java.util.Optional;
import org.brickprofiler.io.AtomicFile;
import org.jspecify.annotations.Nullable;

/** Remembers why output was lost, which a print writer hides. After the first failure nothing is tried. One thread. */
final class WatchedOutput extends OutputStream {

    private final OutputStream out;
    private @Nullable IOException failure;

    WatchedOutput(OutputStream out) {
        this.out = out;
    }

    /**
     * Whether somebody misses some of the output: a reader that went away, as {@code head} does, does not.
     *
     * @return the reason; empty where nobody does
     */
    Optional<String> lost() {
        return Optional.ofNullable(failure).map(AtomicFile::reason).filter(reason -> !reason.toLowerCase(Locale.ROOT)
                .contains("pipe"));
    }

    @Override
    public void write(int octet) {
        write(new byte[] {(byte) octet}, 0, 1);
    }

    @Override
    public void write(byte[] octets, int from, int length) {
        if (failure == null) {
            try {
                out.write(octets, from, length);
            } catch (IOException failed) {
                failure = failed;
            }
        }
    }
}
