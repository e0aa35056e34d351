package org.brickprofiler.roofline;

import static org.brickprofiler.report.internal.HumanUnits.NONE;
import static org.brickprofiler.report.internal.HumanUnits.durationCell;
import static org.brickprofiler.report.internal.HumanUnits.number;
import static org.brickprofiler.report.internal.HumanUnits.percent;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import org.brickprofiler.Environment;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.internal.io.InputFile;
import org.brickprofiler.report.PagePart;
import org.brickprofiler.report.internal.JsonInput;
import org.brickprofiler.report.internal.JsonText;
import org.brickprofiler.report.internal.ProfileFields;
import org.brickprofiler.report.internal.Row;
import org.brickprofiler.report.internal.TextTable;
import org.brickprofiler.roofline.BrickRoofline.Bound;
import org.brickprofiler.roofline.BrickRoofline.Distance;
import org.brickprofiler.roofline.MachineRoof.Bandwidth;
import org.brickprofiler.roofline.MachineRoof.Rate;
import org.jspecify.annotations.Nullable;

/**
 * Reports the roof of a machine and the distance of bricks to the roof, as text and as values for a JSON report. Also
 * writes the roof of a machine to a file, and reads it back. Stateless; any thread.
 */
public final class RooflineReport {

    /** The headers of the columns that every width has, the most important first. */
    private static final List<String> IMPORTANT = List.of("total", "% of roof", "bound by", "roof");

    /** The kind of file. */
    private static final String KIND = "machine-roof";

    private static final String SCHEMA_VERSION = "1.0";
    private static final int HIGHEST_MAJOR_VERSION = 1;

    private static final long KIBIBYTE = 1L << 10;

    private RooflineReport() {}

    // ---- text ----

    /**
     * Returns the report for a console: a line on the machine, the remarks, the table of bricks with its notes, and a
     * table of the bricks in the steps of each phase.
     *
     * @param roofline the rooflines of the bricks
     * @return lines of printable ASCII that end with {@code "\n"}
     */
    public static String render(BrickRoofline roofline) {
        return render(roofline, Integer.MAX_VALUE);
    }

    /**
     * Returns the report for a terminal, whose tables leave out the least important columns that do not fit.
     *
     * @param roofline the bricks beside their roofs
     * @param columns the width that no line of a table exceeds, 80 or more
     * @return lines of text
     */
    public static String render(BrickRoofline roofline, int columns) {
        MachineRoof machine = roofline.machine();
        StringBuilder text = new StringBuilder();
        text.append("Distance to the roof, most time above it first\n")
                .append("  machine: ")
                .append(PlainText.ascii(machine.environment().cpu()))
                .append(", measured ")
                .append(machine.measuredAt().truncatedTo(ChronoUnit.SECONDS))
                .append("; threads on one brick: ")
                .append(roofline.threads())
                .append("; ")
                .append(number(machine.gflops(roofline.threads())))
                .append(" GFLOP/s\n");
        text.append(remarks(roofline));
        if (roofline.bricks().isEmpty()) {
            text.append("  No brick is compared: recordWork, or a WorkModel, states the work of bricks.\n");
        } else {
            text.append('\n').append(table(roofline, columns)).append(notes(roofline));
        }
        roofline.phases().forEach((phase, ofPhase) -> text.append("\nIn ")
                .append(phase.displayName())
                .append(ofPhase.bricks().isEmpty() ? " steps no brick is compared" : " steps, by counted time: ")
                .append(bounds(ofPhase))
                .append('\n')
                .append(remarks(ofPhase))
                .append(ofPhase.bricks().isEmpty() ? "" : "\n" + table(ofPhase, columns)));
        return text.toString();
    }

    /**
     * Returns the notes below the table: the meaning of its columns, and the bricks that are above the roof or not in
     * the table.
     */
    private static String notes(BrickRoofline roofline) {
        StringBuilder text = new StringBuilder();
        text.append(
                "Counted: all samples, each as long as the mean of the middle half of them if percentiles are known.\n");
        text.append("Bound by neither: neither bytes nor operations explain more than half of that time.\n");
        List<String> above = roofline.bricks().stream()
                .filter(Distance::isAboveRoof)
                .map(Distance::name)
                .toList();
        if (!above.isEmpty()) {
            text.append("! Above the roof, which is impossible: ")
                    .append(PlainText.ascii(String.join(", ", above)))
                    .append(". Their work, their time, their working set, the number of threads or the machine's"
                            + " figures are wrong.\n");
        }
        if (!roofline.unplaced().isEmpty()) {
            text.append("Without known work or time: ")
                    .append(PlainText.ascii(String.join(", ", roofline.unplaced())))
                    .append('\n');
        }
        return text.toString();
    }

    private static String remarks(BrickRoofline roofline) {
        return roofline.remarks().stream()
                .map(remark -> "! " + PlainText.ascii(remark) + "\n")
                .collect(Collectors.joining());
    }

    private static String bounds(BrickRoofline roofline) {
        return roofline.bounds().entrySet().stream()
                .filter(entry -> entry.getValue() > 0)
                .map(entry -> percent(100 * entry.getValue())
                        + (entry.getKey() == Bound.NEITHER
                                ? " % that neither bytes nor operations explain"
                                : " % bound by " + bound(entry.getKey())))
                .collect(Collectors.joining(", "));
    }

    private static String table(BrickRoofline roofline, int columns) {
        MachineRoof machine = roofline.machine();
        TextTable<Distance> table = new TextTable<Distance>()
                .left("brick", Distance::name, "bricks with known work")
                .left("bound by", brick -> bound(brick.bound()), "")
                .right("total", brick -> durationCell(brick.totalNs()), durationCell(sum(roofline, Distance::totalNs)))
                .right(
                        "counted",
                        brick -> durationCell(brick.countedNs()),
                        durationCell(sum(roofline, Distance::countedNs)))
                .right(
                        "at the roof",
                        brick -> durationCell(brick.roofNs()),
                        durationCell(sum(roofline, Distance::roofNs)))
                .right("% of roof", RooflineReport::attainedCell, percent(100 * roofline.attained()))
                .left("roof", brick -> roof(machine, brick), "")
                .right("GFLOP/s", brick -> rate(brick.gflops()), "")
                .right("GB/s", brick -> rate(brick.gigabytesPerSecond()), "")
                .right("FLOP/B", brick -> intensity(brick.work().intensity()), "");
        return table.render(roofline.bricks(), columns, IMPORTANT);
    }

    private static double sum(BrickRoofline roofline, ToDoubleFunction<Distance> value) {
        return roofline.bricks().stream().mapToDouble(value).sum();
    }

    private static String bound(Bound bound) {
        return bound.name().toLowerCase(Locale.ROOT);
    }

    private static String attainedCell(Distance brick) {
        return percent(100 * (1 - brick.distance())) + (brick.isAboveRoof() ? " !" : "");
    }

    private static String roof(MachineRoof machine, Distance brick) {
        if (brick.roof() == Bound.COMPUTE) {
            return "operations";
        }
        String level = machine.at(brick.work().workingSetBytes()).level();
        return number(brick.bandwidthGBps()) + " GB/s" + (level.isEmpty() ? "" : " of " + level);
    }

    private static String rate(double rate) {
        return rate == 0 ? NONE : number(rate);
    }

    private static String intensity(double intensity) {
        return intensity == 0 || Double.isInfinite(intensity) ? NONE : number(intensity);
    }

    /**
     * Renders the roof of a machine.
     *
     * @param machine its roof
     * @return lines of printable ASCII that end with {@code "\n"}
     */
    public static String render(MachineRoof machine) {
        StringBuilder text = new StringBuilder();
        Environment where = machine.environment();
        if (!machine.disturbances().isEmpty()) {
            text.append("! The machine was busy meanwhile (")
                    .append(PlainText.ascii(String.join(", ", machine.disturbances())))
                    .append(
                            "): the roof may be too low, and bricks then seem closer to it than they are. Measure again on an"
                                    + " idle machine.\n");
        }
        text.append("Roof of this machine: the highest of several rounds, and how far below it the lowest was\n")
                .append("  machine     ")
                .append(PlainText.ascii(
                        where.cpu() + ", " + where.processors() + " processors, " + where.arch() + ", " + where.os()))
                .append("\n  java        ")
                .append(PlainText.ascii(where.javaVersion() + ", " + where.jvm()))
                .append("\n  operations  ")
                .append(cell(machine.flopsOne()))
                .append(" GFLOP/s of one thread, ")
                .append(cell(machine.flopsAll()))
                .append(" of ")
                .append(where.processors())
                .append(" (single precision, fused multiply-add)\n\nGB/s by working set\n\n");
        TextTable<Bandwidth> table = new TextTable<Bandwidth>()
                .right("working set", each -> size(each.workingSetBytes()), "")
                .left("level", each -> each.level().isEmpty() ? NONE : each.level(), "")
                .right("read, 1 thread", each -> cell(each.readOne()), "")
                .right("triad, 1 thread", each -> cell(each.triadOne()), "")
                .right("read, all", each -> cell(each.readAll()), "")
                .right("triad, all", each -> cell(each.triadAll()), "");
        text.append(table.render(machine.bandwidths()));
        if (!machine.reachesMemory()) {
            text.append("The memory itself was not measured: more heap is needed (-Xmx).\n");
        }
        return text.toString();
    }

    private static String size(long bytes) {
        long kibibytes = bytes / KIBIBYTE;
        return kibibytes < KIBIBYTE ? kibibytes + " KiB" : kibibytes / KIBIBYTE + " MiB";
    }

    private static String cell(Rate rate) {
        return number(rate.high()) + " (-" + Math.round(100 * rate.spread()) + " %)";
    }

    // ---- values ----

    /**
     * Returns the value of the key {@code roofline} for
     * {@link org.brickprofiler.report.JsonReport#toJson(org.brickprofiler.ProfileSnapshot, Map)}: the roofs for the
     * number of threads that work on one brick together, and the distance of each brick to them. An infinite arithmetic
     * intensity is omitted.
     *
     * @param roofline the rooflines of the bricks
     * @return keys and values, in order
     */
    public static Map<String, Object> values(BrickRoofline roofline) {
        MachineRoof machine = roofline.machine();
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("threads", roofline.threads());
        values.put("measured_at", machine.measuredAt().toString());
        values.put("cpu", machine.environment().cpu());
        values.put("peak_gflops", machine.gflops(roofline.threads()));
        List<Map<String, Object>> roofs = new ArrayList<>();
        for (Bandwidth each : machine.bandwidths()) {
            Map<String, Object> roof = new LinkedHashMap<>();
            roof.put("level", each.level());
            roof.put("working_set_bytes", each.workingSetBytes());
            roof.put("gbps", machine.bandwidthGBps(each.workingSetBytes(), roofline.threads()));
            roofs.add(roof);
        }
        values.put("bandwidths", roofs);
        values.put("attained", roofline.attained());
        values.put(
                "bricks", roofline.bricks().stream().map(RooflineReport::values).toList());
        values.put("unplaced", roofline.unplaced());
        values.put("remarks", roofline.remarks());
        if (!roofline.phases().isEmpty()) {
            values.put(
                    "phases",
                    roofline.phases().entrySet().stream()
                            .map(RooflineReport::values)
                            .toList());
        }
        return values;
    }

    /**
     * Returns the part of a page that shows the distance of bricks to the limits of the machine; the JSON that can be
     * saved from the page has it, too.
     *
     * @param roofline the rooflines of the bricks of the page's profile
     * @return a part for {@link org.brickprofiler.report.HtmlReport#with(PagePart)}
     */
    public static PagePart part(BrickRoofline roofline) {
        return PagePart.object("roofline", values(Objects.requireNonNull(roofline, "roofline")));
    }

    private static Map<String, Object> values(Map.Entry<StepInfo.Phase, BrickRoofline> phase) {
        BrickRoofline roofline = phase.getValue();
        Map<String, Object> bounds = new LinkedHashMap<>();
        roofline.bounds().forEach((bound, share) -> bounds.put(bound(bound), share));
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("phase", phase.getKey().displayName());
        values.put("bounds", bounds);
        values.put("attained", roofline.attained());
        values.put(
                "bricks", roofline.bricks().stream().map(RooflineReport::values).toList());
        values.put("unplaced", roofline.unplaced());
        values.put("remarks", roofline.remarks());
        return values;
    }

    private static Map<String, Object> values(Distance brick) {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("name", brick.name());
        values.put("bound", bound(brick.bound()));
        values.put("roof", bound(brick.roof()));
        values.put("total_ns", brick.totalNs());
        values.put("counted_ns", brick.countedNs());
        values.put("roof_ns", brick.roofNs());
        values.put("distance", brick.distance());
        values.put("above_roof", brick.isAboveRoof());
        values.put("gflops", brick.gflops());
        values.put("gbps", brick.gigabytesPerSecond());
        values.put("bandwidth_gbps", brick.bandwidthGBps());
        values.put("working_set_bytes", brick.work().workingSetBytes());
        if (Double.isFinite(brick.work().intensity())) {
            values.put("arithmetic_intensity", brick.work().intensity());
        }
        return values;
    }

    // ---- the machine's file ----

    /**
     * Writes the roof of a machine, as JSON. The roof is written to a temporary file in the same folder, which then
     * replaces an older file in one step.
     *
     * @param machine its roof
     * @param path the file; its folder must exist. A pipe or a terminal is written to directly
     * @throws IOException when writing fails; the message names the path and the reason, and an older file is unchanged
     */
    public static void write(MachineRoof machine, Path path) throws IOException {
        Objects.requireNonNull(machine, "machine");
        AtomicFile.write(path, out -> write(machine, out));
    }

    private static void write(MachineRoof machine, OutputStream out) throws IOException {
        try (JsonGenerator json = JsonText.generator(out, JsonText.indented())) {
            json.writeStartObject();
            json.writeStringField("schema_version", SCHEMA_VERSION);
            json.writeStringField("kind", KIND);
            json.writeStringField("measured_at", machine.measuredAt().toString());
            json.writeFieldName("environment");
            ProfileFields.ENVIRONMENT.write(json, machine.environment(), false);
            rate(json, "gflops_one", machine.flopsOne());
            rate(json, "gflops_all", machine.flopsAll());
            json.writeArrayFieldStart("bandwidths");
            for (Bandwidth each : machine.bandwidths()) {
                json.writeStartObject();
                json.writeStringField("level", each.level());
                json.writeNumberField("working_set_bytes", each.workingSetBytes());
                rate(json, "read_gbps_one", each.readOne());
                rate(json, "read_gbps_all", each.readAll());
                rate(json, "triad_gbps_one", each.triadOne());
                rate(json, "triad_gbps_all", each.triadAll());
                json.writeEndObject();
            }
            json.writeEndArray();
            if (!machine.disturbances().isEmpty()) {
                json.writeArrayFieldStart("disturbances");
                for (String each : machine.disturbances()) {
                    json.writeString(each);
                }
                json.writeEndArray();
            }
            json.writeEndObject();
            json.writeRaw('\n');
        }
    }

    private static void rate(JsonGenerator json, String key, Rate rate) throws IOException {
        json.writeFieldName(key);
        json.writeArray(new double[] {rate.low(), rate.median(), rate.high()}, 0, 3);
    }

    /**
     * Reads the roof of a machine.
     *
     * @param path a file that {@link #write} wrote, of this or an older version
     * @return its roof
     * @throws IOException when the file cannot be read or is no roof of a machine; the message names the path and, for
     *     a wrong value, the value, its line and its column
     */
    public static MachineRoof read(Path path) throws IOException {
        InputStream json = InputFile.open(path);
        try (JsonParser parser = JsonInput.parser(json)) {
            return new Reader(new JsonInput(parser)).machine();
        } catch (JsonProcessingException malformed) {
            throw new IOException(path + ": " + JsonInput.describe(malformed), malformed);
        } catch (IOException failed) {
            throw InputFile.cannotRead(path.toString(), failed);
        }
    }

    /** Reads a roof. One thread. */
    private static final class Reader {

        private final JsonInput input;
        private final List<Bandwidth> bandwidths = new ArrayList<>();
        private final Map<String, Rate> rates = new LinkedHashMap<>();
        private final List<String> disturbances = new ArrayList<>();
        private Instant measuredAt = Instant.EPOCH;
        private @Nullable Environment environment;
        private boolean isMachine;

        Reader(JsonInput input) {
            this.input = input;
        }

        MachineRoof machine() throws IOException {
            input.document(this::field);
            if (!isMachine || environment == null) {
                throw input.error("this is no file of brick roofline: it describes no machine");
            }
            try {
                return new MachineRoof(
                        environment,
                        measuredAt,
                        bandwidths,
                        required(rates, "gflops_one"),
                        required(rates, "gflops_all"),
                        disturbances);
            } catch (IllegalArgumentException wrong) {
                throw input.error(String.valueOf(wrong.getMessage()));
            }
        }

        private void field(String key) throws IOException {
            switch (key) {
                case "schema_version" -> input.version(key, HIGHEST_MAJOR_VERSION);
                case "kind" -> isMachine = input.text(key).equals(KIND);
                case "measured_at" -> measuredAt = input.moment(key);
                case "environment" ->
                    environment = ProfileFields.environment(new Row(ProfileFields.ENVIRONMENT).read(input, key));
                case "gflops_one", "gflops_all" -> rates.put(key, rate(key));
                case "bandwidths" -> input.array(key, () -> bandwidths.add(bandwidth()));
                case "disturbances" -> input.array(key, () -> disturbances.add(input.text(key)));
                default -> input.skip();
            }
        }

        private Bandwidth bandwidth() throws IOException {
            Map<String, Rate> read = new LinkedHashMap<>();
            String[] level = {""};
            long[] bytes = {0};
            input.object("bandwidth", key -> {
                switch (key) {
                    case "level" -> level[0] = input.text(key);
                    case "working_set_bytes" -> bytes[0] = input.whole(key, 1, Long.MAX_VALUE);
                    case "read_gbps_one", "read_gbps_all", "triad_gbps_one", "triad_gbps_all" ->
                        read.put(key, rate(key));
                    default -> input.skip();
                }
            });
            if (bytes[0] == 0) {
                throw input.error("a bandwidth has no working_set_bytes");
            }
            return new Bandwidth(
                    level[0],
                    bytes[0],
                    required(read, "read_gbps_one"),
                    required(read, "read_gbps_all"),
                    required(read, "triad_gbps_one"),
                    required(read, "triad_gbps_all"));
        }

        private Rate required(Map<String, Rate> read, String key) throws IOException {
            Rate rate = read.get(key);
            if (rate == null) {
                throw input.error("there is no " + key);
            }
            return rate;
        }

        private Rate rate(String key) throws IOException {
            List<Double> values = new ArrayList<>();
            input.array(key, () -> values.add(input.real(key, Double.MAX_VALUE)));
            if (values.size() != 3) {
                throw input.error(key + " has " + values.size() + " numbers instead of lowest, median and highest");
            }
            try {
                return new Rate(values.get(0), values.get(1), values.get(2));
            } catch (IllegalArgumentException wrong) {
                throw input.error(key + ": " + wrong.getMessage());
            }
        }
    }
}
