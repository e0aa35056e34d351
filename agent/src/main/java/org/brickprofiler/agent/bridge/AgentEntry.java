package org.brickprofiler.agent.bridge;

import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Leads from the entry point, which the loader of the class path loads, to the agent in its own loader. The agent's
 * class announces itself when it is initialised: a call by reflection would have the virtual machine generate classes.
 * Called under the lock of the entry point.
 */
public final class AgentEntry {

    private static @Nullable Start agent;

    /** Starts the agent. */
    @FunctionalInterface
    public interface Start {
        /**
         * Starts the agent, or makes the running agent do what the options say.
         *
         * @param options the options
         * @param instrumentation the instrumentation of the virtual machine
         * @return the messages of the agent, a line for each
         * @throws IOException when a file cannot be read or written
         */
        String start(String options, Instrumentation instrumentation) throws IOException;
    }

    private AgentEntry() {}

    /**
     * Announces the agent.
     *
     * @param start starts it
     */
    public static void announce(Start start) {
        agent = start;
    }

    /**
     * Returns the announced agent.
     *
     * @return what starts it
     * @throws NullPointerException when none was announced
     */
    public static Start agent() {
        return Objects.requireNonNull(agent, "no agent is announced");
    }
}
