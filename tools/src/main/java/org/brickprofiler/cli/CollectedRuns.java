package org.brickprofiler.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.brickprofiler.cli.ProgramRunner.RunOutcome;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.report.JsonReport;

/**
 * The folder of {@code brick run} with the runs of an earlier call. The folder names the commands of its runs, so that
 * runs of other commands are never added to them. Used by one thread.
 *
 * @param folder the folder with the runs
 * @param commands the commands of this call, without their secrets, by the name of their side
 */
record CollectedRuns(Path folder, Map<String, String> commands) {

    private static final String COMMANDS_FILE = "commands.properties";
    private static final Pattern RUN_FILE = Pattern.compile("(\\d{3,9})\\.(json|log)");

    /**
     * Checks that the runs in the folder are of the same commands.
     *
     * @throws IOException when the file with its commands cannot be read
     * @throws IllegalArgumentException when there is no such file, or it names other commands; the message names both
     */
    void requireSameCommands() throws IOException {
        Path file = folder.resolve(COMMANDS_FILE);
        if (!Files.isRegularFile(file)) {
            throw new IllegalArgumentException("--add: nothing in " + folder
                    + " says by which commands its runs were made (there is no " + COMMANDS_FILE + ")");
        }
        Properties known = new Properties();
        try (InputStream in = Files.newInputStream(file)) {
            known.load(in);
        }
        commands.forEach((side, command) -> {
            // Folders of earlier versions have secrets.
            String before = Secrets.masked(known.getProperty(side, ""));
            if (!command.equals(before)) {
                throw new IllegalArgumentException("--add: the runs of " + side + " in " + folder
                        + " are of the command '" + before + "', not of '" + command + "'");
            }
        });
    }

    /**
     * Stores the commands of the runs in the folder.
     *
     * @throws IOException when the file cannot be written
     */
    void noteCommands() throws IOException {
        Properties known = new Properties();
        known.putAll(commands);
        AtomicFile.write(folder.resolve(COMMANDS_FILE), out -> known.store(out, "The commands of these runs"));
    }

    /**
     * Returns the successful runs of a side in the folder.
     *
     * @throws IOException when a profile cannot be read
     */
    List<RunOutcome> of(String side) throws IOException {
        List<RunOutcome> found = new ArrayList<>();
        for (Path file : files(side).values()) {
            if (String.valueOf(file.getFileName()).endsWith(".json")) {
                Path log =
                        file.resolveSibling(String.valueOf(file.getFileName()).replace(".json", ".log"));
                found.add(new RunOutcome("", file, Optional.of(JsonReport.read(file)), 0, log));
            }
        }
        return found;
    }

    /** Returns the highest number of a run of any side, failed ones included; 0 if there is none. */
    int lastNumber() throws IOException {
        int last = 0;
        try (Stream<Path> sides = Files.list(folder)) {
            for (Path side : sides.filter(Files::isDirectory).toList()) {
                for (String name : files(String.valueOf(side.getFileName())).keySet()) {
                    last = Math.max(last, Integer.parseInt(name.substring(0, name.indexOf('.'))));
                }
            }
        }
        return last;
    }

    private Map<String, Path> files(String side) throws IOException {
        Map<String, Path> found = new TreeMap<>();
        Path there = folder.resolve(side);
        if (Files.isDirectory(there)) {
            try (DirectoryStream<Path> each = Files.newDirectoryStream(there)) {
                for (Path file : each) {
                    Matcher run = RUN_FILE.matcher(String.valueOf(file.getFileName()));
                    if (run.matches()) {
                        found.put(run.group(), file);
                    }
                }
            }
        }
        return found;
    }
}
