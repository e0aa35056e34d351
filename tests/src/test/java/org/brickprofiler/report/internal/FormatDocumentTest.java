package org.brickprofiler.report.internal;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.testing.Golden;
import org.brickprofiler.testing.SourceTree;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.EntryFields;
import org.junit.jupiter.api.Test;

/** Compares the document of the format with the tables of fields. */
class FormatDocumentTest {

    private static final String LIST = "[]";

    /** The place of a table's records in a report. */
    private static final Map<String, String> PLACES = Map.ofEntries(
            Map.entry(
                    "brick",
                    "An object of `bricks`, a row of CSV; and of `bricks` in an object of `phases`, which has the samples of"
                            + " a `phase`: `prefill`, `decode` or `mixed`. `phases` is left out if no sample has a phase."),
            Map.entry("tile level", "An object of `tiles`."),
            Map.entry("stream", "An object of `streams`, which is left out without streams."),
            Map.entry("phase of steps", "An object of `steps.phases`."),
            Map.entry("step", "An array of `steps.kept`; `steps.kept_columns` lists its keys in their order."),
            Map.entry("identity", "The object `identity`, which is left out if nothing of it is known."),
            Map.entry("environment", "An object of `environments`, and `environment` of a calibration."),
            Map.entry("virtual machine", "An object of `run.virtual_machines`."),
            Map.entry("nesting", "An object of `run.nesting`."),
            Map.entry("spread", "A measured cost in `run.calibrations`."),
            Map.entry(
                    "requests",
                    "The object `requests`, which is left out without requests. Its times by cause are those of the finished"
                            + " requests."),
            Map.entry(
                    "step of the time line",
                    "A row of `request_timeline.steps`, whose columns are `step_columns`; `requests` beside it are rows of "
                            + "requests, with the columns `request_columns`. `incomplete` lists the requests whose steps "
                            + "are no longer known, by index."),
            Map.entry("live request", "An object of `requests.oldest_live`."),
            Map.entry(
                    "latency histogram",
                    "An object of `requests.histograms`, which readers compare with the requests."),
            Map.entry("work on a request", "A row of `request_timeline.works`, whose columns are `work_columns`."),
            Map.entry(
                    "own work on a request",
                    "A row of `request_timeline.own_works`, whose columns are `own_work_columns`: work of the thread that"
                            + " serves the request, outside of its steps. Files of older versions have none."));

    /** The names of the records in the scripts of pages; a step is a row there, and the script makes its object. */
    private static final Map<String, String> INTERFACES = Map.ofEntries(
            Map.entry("brick", "Brick"),
            Map.entry("distribution", "Latency"),
            Map.entry("device times", "DeviceTime"),
            Map.entry("work", "Work"),
            Map.entry("tile level", "Tile"),
            Map.entry("stream", "Stream"),
            Map.entry("phase of steps", "Phase"),
            Map.entry("identity", "Identity"),
            Map.entry("environment", "Environment"),
            Map.entry("virtual machine", "VirtualMachineOfRun"),
            Map.entry("nesting", "Nesting"),
            Map.entry("spread", "Spread"),
            Map.entry("requests", "Requests"),
            Map.entry("live request", "LiveRequest"),
            Map.entry("request", "RequestOfRun"),
            Map.entry("causes up to the first token", "FirstTokenCauses"),
            Map.entry("latency histogram", "LatencyHistogram"),
            Map.entry("requests for a model", "ModelRequests"),
            Map.entry("step of the time line", "TimelineStep"),
            Map.entry("work on a request", "TimelineWork"),
            Map.entry("own work on a request", "TimelineOwnWork"),
            Map.entry("slow steps", "SlowSteps"),
            Map.entry("phase of slow steps", "SlowPhase"),
            Map.entry("slow step", "SlowStep"),
            Map.entry("part of a slow step", "SlowPart"),
            Map.entry("samples of a slow step", "SlowSamples"),
            Map.entry("method of a slow step", "SlowMethod"),
            Map.entry("lines of bricks", "LineProfile"),
            Map.entry("lines of a brick", "BrickLines"),
            Map.entry("amounts of a brick", "BrickAmounts"),
            Map.entry("bricks by frames", "ByFrames"),
            Map.entry("call tree", "CallTree"),
            Map.entry("shares of lines", "LineShares"));

    @Spec("8.2")
    @Test
    void theDocumentListsTheFieldsOfEachTable() throws IOException {
        StringBuilder text = new StringBuilder("""
                # Fields of a profile

                A *report* is the JSON object of `JsonReport`, and a *window* is a file of a run's windows. Readers ignore
                keys that they do not know, and a missing number is 0 unless its meaning says otherwise. A field is always
                written if nothing else is said. *Reports only* values follow from others: windows lack them, and readers
                ignore them, except those *read from old files*. *If not 0*: windows lack the value if it is 0. Fields are
                columns of *CSV* unless it says *no*. Rules [8.1 to 8.10](spec/reports.md) apply.

                A report, but no window, has `findings`, the answer first: objects with `kind`, `place` (a brick, phase, wait,
                rank), `share` (0 to 1) `of` what (`requests`, `wall_time`, `brick_time`, `up_time`, `slow_steps` or `none`), `sentence` and `next`.
                They follow from the other values, so readers ignore them. New kinds may appear.

                A report made with `--roofline` has `roofline`. Its `bound` is `memory`, `compute` or `neither`, which older
                files call `overhead`.

                `FormatDocumentTest` writes this page: change `ProfileFields`, `SlowStepJson` or `LineProfileJson` and run it with `-Dgolden.regenerate=true`.
                """);
        for (Fields<?> table : ProfileFields.all()) {
            String title = table.title();
            text.append("\n## ").append(capitalised(title)).append("\n\n");
            if (PLACES.containsKey(title)) {
                text.append(PLACES.get(title)).append("\n\n");
            }
            boolean isInCsv = isInCsv(table);
            text.append(isInCsv ? "| key | meaning | written | CSV |\n|---|---|---|---|\n" : "");
            for (List<Fields.Description> alike : rows(table.descriptions())) {
                text.append(isInCsv ? row(alike) : item(alike));
            }
        }
        text.append("""

                ## Under way

                The object `now` in reports of the agent, while the process runs; readers ignore it: `since_step_ns` since a step ended
                last, `stalled_ns` ([rule 25.30](spec/requests.md#25-requests)), `waiting` and `running` requests, `steps` under way,
                `threads` of a stall, `text`, and `recent` windows.

                ## Slow steps

                The object `slow_steps`, in JSON that `brick report` makes of a timeline with chosen steps; `slowest_steps` in the
                report of a whole run, from the agent's `slow=`. The timeline has it as text, in parts: a Chrome file in
                `slowSteps`, a Perfetto file in the arguments `slow_steps` of `chosen steps only`.
                """);
        appendEntry(text, EntryFields.slowSteps());
        text.append("""

                ## Lines of bricks

                The object `lines`, from samples of stacks. Methods, frames and paths stand in lists; others refer to them by
                number from 0. At most 2,000 nodes and 150 KB are written: rare parts of trees become `(other paths)`, after
                the places with the most samples were found.
                """);
        appendEntry(text, EntryFields.lines());
        Golden.assertSameDocument(text.toString(), "format.md");
    }

    /** Appends the tables of an entry, of which the first one has its heading already. */
    private static void appendEntry(StringBuilder text, List<EntryFields.Table> tables) {
        for (EntryFields.Table table : tables) {
            if (!table.equals(tables.get(0))) {
                text.append("\n## ").append(capitalised(table.title())).append('\n');
            }
            text.append('\n');
            for (EntryFields.Field field : table.fields()) {
                String meaning = Markdown.escaped(field.meaning());
                String title = field.type().endsWith(LIST) ? element(field.type()) : field.type();
                text.append(item(
                        "`" + field.key() + "`",
                        field.written(),
                        INTERFACES.containsKey(title) ? link(meaning, title) : meaning));
            }
        }
    }

    @Spec("8.2")
    @Test
    void theScriptsOfPagesHaveTheTypesOfTheFieldsOfEachTable() throws IOException {
        StringBuilder text = new StringBuilder(
                "/* Written by FormatDocumentTest from the tables of ProfileFields, SlowStepJson and LineProfileJson. */\n");
        for (Fields<?> table : ProfileFields.all()) {
            if (table != ProfileFields.STEP) {
                text.append("\ninterface ")
                        .append(INTERFACES.get(table.title()))
                        .append(" {\n");
                for (Fields.Description field : table.descriptions()) {
                    text.append("  ").append(field.key()).append(field.isOptional() ? "?: " : ": ");
                    text.append(type(field.type())).append(";\n");
                }
                text.append("}\n");
            }
        }
        for (EntryFields.Table table : Stream.concat(EntryFields.slowSteps().stream(), EntryFields.lines().stream())
                .toList()) {
            text.append("\ninterface ").append(INTERFACES.get(table.title())).append(" {\n");
            table.fields().forEach(field -> text.append("  " + field.key() + (isAlways(field) ? ": " : "?: "))
                    .append(type(field.type()))
                    .append(";\n"));
            text.append("}\n");
        }
        Golden.assertSame(text.toString(), SourceTree.path("build", "pages", "fields.d.ts"));
    }

    private static boolean isAlways(EntryFields.Field field) {
        return field.written().isEmpty() || field.written().equals("ignored by readers");
    }

    private static String capitalised(String title) {
        return title.substring(0, 1).toUpperCase(Locale.ROOT) + title.substring(1);
    }

    private static String element(String list) {
        return list.substring(0, list.length() - LIST.length());
    }

    private static String type(String name) {
        return name.endsWith(LIST) ? type(element(name)) + LIST : INTERFACES.getOrDefault(name, name);
    }

    private static boolean isInCsv(Fields<?> table) {
        return table == ProfileFields.BRICK
                || ProfileFields.BRICK.descriptions().stream()
                        .anyMatch(field -> field.parts().equals(table.title()));
    }

    /** Returns the fields of each row: consecutive fields that differ in their keys alone share one. */
    private static List<List<Fields.Description>> rows(List<Fields.Description> fields) {
        List<List<Fields.Description>> rows = new ArrayList<>();
        for (Fields.Description field : fields) {
            List<Fields.Description> last = rows.isEmpty() ? List.of() : rows.get(rows.size() - 1);
            if (!last.isEmpty() && cellsOf(last.get(0)).equals(cellsOf(field))) {
                last.add(field);
            } else {
                rows.add(new ArrayList<>(List.of(field)));
            }
        }
        return rows;
    }

    /** Returns all that a row shows of a field except its key. */
    private static List<Object> cellsOf(Fields.Description field) {
        return List.of(field.meaning(), field.written(), field.parts(), field.isColumn());
    }

    private static String row(List<Fields.Description> alike) {
        Fields.Description field = alike.get(0);
        String column = field.parts().isEmpty() ? "" : "its keys";
        List<String> cells = new ArrayList<>(
                List.of(keys(alike), meaning(field), field.written(), field.isColumn() ? column : "no"));
        while (cells.get(cells.size() - 1).isEmpty()) {
            cells.remove(cells.size() - 1);
        }
        return cells.stream().map(cell -> cell.isEmpty() ? "|" : "| " + cell).collect(Collectors.joining(" ")) + " |\n";
    }

    private static String item(List<Fields.Description> alike) {
        return item(keys(alike), alike.get(0).written(), meaning(alike.get(0)));
    }

    private static String item(String keys, String written, String meaning) {
        return "- " + keys + (written.isEmpty() ? "" : ", " + written) + ": " + meaning + "\n";
    }

    private static String keys(List<Fields.Description> alike) {
        return alike.stream().map(each -> "`" + each.key() + "`").collect(Collectors.joining(", "));
    }

    private static String meaning(Fields.Description field) {
        String meaning = Markdown.escaped(field.meaning());
        return field.parts().isEmpty() ? meaning : link(meaning, field.parts());
    }

    private static String link(String text, String title) {
        return "[" + text + "](#" + title.replace(' ', '-') + ")";
    }
}
