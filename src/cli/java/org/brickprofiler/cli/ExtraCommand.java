package org.brickprofiler.cli;

import picocli.CommandLine;

/**
 * A command that another module adds to {@code brick}, found by {@link java.util.ServiceLoader}. The demo and the agent
 * add theirs in this way, so that this package does not depend on them.
 */
public interface ExtraCommand {

    /**
     * Returns the word that a user types after {@code brick}.
     *
     * @return one word
     */
    String name();

    /**
     * Returns the command.
     *
     * @return a new instance at each call; not thread-safe
     */
    CommandLine commandLine();
}
