package org.brickprofiler.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.cli.Terminal.InputBar;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.report.TextReport;
import org.brickprofiler.trace.read.ReadOptions;
import org.brickprofiler.trace.read.TraceProfile;
import org.brickprofiler.trace.read.TraceReader;
import org.brickprofiler.trace.read.TraceRules;
import org.brickprofiler.trace.read.TraceTimeline;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine;

/** What the commands read: reports of this library, traces, and logs of checksums, distinguished by their content. */
final class Input {

    private Input() {}

    /**
     * Checks that there is something to read.
     *
     * @param file the path
     * @return the same path
     * @throws IOException when there is nothing, or a folder
     */
    static Path required(Path file) throws IOException {
        if (Files.notExists(file)) {
            throw cannotRead(file, "it does not exist");
        }
        if (Files.isDirectory(file)) {
            throw cannotRead(file, "it is a folder");
        }
        return file;
    }

    /**
     * Checks that there is a file, which can be read more than once.
     *
     * @param file the path
     * @return the same path
     * @throws IOException when there is none
     */
    static Path requiredTwice(Path file) throws IOException {
        if (!Files.isRegularFile(required(file))) {
            throw cannotRead(file, "it is no file but a pipe or a device; save what comes out of it first");
        }
        return file;
    }

    /**
     * Whether a file is a report of this library, by its content.
     *
     * @param file a file that can be read more than once
     * @return false also where it cannot be read
     */
    static boolean isReport(Path file) {
        return Kind.of(file) == Kind.REPORT;
    }

    private static IOException cannotRead(Path file, String reason) {
        return new IOException("cannot read " + file + ": " + reason);
    }

    /**
     * Reads the timeline of a trace, whatever the file is called.
     *
     * @param file a file that can be read more than once
     * @return what it holds, to be closed
     * @throws IOException when it cannot be read, or is no trace; the message names the file
     */
    static TraceTimeline timeline(Path file) throws IOException {
        return switch (Kind.of(file)) {
            case REPORT -> throw new IOException(file + " is a report: it holds sums, from which no timeline is made");
            case CHECKSUMS -> throw new IOException(file + " is a log of checksums, and no trace");
            case TRACE -> {
                try (InputBar bar = InputBar.of(file)) {
                    yield TraceReader.timeline(file, ReadOptions.defaults().withProgress(bar));
                }
            }
        };
    }

    /**
     * A profile that came out of a file.
     *
     * @param file the file
     * @param snapshot the profile
     * @param trace what else is known of it where the file is a trace
     */
    record Profile(Path file, ProfileSnapshot snapshot, Optional<TraceProfile> trace) {

        /**
         * Reads a report or a trace, whatever the file is called.
         *
         * @param file the file
         * @param options how to read a trace
         * @return what it holds
         * @throws IOException when it cannot be read; the message names the file
         * @throws IllegalArgumentException when the options make no sense; the message names them
         */
        static Profile read(Path file, TraceOptions options) throws IOException {
            options.check();
            return switch (Kind.of(requiredTwice(file))) {
                case REPORT -> report(file, options);
                case CHECKSUMS ->
                    throw new IOException(file + " is a log of checksums; brick diverge compares two of them");
                case TRACE -> trace(file, options.toReadOptions());
            };
        }

        private static Profile report(Path file, TraceOptions options) throws IOException {
            if (options.isAnySet()) {
                throw new IllegalArgumentException(
                        file + " is a report; --rules, --skip-steps and --keep-warmup are for traces");
            }
            return new Profile(file, JsonReport.read(file), Optional.empty());
        }

        private static Profile trace(Path file, ReadOptions options) throws IOException {
            try (InputBar bar = InputBar.of(file)) {
                TraceProfile profile = TraceReader.profile(file, options.withProgress(bar));
                return new Profile(file, profile.snapshot(), Optional.of(profile));
            }
        }

        /** The report for people: of a trace, after what was and was not counted. */
        String text() {
            String above = trace.map(profile -> profile.summary() + "\n").orElse("");
            return above + TextReport.render(snapshot);
        }

        /** The exit code; reports where there is no brick. */
        int exitCode(PrintWriter err) {
            if (!snapshot.bricks().isEmpty()) {
                return CommandLine.ExitCode.OK;
            }
            Brick.report(err, file + " holds no brick that was recorded");
            return CommandLine.ExitCode.SOFTWARE;
        }
    }

    /** How a trace is to be read. The fields are filled by picocli. */
    static final class TraceOptions {

        @Option(
                names = "--rules",
                paramLabel = "FILE",
                description = "Traces: which kernels are which bricks, a rule in each line such as RmsNorm <- "
                        + "name=/rms_?norm/i; asked before the built-in rules.")
        private @Nullable Path rules;

        @Option(
                names = "--skip-steps",
                paramLabel = "N",
                description = "Traces: leave out the first N steps (ProfilerStep#) and what is before them.")
        private int skipSteps;

        @Option(names = "--keep-warmup", description = "Traces: count what is or looks like warm-up, too.")
        private boolean keepWarmup;

        /** Whether any option was set. */
        boolean isAnySet() {
            return rules != null || skipSteps != 0 || keepWarmup;
        }

        /**
         * Checks what can be checked without a trace.
         *
         * @throws IllegalArgumentException when an option makes no sense; the message names it
         */
        void check() {
            if (skipSteps < 0) {
                throw new IllegalArgumentException("--skip-steps " + skipSteps + " is negative");
            }
        }

        /**
         * The options for the reader. Compiles the built-in rules, which a report needs no time for.
         *
         * @throws IOException when the rules cannot be read
         * @throws IllegalArgumentException when a rule makes no sense; the message names line and column
         */
        ReadOptions toReadOptions() throws IOException {
            TraceRules all = rules == null
                    ? TraceRules.builtIn()
                    : TraceRules.load(required(rules)).then(TraceRules.builtIn());
            return ReadOptions.defaults().withRules(all).withSkipSteps(skipSteps).withKeepWarmup(keepWarmup);
        }
    }

    /** What a file holds, by its content. */
    private enum Kind {
        /** A report of ours. */
        REPORT,
        /** A log of checksums. */
        CHECKSUMS,
        /** Anything else: the reader of traces knows which, or what is wrong with it. */
        TRACE;

        private static final JsonFactory FACTORY = new JsonFactory();

        /**
         * Looks at the keys of the outermost object, up to the first one that decides.
         *
         * @param file a file that can be read more than once
         * @return its kind; also of a file that cannot be read, so that its reader says why
         */
        static Kind of(Path file) {
            Signs signs = new Signs();
            try (InputStream bytes = Files.newInputStream(file);
                    JsonParser json = FACTORY.createParser(bytes)) {
                signs.read(json);
            } catch (IOException unreadable) {
                return signs.kind();
            }
            return signs.kind();
        }

        /** What was seen so far. */
        private static final class Signs {
            private boolean version;
            private boolean bricks;
            private boolean events;
            private boolean checksums;

            void read(JsonParser json) throws IOException {
                if (json.nextToken() != JsonToken.START_OBJECT) {
                    return;
                }
                while (!bricks && !events && !checksums && json.nextToken() == JsonToken.FIELD_NAME) {
                    String key = json.currentName();
                    JsonToken value = json.nextToken();
                    switch (key) {
                        case "schema_version" -> version = true;
                        case "bricks" -> bricks = true;
                        case "traceEvents" -> events = true;
                        case "kind" -> checksums = value == JsonToken.VALUE_STRING
                                && json.getText().equals("brick-checksums");
                        default -> {
                            // Says nothing.
                        }
                    }
                    json.skipChildren();
                }
            }

            Kind kind() {
                if (checksums) {
                    return CHECKSUMS;
                }
                // A report that is cut off before its bricks is a report.
                return bricks || (version && !events) ? REPORT : TRACE;
            }
        }
    }
}
