package org.brickprofiler.trace.read;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.internal.io.InputFile;
import org.eclipse.collections.impl.map.mutable.primitive.LongObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads an XSpace ({@code *.xplane.pb}), the profile of XLA that JAX and TensorFlow write; see <a
 * href="https://github.com/openxla/xla/blob/main/xla/tsl/profiler/protobuf/xplane.proto">its description</a>. A plane
 * is a device, the host, or data about the run, and a line of it is a stream or a thread. Events refer to names by
 * number, and the names follow the events; the file is therefore read three times: for the names, for the scopes of the
 * compiled programs, and for the events.
 *
 * <p>The events come in the form of XLA's own {@code .trace.json.gz}: a process for each plane, a thread for each line.
 * Events of the host that name an operation of a compiled program get the category {@value XlaName#CATEGORY}.
 *
 * <p>Starts and ends are rounded to 1 ns, half up, so that events that follow one another do not overlap. The offset of
 * an event is its place in the file. One thread.
 */
final class XSpaceReader {

    private static final int LONGEST_NAME = 1 << 16;
    private static final int MOST_NAMES = 1 << 20;
    private static final int PS_PER_NS = 1_000;

    /** The largest offset or duration, 53 days in ps; the sum of two fits a {@code long}. */
    private static final long MOST_PS = 1L << 62;

    // The fields, as FIELD << 3 | TYPE.
    private static final int SPACE_PLANE = 1 << 3 | ProtoInput.BYTES;
    private static final int SPACE_ERROR = 2 << 3 | ProtoInput.BYTES;
    private static final int SPACE_WARNING = 3 << 3 | ProtoInput.BYTES;
    private static final int PLANE_NAME = 2 << 3 | ProtoInput.BYTES;
    private static final int PLANE_LINE = 3 << 3 | ProtoInput.BYTES;
    private static final int PLANE_EVENT_NAME = 4 << 3 | ProtoInput.BYTES;
    private static final int PLANE_STAT_NAME = 5 << 3 | ProtoInput.BYTES;
    private static final int PLANE_STAT = 6 << 3 | ProtoInput.BYTES;
    private static final int ENTRY_KEY = 1 << 3 | ProtoInput.VARINT;
    private static final int ENTRY_VALUE = 2 << 3 | ProtoInput.BYTES;
    private static final int NAME = 2 << 3 | ProtoInput.BYTES;
    private static final int EVENT_DISPLAY_NAME = 4 << 3 | ProtoInput.BYTES;
    private static final int NAME_STAT = 5 << 3 | ProtoInput.BYTES;
    private static final int LINE_NAME = 2 << 3 | ProtoInput.BYTES;
    private static final int LINE_START_NS = 3 << 3 | ProtoInput.VARINT;
    private static final int LINE_EVENT = 4 << 3 | ProtoInput.BYTES;
    private static final int EVENT_NAME = 1 << 3 | ProtoInput.VARINT;
    private static final int EVENT_OFFSET_PS = 2 << 3 | ProtoInput.VARINT;
    private static final int EVENT_DURATION_PS = 3 << 3 | ProtoInput.VARINT;
    private static final int EVENT_STAT = 4 << 3 | ProtoInput.BYTES;
    private static final int EVENT_OCCURRENCES = 5 << 3 | ProtoInput.VARINT;
    private static final int STAT_NAME = 1 << 3 | ProtoInput.VARINT;
    private static final int STAT_UNSIGNED = 3 << 3 | ProtoInput.VARINT;
    private static final int STAT_SIGNED = 4 << 3 | ProtoInput.VARINT;
    private static final int STAT_TEXT = 5 << 3 | ProtoInput.BYTES;
    private static final int STAT_BYTES = 6 << 3 | ProtoInput.BYTES;
    private static final int STAT_REFERENCE = 7 << 3 | ProtoInput.VARINT;

    /** The offset of an event that states none. */
    private static final long NO_OFFSET = Long.MIN_VALUE;

    private static final String METADATA = "/host:metadata";
    private static final String ENVIRONMENT = "Task Environment";
    private static final String START_TIME = "profile_start_time";
    private static final String PROGRAM = "program_id";

    /** The number of a program at the end of its name, as in {@code jit_step(18)}. */
    private static final Pattern PROGRAM_NUMBER = Pattern.compile("\\((\\d{1,18})\\)$");

    private final Path file;
    private final EventCollector collector;
    private final List<Plane> planes = new ArrayList<>();
    private final Map<String, HloScopes> programs = new HashMap<>();
    private final TraceEvent event = new TraceEvent();
    private final Map<String, String> stats = new HashMap<>();
    private boolean areNamesRead;

    /** The damage at which each reading of the file ends. */
    private @Nullable TraceFormatException damage;

    /** The names of a plane. */
    private static final class Plane {
        private String name = "";
        private final LongObjectHashMap<Named> events = new LongObjectHashMap<>();
        private final LongObjectHashMap<String> stats = new LongObjectHashMap<>();
        private final List<Stat> ownStats = new ArrayList<>();

        String stat(long number) {
            String known = stats.get(number);
            return known == null ? "stat " + number : known;
        }
    }

    /** A name of events, and the values that all events of that name share. Immutable. */
    private record Named(String name, List<Stat> stats) {}

    /** A value of an event; a reference names one of the plane's texts. Immutable. */
    private record Stat(long name, String text, boolean isReference) {
        String in(Plane plane) {
            return isReference ? plane.stat(Long.parseLong(text)) : text;
        }
    }

    private XSpaceReader(Path file, EventCollector collector) {
        this.file = file;
        this.collector = collector;
    }

    /**
     * Reads a file.
     *
     * @param file the bytes, unpacked
     * @param collector receives the events
     * @throws TraceFormatException when it is damaged, after the events of the planes before the damage
     * @throws IOException when it cannot be read
     */
    static void read(Path file, EventCollector collector) throws IOException {
        new XSpaceReader(file, collector).readAll();
    }

    private void readAll() throws IOException {
        each(this::names);
        areNamesRead = true;
        each(this::scopes);
        long end = each(this::events);
        TraceFormatException found = damage;
        if (found != null) {
            throw found;
        }
        collector.end(end);
    }

    /** Reads one plane, given its number. */
    private interface PlaneReader {
        void read(ProtoInput in, int plane) throws IOException;
    }

    /** Reads the planes up to the end of the file or to damage, and returns the place of that end. */
    private long each(PlaneReader reader) throws IOException {
        int[] plane = {0};
        try (InputStream bytes = new BufferedInputStream(InputFile.open(file))) {
            ProtoInput in = new ProtoInput(bytes, collector.source);
            try {
                in.fields(tag -> {
                    if (tag == SPACE_PLANE && (!areNamesRead || plane[0] < planes.size())) {
                        reader.read(in, plane[0]++);
                    } else if (!areNamesRead && (tag == SPACE_ERROR || tag == SPACE_WARNING)) {
                        collector.fault(Omission.Reason.PROFILER_ERROR, 1, in.offset());
                        in.skip();
                    } else {
                        in.skip();
                    }
                });
            } catch (TraceFormatException fault) {
                if (!fault.isDamage()) {
                    throw fault;
                }
                damage = fault;
            }
            return in.offset();
        }
    }

    // ---- names ----

    /** Reads the names of a plane. A plane counts only if it is whole. */
    private void names(ProtoInput in, int number) throws IOException {
        Plane plane = new Plane();
        in.message(tag -> {
            switch (tag) {
                case PLANE_NAME -> plane.name = in.name(LONGEST_NAME);
                case PLANE_EVENT_NAME -> entry(in, (key, named) -> plane.events.put(key, named));
                case PLANE_STAT_NAME -> entry(in, (key, named) -> plane.stats.put(key, named.name()));
                case PLANE_STAT -> plane.ownStats.add(stat(in));
                default -> in.skip();
            }
        });
        if (plane.events.size() + plane.stats.size() > MOST_NAMES) {
            throw in.error("the plane " + TraceFigures.plain(plane.name) + " has more than " + MOST_NAMES + " names");
        }
        planes.add(plane);
        for (Stat stat : plane.ownStats) {
            if (plane.name.equals(ENVIRONMENT) && plane.stat(stat.name()).equals(START_TIME)) {
                collector.head.baseTimeNs = Math.max(0, TraceEvent.wholeNumberOf(stat.in(plane)));
            }
        }
    }

    /** Receives an entry of a map of names. */
    private interface EntryReader {
        void take(long key, Named named);
    }

    private void entry(ProtoInput in, EntryReader reader) throws IOException {
        long[] key = {0};
        Named[] named = {new Named("", List.of())};
        in.message(tag -> {
            switch (tag) {
                case ENTRY_KEY -> key[0] = in.varint();
                case ENTRY_VALUE -> named[0] = named(in);
                default -> in.skip();
            }
        });
        reader.take(key[0], named[0]);
    }

    private Named named(ProtoInput in) throws IOException {
        String[] texts = {"", ""};
        List<Stat> shared = new ArrayList<>(0);
        in.message(tag -> {
            switch (tag) {
                // The name of an operation on a TPU is its whole text; the display name is short.
                case NAME -> texts[0] = in.beginning(LONGEST_NAME);
                case EVENT_DISPLAY_NAME -> texts[1] = in.beginning(LONGEST_NAME);
                case NAME_STAT -> shared.add(stat(in));
                default -> in.skip();
            }
        });
        return new Named(texts[1].isEmpty() ? texts[0] : texts[1], List.copyOf(shared));
    }

    private static Stat stat(ProtoInput in) throws IOException {
        long[] name = {0};
        String[] text = {""};
        boolean[] isReference = {false};
        in.message(tag -> {
            switch (tag) {
                case STAT_NAME -> name[0] = in.varint();
                case STAT_UNSIGNED, STAT_SIGNED -> text[0] = Long.toString(in.varint());
                case STAT_TEXT -> text[0] = in.beginning(LONGEST_NAME);
                case STAT_REFERENCE -> {
                    text[0] = Long.toString(in.varint());
                    isReference[0] = true;
                }
                default -> in.skip();
            }
        });
        return new Stat(name[0], text[0], isReference[0]);
    }

    // ---- the compiled programs ----

    private void scopes(ProtoInput in, int number) throws IOException {
        if (!planes.get(number).name.equals(METADATA)) {
            in.skip();
            return;
        }
        in.message(tag -> {
            if (tag == PLANE_EVENT_NAME) {
                in.message(field -> {
                    if (field == ENTRY_VALUE) {
                        program(in);
                    } else {
                        in.skip();
                    }
                });
            } else {
                in.skip();
            }
        });
    }

    /** Reads a program, which is a value of an event's name; the number of the program ends that name. */
    private void program(ProtoInput in) throws IOException {
        String[] name = {""};
        List<HloScopes> read = new ArrayList<>();
        in.message(tag -> {
            if (tag == NAME) {
                name[0] = in.beginning(LONGEST_NAME);
            } else if (tag == NAME_STAT) {
                in.message(field -> {
                    if (field == STAT_BYTES) {
                        read.add(HloScopes.read(in));
                    } else {
                        in.skip();
                    }
                });
            } else {
                in.skip();
            }
        });
        Matcher numbered = PROGRAM_NUMBER.matcher(name[0]);
        if (numbered.find() && !read.isEmpty()) {
            programs.put(numbered.group(1), read.get(0));
        }
    }

    // ---- events ----

    private void events(ProtoInput in, int number) throws IOException {
        Plane plane = planes.get(number);
        String process = Integer.toString(number);
        boolean isDevice = RowNames.isDevice(plane.name);
        nameRow(in.offset(), "process_name", process, "", plane.name);
        int[] lines = {0};
        in.message(tag -> {
            if (tag == PLANE_LINE) {
                line(in, new Line(plane, process, Integer.toString(lines[0]++), isDevice));
            } else {
                in.skip();
            }
        });
    }

    private void nameRow(long offset, String what, String process, String thread, String label) throws IOException {
        event.clear(offset);
        event.phase = 'M';
        event.name = what;
        event.process = process;
        event.thread = thread;
        event.label = label;
        collector.keep(event, "name", label, null);
        collector.accept(event);
    }

    /** A line that is being read. */
    private static final class Line {
        private final Plane plane;
        private final String process;
        private final String thread;
        private final boolean isOnDevice;
        private String name = "";
        private long startNs;
        private boolean hasEvents;

        Line(Plane plane, String process, String thread, boolean isOnDevice) {
            this.plane = plane;
            this.process = process;
            this.thread = thread;
            this.isOnDevice = isOnDevice;
        }
    }

    private void line(ProtoInput in, Line line) throws IOException {
        in.message(tag -> {
            if (tag == LINE_NAME || tag == LINE_START_NS) {
                if (line.hasEvents) {
                    throw in.error("the name or the start of a line follows its events");
                }
                if (tag == LINE_NAME) {
                    line.name = in.name(LONGEST_NAME);
                } else {
                    line.startNs = in.varint();
                }
            } else if (tag == LINE_EVENT) {
                if (!line.hasEvents) {
                    line.hasEvents = true;
                    nameRow(in.offset() - 1, "thread_name", line.process, line.thread, line.name);
                }
                event(in, line);
            } else {
                in.skip();
            }
        });
    }

    private void event(ProtoInput in, Line line) throws IOException {
        long[] numbers = {0, NO_OFFSET, 0, 0};
        event.clear(in.offset());
        stats.clear();
        in.message(tag -> {
            switch (tag) {
                case EVENT_NAME -> numbers[0] = in.varint();
                case EVENT_OFFSET_PS -> numbers[1] = in.varint();
                case EVENT_DURATION_PS -> numbers[2] = in.varint();
                case EVENT_OCCURRENCES -> numbers[3] = in.varint();
                case EVENT_STAT -> keep(stat(in), line.plane);
                default -> in.skip();
            }
        });
        Named named = line.plane.events.get(numbers[0]);
        String name = named == null ? "" : named.name();
        if (named != null) {
            named.stats().forEach(stat -> keep(stat, line.plane));
        }
        event.phase = 'X';
        event.process = line.process;
        event.thread = line.thread;
        // An event that sums several occurrences has no time. If an event states neither an offset nor occurrences, its
        // offset is 0, which the encoding omits.
        boolean hasOffset = numbers[1] != NO_OFFSET;
        if (hasOffset || numbers[3] == 0) {
            times(line.startNs, hasOffset ? numbers[1] : 0, numbers[2]);
        }
        event.correlation = TraceEvent.wholeNumberOf(stats.getOrDefault(XlaName.CORRELATION, ""));
        describe(name, line);
        if (collector.wantsKeys() || stats.keySet().stream().anyMatch(collector::wants)) {
            stats.forEach((key, text) -> collector.keep(event, key, text, ""));
        }
        collector.accept(event);
    }

    private void keep(Stat stat, Plane plane) {
        stats.put(plane.stat(stat.name()), stat.in(plane));
    }

    private void times(long lineNs, long offsetPs, long durationPs) {
        boolean fits = lineNs >= 0
                && lineNs <= Bounds.LATEST_NS
                && durationPs >= 0
                && durationPs <= MOST_PS
                && Math.abs(offsetPs) <= MOST_PS;
        if (!fits) {
            event.startNs = Microseconds.OUT_OF_RANGE;
            return;
        }
        // An event may begin before its line.
        event.startNs = lineNs + Math.floorDiv(offsetPs + PS_PER_NS / 2, PS_PER_NS);
        event.elapsedNs = lineNs + Math.floorDiv(offsetPs + durationPs + PS_PER_NS / 2, PS_PER_NS) - event.startNs;
    }

    private void describe(String name, Line line) throws IOException {
        String operation = stats.getOrDefault(XlaName.OPERATION, "");
        XlaName.Scope scope = XlaName.Scope.of(stats);
        if (scope.path().isEmpty()) {
            HloScopes program = programs.get(stats.getOrDefault(PROGRAM, ""));
            scope = program == null ? scope : XlaName.scope(program.scope(operation.isEmpty() ? name : operation));
            if (program != null && scope.path().isEmpty() && line.isOnDevice) {
                scope = program.scopeOfKernel(name);
            }
        }
        XlaName.describe(event, name, operation, scope, line.isOnDevice, collector);
        if (operation.isEmpty() && !line.isOnDevice) {
            XlaName.describeStep(event, stats.getOrDefault(XlaName.STEP, ""));
        }
    }
}
