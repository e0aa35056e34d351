package org.brickprofiler.agent;

import java.io.File;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.jar.JarFile;
import org.jspecify.annotations.Nullable;

/**
 * What a virtual machine starts of the agent's jar. It puts the bridge, which is all of the jar that lies open, on the
 * bootstrap path, and the rest, which lies in a folder of the jar, into a loader that no application sees and that sees no
 * application. Whatever goes wrong is said on the standard error, and the application goes on.
 */
public final class Premain {

    /** Where the jar has what is loaded apart; with the JDK's own separator of a jar's entries. */
    private static final String FOLDER = "!/profiler/";

    private static @Nullable ClassLoader loader;

    private Premain() {}

    /**
     * Starts the agent before the application.
     *
     * @param options the text after {@code -javaagent:JAR=}, or null
     * @param instrumentation the virtual machine's
     */
    public static void premain(@Nullable String options, Instrumentation instrumentation) {
        run(options, instrumentation);
    }

    /**
     * Starts the agent in an application that runs, or asks the one that is there for a snapshot.
     *
     * @param options the text after the jar, or null
     * @param instrumentation the virtual machine's
     */
    public static void agentmain(@Nullable String options, Instrumentation instrumentation) {
        run(options, instrumentation);
    }

    private static synchronized void run(@Nullable String options, Instrumentation instrumentation) {
        try {
            if (loader == null) {
                File jar = new File(Premain.class.getProtectionDomain().getCodeSource().getLocation().toURI());
                instrumentation.appendToBootstrapClassLoaderSearch(new JarFile(jar));
                URL folder = URI.create("jar:" + jar.toURI() + FOLDER).toURL();
                loader = new URLClassLoader(
                        "brick-profiler-agent", new URL[] {folder}, ClassLoader.getPlatformClassLoader());
            }
            Class.forName("org.brickprofiler.agent.Agent", true, loader)
                    .getMethod("start", String.class, Instrumentation.class)
                    .invoke(null, options == null ? "" : options, instrumentation);
        } catch (InvocationTargetException failed) {
            System.err.println("brick agent: not started: " + failed.getCause());
        } catch (Throwable failed) {
            System.err.println("brick agent: not started: " + failed);
        }
    }
}
