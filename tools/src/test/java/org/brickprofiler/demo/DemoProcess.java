package org.brickprofiler.demo;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;

/** The demonstration as a process of its own, with pipes for its output. */
final class DemoProcess {

    /** A tiny model, with the results as JSON. */
    static final List<String> TINY = List.of(
            "--layers",
            "3",
            "--dim",
            "32",
            "--heads",
            "4",
            "--kv-heads",
            "2",
            "--ffn",
            "48",
            "--vocab",
            "100",
            "--tokens",
            "7",
            "--warmup",
            "2",
            "--threads",
            "2",
            "--json",
            "brick-profile.json");

    private DemoProcess() {}

    /** Runs the demonstration to its end. */
    static ProcessResult run(Path workingFolder, List<String> arguments) throws IOException {
        return run(workingFolder, List.of(), List.of(), arguments);
    }

    /**
     * Runs the demonstration through another command.
     *
     * @param launcher the command that gets the command line of the demonstration as its last arguments
     * @param jvmOptions options of the virtual machine
     */
    static ProcessResult run(Path workingFolder, List<String> launcher, List<String> jvmOptions, List<String> arguments)
            throws IOException {
        return ChildProcess.java(Demo.class)
                .through(launcher)
                // The virtual machine's counters would be a file, and a launcher may limit files.
                .jvmOptions(List.of("-XX:-UsePerfData", "-Dfile.encoding=UTF-8"))
                .jvmOptions(jvmOptions)
                .arguments(arguments)
                .in(workingFolder)
                .run();
    }
}
