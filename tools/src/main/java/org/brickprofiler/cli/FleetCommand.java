package org.brickprofiler.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.BiConsumer;
import org.brickprofiler.console.Style;
import org.brickprofiler.console.Terminal;
import org.brickprofiler.console.Terminal.InputBar;
import org.brickprofiler.fleet.DuckPlugin;
import org.brickprofiler.fleet.FleetEngine;
import org.brickprofiler.fleet.FleetPack;
import org.brickprofiler.fleet.FleetPacker;
import org.brickprofiler.fleet.PackProblem;
import org.brickprofiler.fleet.Rows;
import org.brickprofiler.fleet.RowsText;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.internal.io.ExportLoss;
import org.brickprofiler.internal.io.FolderLock;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Packs and queries the profiles of many ranks and runs. */
@Command(
        name = "fleet",
        sortOptions = false,
        usageHelpWidth = 100,
        subcommands = {
            FleetCommand.PackCommand.class,
            FleetReportCommand.class,
            FleetCommand.SqlCommand.class,
            FleetCommand.PluginCommand.class
        },
        description =
                "Packs the profiles of many ranks and runs into tables, and queries them. Needs the JDBC driver of"
                        + " DuckDB, beside the jar of this program or where the variable BRICK_DUCKDB says; the command"
                        + " plugin gets it.",
        commandListHeading = "%nCommands (brick fleet COMMAND --help explains one):%n",
        footerHeading = "%nExamples:%n",
        footer = {
            "  All the windows that the ranks of a run wrote, as one pack:",
            "    brick fleet pack windows/ -o pack",
            "  Who keeps the others waiting, and where does the time go? A page for a browser:",
            "    brick fleet report --pack pack --html fleet.html",
            "  What did the edit change in a fleet, of which each run is one observation?",
            "    brick fleet compare before/ -- after/",
            "  In which bricks is the time?",
            "    brick fleet sql --pack pack \\",
            "        \"SELECT brick, sum(total_ns) AS ns FROM brick_window GROUP BY brick ORDER BY ns DESC, brick\""
        })
final class FleetCommand implements Callable<Integer> {

    private static final String PACK = "brick-fleet";
    private static final int SHOWN_PROBLEMS = 10;

    @Spec
    private CommandSpec spec;

    @SuppressWarnings("unused") // picocli reads it
    @Mixin
    private Brick.HelpOption help;

    @Override
    public Integer call() {
        throw new ParameterException(spec.commandLine(), "no command of fleet is given");
    }

    /** Returns the command; its subcommand {@code compare} accepts {@code --} between the packs of the two sides. */
    static CommandLine commandLine() {
        return new CommandLine(new FleetCommand())
                .addSubcommand(ComparisonOptions.commandLine(new FleetCompareCommand()));
    }

    /** Options that select the pack and the query engine. Picocli sets the fields. */
    static final class PackOptions {

        @Option(
                names = "--pack",
                paramLabel = "DIR",
                description = "The pack, a folder or an address that the engine reads (" + PACK + ").")
        private @Nullable String location;

        @Mixin
        private EngineOptions how;

        /**
         * Opens the pack, as {@link EngineOptions#open} does.
         *
         * @param parameter the pack if it was named without an option
         */
        OpenPack open(@Nullable String parameter, PrintWriter err) throws IOException {
            if (parameter != null && location != null) {
                throw new IllegalArgumentException("two packs: " + parameter + " and --pack " + location);
            }
            return how.open(parameter == null ? location() : parameter, err);
        }

        private String location() {
            return location == null ? PACK : location;
        }

        /**
         * Opens the pack for untrusted queries: the engine can read only the pack. If the engine cannot be confined, a
         * warning is printed.
         */
        OpenPack openConfined(PrintWriter err) throws IOException {
            OpenPack open = how.open(location(), err);
            try {
                if (!open.engine().confine()) {
                    Brick.report(
                            err,
                            how.engine
                                    + " cannot be confined to the pack: a query can read, write and run "
                                    + "everything that this "
                                    + "process can. Run only queries that you trust, or use --engine duckdb");
                }
                return open;
            } catch (IOException | RuntimeException | Error failed) {
                open.close();
                throw failed;
            }
        }
    }

    /**
     * A pack and the engine in which its tables are open.
     *
     * @param pack the pack
     * @param engine the engine; {@link #close} closes it
     */
    record OpenPack(FleetPack pack, FleetEngine engine) implements AutoCloseable {

        @Override
        public void close() {
            engine.close();
        }
    }

    /** Options that choose the engine for queries. The fields are filled by picocli. */
    static final class EngineOptions {

        @Option(
                names = "--salvage",
                description = "Leave out the windows of damaged files instead of refusing the pack.")
        private boolean salvage;

        @Option(
                names = "--engine",
                paramLabel = "NAME",
                description =
                        "The query engine: duckdb in this process, or an engine that was added (${DEFAULT-VALUE}).")
        private String engine = FleetEngine.DEFAULT;

        @Option(names = "--master", paramLabel = "URL", description = "The address of a distributed engine.")
        private @Nullable String master;

        /**
         * Checks all files of a pack, opens them as tables of the engine, and reports problems of the pack.
         *
         * @param location the pack
         * @param err the writer for problems
         * @return the pack and its engine, which the caller closes
         * @throws IOException when there is no such pack or engine, or the pack is damaged
         */
        OpenPack open(String location, PrintWriter err) throws IOException {
            FleetEngine.Options usual = FleetEngine.Options.defaults();
            FleetEngine started = FleetEngine.open(
                    engine, new FleetEngine.Options(usual.memoryBytes(), usual.threads(), usual.temporary(), master));
            try {
                FleetPack pack = FleetPack.open(started, location, salvage);
                report(pack.problems(), location, err);
                pack.problems().stream()
                        .filter(problem -> problem.kind() == PackProblem.Kind.EARLIER_PACK)
                        .forEach(problem -> Brick.report(err, location + ": " + problem.reason()));
                pack.mount(started);
                return new OpenPack(pack, started);
            } catch (IOException | RuntimeException | Error failed) {
                started.close();
                throw failed;
            }
        }
    }

    private static void report(List<PackProblem> problems, String pack, PrintWriter err) {
        if (!problems.isEmpty()) {
            long leftOut = problems.stream().mapToLong(PackProblem::leftOut).sum();
            Brick.report(
                    err,
                    pack + ": problems: " + problems.size() + "; files or windows left out for them: " + leftOut
                            + "; the table " + FleetPack.PROBLEMS + " lists them all");
        }
    }

    /** Makes a pack. */
    @Command(
            name = "pack",
            sortOptions = false,
            usageHelpWidth = 100,
            description = "Packs profiles into Parquet tables that are checked before each use. What is damaged or "
                    + "contradicts most of the others is named and left out. An older pack is replaced in the end, in "
                    + "one step.",
            optionListHeading = "%nOptions:%n")
    static final class PackCommand implements Callable<Integer> {

        private static final List<String> ENDINGS = List.of(".json", ".json.gz");
        private static final String ANY = "*?[{";

        /** The memory limit of both workers together, bytes. The JVM needs about as much again. */
        private static final long MEMORY_BYTES = 1L << 30;

        @Spec
        private CommandSpec spec;

        @Parameters(
                paramLabel = "FILES",
                arity = "1..*",
                description =
                        "JSON reports, packed with gzip or not, folders with such at any depth, or patterns such as "
                                + "'runs/*/rank-*/*.json'.")
        private List<String> arguments;

        @Option(
                names = {"-o", "--out"},
                paramLabel = "DIR",
                description = "The pack: a new or empty folder, or a pack (${DEFAULT-VALUE}).")
        private Path out = Path.of(PACK);

        @Option(
                names = "--model",
                paramLabel = "NAME",
                description = "Pack the files of this model instead of the most frequent one.")
        private @Nullable String model;

        @SuppressWarnings("unused") // picocli reads it
        @Mixin
        private Brick.HelpOption help;

        @Override
        public Integer call() throws IOException {
            PrintWriter err = spec.commandLine().getErr();
            List<Path> files = new ArrayList<>();
            Map<Path, String> passedOver = new TreeMap<>();
            long bytes = 0;
            for (String argument : arguments) {
                files.addAll(files(argument, passedOver));
            }
            for (Path file : files) {
                bytes += Files.size(file);
            }
            FleetEngine.Options how = FleetEngine.Options.defaults();
            FleetPacker.Result result;
            try (InputBar bar = InputBar.of(out, FleetPacker.work(bytes))) {
                result = new FleetPacker(
                                out,
                                model,
                                new FleetEngine.Options(MEMORY_BYTES, how.threads(), how.temporary(), null),
                                bar::at)
                        .pack(files, passedOver);
            }
            List<PackProblem> problems = result.manifest().problems();
            for (PackProblem problem : problems.subList(0, Math.min(problems.size(), SHOWN_PROBLEMS))) {
                String file = problem.file() == null ? "" : problem.file() + ": ";
                String run = problem.runId() == null ? "" : "run " + problem.runId() + ": ";
                Brick.report(err, problem.kind().key() + ": " + (file.isEmpty() ? run : file) + problem.reason());
            }
            report(problems, out.toString(), err);
            if (result.windows() == 0) {
                Brick.report(err, "no valid window was found; " + out + " is unchanged");
                return CommandLine.ExitCode.SOFTWARE;
            }
            PrintWriter text = spec.commandLine().getOut();
            long packed = result.manifest().files().stream()
                    .mapToLong(file -> file.bytes())
                    .sum();
            text.println("Packed " + result.windows() + " of "
                    + Plural.of(result.manifest().profiles(), "file") + " into " + out + ", "
                    + Math.max(1, packed >> 10) + " KiB"
                    + (result.manifest().identical() == 0
                            ? ""
                            : "; " + result.manifest().identical() + " are copies of others"));
            text.flush();
            return CommandLine.ExitCode.OK;
        }

        /**
         * Returns the files of an argument, and adds the files that are passed over to {@code passedOver}, with the
         * reasons.
         */
        private List<Path> files(String argument, Map<Path, String> passedOver) throws IOException {
            int pattern = firstOf(argument);
            List<Path> found = new ArrayList<>();
            if (pattern >= 0 && !isThere(argument)) {
                int folder = argument.lastIndexOf('/', pattern) + 1;
                PathMatcher matcher = FileSystems.getDefault().getPathMatcher("glob:" + argument);
                collect(Path.of(folder == 0 ? "." : argument.substring(0, folder)), (file, attributes) -> {
                    if (!matcher.matches(folder == 0 ? Path.of(".").relativize(file) : file)) {
                        return;
                    }
                    if (attributes.isRegularFile()) {
                        found.add(file);
                    } else {
                        take(file, attributes, found, passedOver);
                    }
                });
            } else if (Files.isDirectory(Path.of(argument))) {
                collect(Path.of(argument), (file, attributes) -> take(file, attributes, found, passedOver));
            } else {
                found.add(Input.required(Path.of(argument)));
            }
            if (found.isEmpty()) {
                throw new IOException(
                        "cannot read " + argument + ": it holds no profile (" + String.join(", ", ENDINGS) + ")");
            }
            return found;
        }

        /** Adds a file of a folder to the found files, or passes it over, depending on its name and kind. */
        private void take(Path file, BasicFileAttributes attributes, List<Path> found, Map<Path, String> passedOver) {
            String name = file.getFileName().toString();
            if (attributes.isDirectory()) {
                if (!file.toAbsolutePath()
                        .normalize()
                        .equals(out.toAbsolutePath().normalize())) {
                    passedOver.put(file, "it is a pack");
                }
            } else if (!attributes.isRegularFile()) {
                passedOver.put(file, attributes.isSymbolicLink() ? "it is a link" : "it is no regular file");
            } else if (name.startsWith(".")) {
                if (!name.equals(FolderLock.FILE)) {
                    passedOver.put(file, "its name begins with a dot");
                }
            } else if (ENDINGS.stream().anyMatch(name.toLowerCase(Locale.ROOT)::endsWith)) {
                found.add(file);
            } else if (!name.equals(ExportLoss.FILE)) {
                passedOver.put(file, "its name does not end in " + String.join(" or ", ENDINGS));
            }
        }

        private static int firstOf(String argument) {
            for (int i = 0; i < argument.length(); i++) {
                if (ANY.indexOf(argument.charAt(i)) >= 0) {
                    return i;
                }
            }
            return -1;
        }

        private static boolean isThere(String argument) {
            try {
                return Files.exists(Path.of(argument));
            } catch (InvalidPathException patternOnly) {
                return false;
            }
        }

        /**
         * Visits the files below a folder. Of a folder that is a pack, only the folder itself is visited: its files are
         * no profiles.
         */
        private static void collect(Path folder, BiConsumer<Path, BasicFileAttributes> each) throws IOException {
            if (!Files.isDirectory(folder)) {
                return;
            }
            Files.walkFileTree(folder, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult preVisitDirectory(Path below, BasicFileAttributes attributes) {
                    if (FleetPack.isPack(below)) {
                        each.accept(below, attributes);
                        return FileVisitResult.SKIP_SUBTREE;
                    }
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                    each.accept(file, attributes);
                    return FileVisitResult.CONTINUE;
                }
            });
        }
    }

    /** Answers a query in SQL. */
    @Command(
            name = "sql",
            sortOptions = false,
            usageHelpWidth = 100,
            description = "Answers a SELECT over the tables rank_window, brick_window, brick_phase_window, step_window,"
                    + " device_window, request_window and pack_problem (columns: docs/FLEETS.md). DuckDB reads"
                    + " nothing else for it and writes nothing; another engine may.",
            optionListHeading = "%nOptions:%n")
    static final class SqlCommand implements Callable<Integer> {

        @Spec
        private CommandSpec spec;

        @Parameters(paramLabel = "SELECT", description = "The query.")
        private String select;

        @Mixin
        private PackOptions options;

        @ArgGroup
        private @Nullable Form form;

        @SuppressWarnings("unused") // picocli reads it
        @Mixin
        private Brick.HelpOption help;

        /** Output formats that exclude each other; the default is text for a terminal. */
        private static final class Form {
            @Option(names = "--json", description = "Print a list of objects as JSON.")
            private boolean json;

            @SuppressWarnings("unused") // picocli reads it; it applies if neither of the others is set
            @Option(names = "--markdown", description = "Print a table for a page or a comment.")
            private boolean markdown;

            @Option(names = "--csv", description = "Print a table for a spreadsheet.")
            private boolean csv;
        }

        @Override
        public Integer call() throws IOException {
            Rows rows;
            try (OpenPack open = options.openConfined(spec.commandLine().getErr())) {
                rows = open.engine().query(select);
            }
            PrintWriter out = spec.commandLine().getOut();
            if (form == null) {
                // A file or a pipe gets all columns of the query.
                Style style = Style.ofOutput();
                out.print(style.applied(
                        style.isTerminal() ? RowsText.table(rows, style.columns()) : RowsText.table(rows)));
            } else {
                out.print(Terminal.shown(
                        form.json ? RowsText.json(rows) : form.csv ? RowsText.csv(rows) : RowsText.markdown(rows)));
            }
            out.flush();
            return CommandLine.ExitCode.OK;
        }
    }

    /** Downloads the query engine. */
    @Command(
            name = "plugin",
            sortOptions = false,
            usageHelpWidth = 100,
            description = "Downloads the JDBC driver of DuckDB, " + DuckPlugin.ARTIFACT
                    + ", 80 MB, checks that it is the one "
                    + "that this program was tested with, and puts it where this program looks for it.",
            optionListHeading = "%nOptions:%n")
    static final class PluginCommand implements Callable<Integer> {

        @Spec
        private CommandSpec spec;

        @Option(names = "--from", paramLabel = "URL", description = "A Maven repository (${DEFAULT-VALUE}).")
        private URI repository = URI.create("https://repo1.maven.org/maven2");

        @Option(
                names = "--to",
                paramLabel = "DIR",
                description =
                        "The folder; set the variable BRICK_DUCKDB to it afterwards. By default the folder that the "
                                + "variable names, or else that of this program's jar.")
        private @Nullable Path folder;

        @SuppressWarnings("unused") // picocli reads it
        @Mixin
        private Brick.HelpOption help;

        @Override
        public Integer call() throws IOException {
            Path jar;
            try (InputBar bar = InputBar.of(Path.of("DuckDB"), DuckPlugin.USUAL_BYTES)) {
                jar = DuckPlugin.download(repository, folder, bar::at);
            }
            PrintWriter out = spec.commandLine().getOut();
            out.println("DuckDB: " + jar.toAbsolutePath());
            out.flush();
            return CommandLine.ExitCode.OK;
        }
    }
}
