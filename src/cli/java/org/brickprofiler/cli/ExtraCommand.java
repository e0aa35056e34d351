package org.brickprofiler.cli;

import picocli.CommandLine;

/**
 * A command that another part of the program adds to {@code brick}, which finds it by {@link java.util.ServiceLoader}:
 * the command line itself knows no example.
 */
public interface ExtraCommand {

    /**
     * What a person types after {@code brick}.
     *
     * @return one word
     */
    String name();

    /**
     * The command.
     *
     * @return a new one each time; one thread
     */
    CommandLine commandLine();
}
