package org.brickprofiler.cli;

import picocli.CommandLine.Option;

/** The option that every command has. */
final class HelpOption {

    @SuppressWarnings("unused") // picocli reads it
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Print this and end.")
    private boolean help;
}
