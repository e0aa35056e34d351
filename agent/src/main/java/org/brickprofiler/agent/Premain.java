package org.brickprofiler.agent;

import java.io.File;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.net.JarURLConnection;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.jar.JarFile;
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

    private static final String AGENT = "org/brickprofiler/agent/Agent.class";

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
            print("not started: " + cause(failed));
        }
    }

    /**
     * Attaches the agent to a running application; if the agent is already running there, requests a snapshot.
     *
     * @param options the text after the jar, or null
     * @param instrumentation the instrumentation of the virtual machine
     * @throws IllegalStateException when the agent cannot be started, or the snapshot cannot be written; the virtual
     *     machine reports the failure to the attaching tool, and the application continues
     */
    public static void agentmain(@Nullable String options, Instrumentation instrumentation) {
        try {
            run(options, instrumentation);
        } catch (Throwable failed) {
            String message = "nothing was done: " + cause(failed);
            print(message);
            throw new IllegalStateException("brick agent: " + message, failed);
        }
    }

    /** Prints in the form of {@code Messages}, a class that may be missing. */
    private static void print(String message) {
        System.err.println(Instant.now().truncatedTo(ChronoUnit.MILLIS) + " ERROR brick agent: " + message);
    }

    private static synchronized void run(@Nullable String options, Instrumentation instrumentation)
            throws IOException, URISyntaxException, ReflectiveOperationException {
        if (loader == null) {
            instrumentation.appendToBootstrapClassLoaderSearch(jar());
            loader = newLoader();
        }
        Class.forName("org.brickprofiler.agent.Agent", true, loader)
                .getMethod("start", String.class, Instrumentation.class)
                .invoke(null, options == null ? "" : options, instrumentation);
    }

    private static @Nullable Throwable cause(Throwable failed) {
        return failed instanceof InvocationTargetException ? failed.getCause() : failed;
    }

    /**
     * Returns the URL of an entry that only the agent's jar contains; the class path may hold another copy of this
     * class.
     */
    private static URL entry() {
        URL entry = ClassLoader.getSystemResource(FOLDER + AGENT);
        if (entry == null) {
            throw new IllegalStateException("the agent's own jar is not on the class path");
        }
        return entry;
    }

    private static JarFile jar() throws IOException, URISyntaxException {
        URL jar = ((JarURLConnection) entry().openConnection()).getJarFileURL();
        return new JarFile(new File(jar.toURI()));
    }

    private static ClassLoader newLoader() throws MalformedURLException {
        String entry = entry().toString();
        URL folder =
                URI.create(entry.substring(0, entry.length() - AGENT.length())).toURL();
        return new URLClassLoader("brick-profiler-agent", new URL[] {folder}, ClassLoader.getPlatformClassLoader());
    }
}
