package org.brickprofiler.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Optional;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.report.TextReport;
import org.brickprofiler.trace.read.ReadOptions;
import org.brickprofiler.trace.read.TraceProfile;
import org.brickprofiler.trace.read.TraceReader;
import picocli.CommandLine;

/**
 * A profile that came out of a file.
 *
 * @param file the file
 * @param snapshot the profile
 * @param trace what else is known of it where the file is a trace
 */
record ProfileInput(Path file, ProfileSnapshot snapshot, Optional<TraceProfile> trace) {

    /**
     * Reads a report or a trace, whatever the file is called.
     *
     * @param file the file
     * @param options how to read a trace
     * @return what it holds
     * @throws IOException when it cannot be read; the message names the file
     * @throws IllegalArgumentException when the options make no sense; the message names them
     */
    static ProfileInput read(Path file, TraceOptions options) throws IOException {
        ReadOptions reading = options.toReadOptions();
        return switch (InputKind.of(InputFile.requiredTwice(file))) {
            case REPORT -> report(file, options);
            case CHECKSUMS ->
                throw new IOException(file + " is a log of checksums; brick diverge compares two of them");
            case TRACE -> trace(file, reading);
        };
    }

    private static ProfileInput report(Path file, TraceOptions options) throws IOException {
        if (options.isAnySet()) {
            throw new IllegalArgumentException(
                    file + " is a report; --rules, --skip-steps and --keep-warmup are for traces");
        }
        return new ProfileInput(file, JsonReport.read(file), Optional.empty());
    }

    private static ProfileInput trace(Path file, ReadOptions options) throws IOException {
        try (InputBar bar = InputBar.of(file)) {
            TraceProfile profile = TraceReader.profile(file, options.withProgress(bar));
            return new ProfileInput(file, profile.snapshot(), Optional.of(profile));
        }
    }

    /** The report for people: of a trace, after what was and was not counted. */
    String text() {
        String above = trace.map(profile -> profile.summary() + "\n").orElse("");
        return above + TextReport.render(snapshot);
    }

    /** The exit code; says so where there is no brick. */
    int exitCode(PrintWriter err) {
        if (!snapshot.bricks().isEmpty()) {
            return CommandLine.ExitCode.OK;
        }
        Failures.tell(err, file + " holds no brick that was recorded");
        return CommandLine.ExitCode.SOFTWARE;
    }
}
