package org.brickprofiler.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.checksum.ChecksumLog;
import org.brickprofiler.cli.Terminal.InputBar;
import org.brickprofiler.internal.io.InputFile;
import org.brickprofiler.report.ChecksumFile;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.report.TextReport;
import org.brickprofiler.trace.read.Omission;
import org.brickprofiler.trace.read.ReadOptions;
import org.brickprofiler.trace.read.TraceFormatException;
import org.brickprofiler.trace.read.TraceProfile;
import org.brickprofiler.trace.read.TraceProfile.Disturbance;
import org.brickprofiler.trace.read.TraceProfile.Placement;
import org.brickprofiler.trace.read.TraceProfile.Range;
import org.brickprofiler.trace.read.TraceProfile.VirtualMachine;
import org.brickprofiler.trace.read.TraceReader;
import org.brickprofiler.trace.read.TraceRules;
import org.brickprofiler.trace.read.TraceTimeline;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

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

    private static IOException cannotRead(Path file, String reason) {
        return new IOException("cannot read " + file + ": " + reason);
    }

    /**
     * Checks that a result can be written after a long run, and not over what it is made from.
     *
     * @param in what is read
     * @param out where to write; what is neither a file nor a folder is not tried
     * @throws IOException when there is nothing to read
     * @throws IllegalArgumentException when it cannot be written; the message says why
     */
    static void requireOutput(Path in, Path out) throws IOException {
        boolean isFile = !in.equals(Opened.STANDARD_INPUT) && Files.isRegularFile(required(in));
        if (isFile && Files.exists(out) && Files.isSameFile(in, out)) {
            throw new IllegalArgumentException("cannot write " + out + ": it is the input");
        }
        if (!Files.exists(out) || Files.isRegularFile(out) || Files.isDirectory(out)) {
            OutputFile.requireWritable(out);
        }
    }

    /**
     * Reads the timeline of a trace, whatever the file is called.
     *
     * @param file a file, a pipe, or {@code -}
     * @param salvage whether to read a damaged trace up to the damage
     * @return what it holds, to be closed
     * @throws IOException when it cannot be read, or is no trace; the message names the file
     */
    static TraceTimeline timeline(Path file, boolean salvage) throws IOException {
        try (Opened input = new Opened(file)) {
            return switch (input.kind()) {
                case REPORT ->
                    throw new IOException(input.name + " is a report: it holds sums, from which no timeline is made");
                case CHECKSUMS -> throw new IOException(input.name + " is a log of checksums, and no trace");
                case TRACE ->
                    input.trace(
                            ReadOptions.defaults().withSalvage(salvage), TraceReader::timeline, TraceReader::timeline);
            };
        }
    }

    /**
     * Reads a log of checksums.
     *
     * @param file a file, a pipe, or {@code -}
     * @return what it holds
     * @throws IOException when it cannot be read, or is no log; the message names the file
     */
    static ChecksumLog checksums(Path file) throws IOException {
        try (Opened input = new Opened(file)) {
            return ChecksumFile.read(input.bytes, input.name);
        }
    }

    /** What is read, once: it may come out of a pipe. One thread. */
    private static final class Opened implements Closeable {

        /** What a person types for the standard input. */
        static final Path STANDARD_INPUT = Path.of("-");

        /** What is looked at to know the kind. */
        private static final int LOOKAHEAD_BYTES = 1 << 18;

        private final Path file;
        private final String name;
        private final BufferedInputStream bytes;

        Opened(Path file) throws IOException {
            boolean isStandardInput = file.equals(STANDARD_INPUT);
            this.file = file;
            this.name = isStandardInput ? "the standard input" : file.toString();
            this.bytes =
                    new BufferedInputStream(isStandardInput ? System.in : new Unasked(InputFile.open(required(file))));
        }

        /** Does not ask how much there is: where that is a pipe, the answer is a failure. */
        private static final class Unasked extends FilterInputStream {
            Unasked(InputStream in) {
                super(in);
            }

            @Override
            public int available() {
                return 0;
            }
        }

        Kind kind() throws IOException {
            bytes.mark(LOOKAHEAD_BYTES);
            byte[] head = bytes.readNBytes(LOOKAHEAD_BYTES);
            bytes.reset();
            return Kind.of(head);
        }

        ProfileSnapshot report() throws IOException {
            return JsonReport.read(bytes, name);
        }

        /** Reads a trace in one way or another. */
        interface Reading<T> {
            T read(InputStream trace, String source, ReadOptions options) throws IOException;
        }

        /** The same from a file, which a database has to be. */
        interface FileReading<T> {
            T read(Path file, ReadOptions options) throws IOException;
        }

        <T> T trace(ReadOptions options, FileReading<T> ofFile, Reading<T> ofStream) throws IOException {
            boolean isFile = Files.isRegularFile(file);
            // What is no file has no size that is known.
            try (InputBar bar = InputBar.of(file, isFile ? Files.size(file) : 0)) {
                ReadOptions watched = options.withProgress(bar);
                return isFile ? ofFile.read(file, watched) : ofStream.read(bytes, name, watched);
            } catch (TraceFormatException refused) {
                if (refused.isDamage() && !options.salvage()) {
                    throw new IOException(refused.getMessage() + "; --salvage reads what stands before it", refused);
                }
                throw refused;
            }
        }

        @Override
        public void close() throws IOException {
            if (!file.equals(STANDARD_INPUT)) {
                bytes.close();
            }
        }
    }

    /**
     * A profile that came out of a file.
     *
     * @param name what to call it in messages
     * @param snapshot the profile
     * @param trace what else is known of it where the file is a trace
     */
    record Profile(String name, ProfileSnapshot snapshot, Optional<TraceProfile> trace) {

        /**
         * Reads a report or a trace, whatever the file is called.
         *
         * @param file a file, a pipe, or {@code -}
         * @param options how to read a trace
         * @return what it holds
         * @throws IOException when it cannot be read; the message names the file
         * @throws IllegalArgumentException when the options make no sense; the message names them
         */
        static Profile read(Path file, TraceOptions options) throws IOException {
            options.check();
            try (Opened input = new Opened(file)) {
                return switch (input.kind()) {
                    case REPORT -> report(input, options);
                    case CHECKSUMS ->
                        throw new IOException(
                                input.name + " is a log of checksums; brick diverge compares two of them");
                    case TRACE -> trace(input, options.toReadOptions());
                };
            }
        }

        private static Profile report(Opened input, TraceOptions options) throws IOException {
            if (options.isAnySet()) {
                throw new IllegalArgumentException(
                        input.name + " is a report; --rules, --skip-steps, --keep-warmup and --salvage are for traces");
            }
            return new Profile(input.name, input.report(), Optional.empty());
        }

        private static Profile trace(Opened input, ReadOptions options) throws IOException {
            TraceProfile profile = input.trace(options, TraceReader::profile, TraceReader::profile);
            return new Profile(input.name, profile.snapshot(), Optional.of(profile));
        }

        /** The report for people: of a trace, after what was and was not counted. */
        String text() {
            String above = trace.map(profile -> profile.summary() + "\n").orElse("");
            return above + TextReport.render(snapshot);
        }

        /**
         * What a report in JSON holds besides the profile: of a trace, how it is known what its products are, in which
         * ranges they were launched, and what the virtual machine did meanwhile.
         */
        Map<String, ?> further() {
            List<Placement> placements = trace.map(TraceProfile::placements).orElse(List.of());
            List<Range> ranges = trace.map(TraceProfile::ranges).orElse(List.of());
            Map<String, Object> further = new LinkedHashMap<>();
            if (!placements.isEmpty()) {
                further.put(
                        "placements", placements.stream().map(Profile::fields).toList());
            }
            if (!ranges.isEmpty()) {
                further.put("ranges", ranges.stream().map(Profile::fields).toList());
            }
            trace.map(TraceProfile::virtualMachine)
                    .filter(machine ->
                            machine.anchors() > 0 || !machine.disturbances().isEmpty())
                    .ifPresent(machine -> further.put("virtual_machine", fields(machine)));
            return further;
        }

        private static Map<String, ?> fields(VirtualMachine machine) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("clock_anchors", machine.anchors());
            fields.put("clock_error_ns", machine.clockErrorNs());
            fields.put(
                    "disturbances",
                    machine.disturbances().stream().map(Profile::fields).toList());
            return fields;
        }

        private static Map<String, ?> fields(Disturbance disturbance) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("brick", disturbance.brick());
            fields.put("cause", disturbance.cause().displayName());
            fields.put("total_ns", disturbance.elapsedNs());
            fields.put("share", disturbance.share());
            fields.put("share_of_p99", disturbance.shareOfTail());
            return fields;
        }

        private static Map<String, ?> fields(Range range) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("name", range.name());
            fields.put("count", range.events());
            fields.put("total_ns", range.elapsedNs());
            return fields;
        }

        private static Map<String, ?> fields(Placement placement) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("brick", placement.brick());
            fields.put("category", placement.category().displayName());
            fields.put("source", placement.source().name());
            fields.put("count", placement.events());
            fields.put("total_ns", placement.elapsedNs());
            fields.put("agreement", placement.agreement());
            return fields;
        }

        /** The exit code; reports where there is damage, and where there is no brick. */
        int exitCode(PrintWriter err) {
            trace.stream()
                    .flatMap(profile -> profile.omissions().stream())
                    .filter(omission -> omission.reason() == Omission.Reason.DAMAGE)
                    .forEach(damage -> Brick.report(
                            err,
                            name + " is damaged (offset " + damage.firstOffset() + ": " + damage.name()
                                    + "); this is what stands before it"));
            if (!snapshot.bricks().isEmpty()) {
                return CommandLine.ExitCode.OK;
            }
            Brick.report(err, name + " holds no brick that was recorded");
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

        @Option(names = "--salvage", description = "Traces: of a damaged one, take what stands before the damage.")
        private boolean salvage;

        /** Whether an option was set that is for profiles only. */
        boolean isForProfile() {
            return rules != null || skipSteps != 0 || keepWarmup;
        }

        /** Whether any option was set. */
        boolean isAnySet() {
            return isForProfile() || salvage;
        }

        /** Whether to read a damaged trace up to the damage. */
        boolean salvage() {
            return salvage;
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
            return ReadOptions.defaults()
                    .withRules(all)
                    .withSkipSteps(skipSteps)
                    .withKeepWarmup(keepWarmup)
                    .withSalvage(salvage);
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
         * @param head the first bytes
         * @return the kind; also of what is malformed, so that its reader says why
         */
        static Kind of(byte[] head) {
            Signs signs = new Signs();
            try (JsonParser json = FACTORY.createParser(head)) {
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
                while (json.nextToken() == JsonToken.FIELD_NAME) {
                    String key = json.currentName();
                    JsonToken value = json.nextToken();
                    switch (key) {
                        case "schema_version" -> version = true;
                        case "bricks" -> bricks = true;
                        case "traceEvents" -> events = true;
                        case "kind" ->
                            checksums = value == JsonToken.VALUE_STRING
                                    && json.getText().equals("brick-checksums");
                        default -> {
                            // Says nothing.
                        }
                    }
                    // What decides may be nearly all of the file: it is not passed over.
                    if (bricks || events || checksums) {
                        return;
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
