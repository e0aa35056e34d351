package org.brickprofiler.agent;

import java.io.File;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.net.URI;
import java.net.URL;
import java.security.CodeSource;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.jar.JarFile;
import org.brickprofiler.agent.bridge.AgentEntry;
import org.brickprofiler.agent.bridge.AgentLoader;
import org.jspecify.annotations.Nullable;

/**
 * The entry point of the agent's jar. It appends the jar to the bootstrap class path, where only the bridge is visible.
 * All other classes lie in a folder of the jar; a separate loader loads them, so that agent and application do not see
 * each other's classes. The application continues after any failure, which is printed on the standard error; an
 * attaching tool sees it, too.
 */
public final class Premain {

    /** The folder of the jar with the classes that are loaded separately. */
    private static final String FOLDER = "profiler/";

    /**
     * The system property with the agent's answer to a tool that attached it: the tool's name of the call,
     * {@link #DONE} or another word, and the messages, separated by line ends.
     */
    public static final String ANSWER = "org.brickprofiler.agent.answer";

    /**
     * The option by which a tool names a call whose answer it reads; the first of the options, as {@code answer=7,}.
     */
    public static final String ANSWER_OPTION = "answer=";

    /** The second line of the answer if everything was done. */
    public static final String DONE = "done";

    private static @Nullable ClassLoader loader;

    private Premain() {}

    /**
     * Starts the agent before the application. A failure is printed and not thrown, since it would end the virtual
     * machine.
     *
     * @param options the text after {@code -javaagent:JAR=}, or null
     * @param instrumentation the instrumentation of the virtual machine
     */
    public static void premain(@Nullable String options, Instrumentation instrumentation) {
        try {
            run(options, instrumentation);
        } catch (Throwable failed) {
            print("not started: " + failed);
        }
    }

    /**
     * Attaches the agent to a running application; if the agent is already running there, makes it do what the options
     * say. The answer is the system property {@link #ANSWER}, if the options ask for it.
     *
     * @param options the text after the jar, or null
     * @param instrumentation the instrumentation of the virtual machine
     * @throws IllegalStateException when the agent cannot be started, or cannot do what the options say; the virtual
     *     machine reports the failure to the attaching tool, and the application continues
     */
    public static synchronized void agentmain(@Nullable String options, Instrumentation instrumentation) {
        String text = options == null ? "" : options;
        int comma = text.indexOf(',');
        boolean isAsked = text.startsWith(ANSWER_OPTION) && comma > 0;
        String call = isAsked ? text.substring(ANSWER_OPTION.length(), comma) : "";
        try {
            String messages = run(isAsked ? text.substring(comma + 1) : text, instrumentation);
            answer(call, DONE, messages);
        } catch (Throwable failed) {
            answer(call, "refused", reason(failed));
            String message = "nothing was done: " + failed;
            print(message);
            throw new IllegalStateException("brick agent: " + message, failed);
        }
    }

    private static void answer(String call, String outcome, String messages) {
        if (!call.isEmpty()) {
            System.setProperty(ANSWER, call + "\n" + outcome + "\n" + messages);
        }
    }

    private static String reason(Throwable failed) {
        String message = failed.getMessage();
        return message != null && (failed instanceof IOException || failed instanceof IllegalArgumentException)
                ? message
                : failed.toString();
    }

    /** Prints in the form of {@code Messages}, a class that may be missing. */
    private static void print(String message) {
        System.err.println(Instant.now().truncatedTo(ChronoUnit.MILLIS) + " ERROR brick agent: " + message);
    }

    /** Returns the agent's messages. */
    private static synchronized String run(@Nullable String options, Instrumentation instrumentation)
            throws IOException, ClassNotFoundException {
        if (loader == null) {
            JarFile jar = jar();
            instrumentation.appendToBootstrapClassLoaderSearch(jar);
            loader = new AgentLoader(jar, FOLDER);
        }
        Class.forName("org.brickprofiler.agent.Agent", true, loader);
        return AgentEntry.agent().start(options == null ? "" : options, instrumentation);
    }

    /**
     * Returns the agent's own jar: that of this class, unless the class path holds another copy of it. A search for the
     * entry that no other jar contains opens the modules of the virtual machine, too.
     */
    private static JarFile jar() throws IOException {
        CodeSource source = Premain.class.getProtectionDomain().getCodeSource();
        if (source != null && source.getLocation().getPath().endsWith(".jar")) {
            JarFile jar = new JarFile(new File(URI.create(source.getLocation().toString())), false);
            if (jar.getEntry(FOLDER + AgentLoader.CLASSES) != null) {
                return jar;
            }
            jar.close();
        }
        URL entry = ClassLoader.getSystemResource(FOLDER + AgentLoader.CLASSES);
        if (entry == null) {
            throw new IllegalStateException("the agent's own jar is not on the class path");
        }
        String jar = entry.toString();
        String file = jar.substring("jar:".length(), jar.length() - ("!/" + FOLDER + AgentLoader.CLASSES).length());
        return new JarFile(new File(URI.create(file)), false);
    }
}
