package org.brickprofiler.agent.bridge;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URL;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.jspecify.annotations.Nullable;

/**
 * Loads the agent's classes from a folder of its jar, so that agent and application do not see each other's classes.
 * Reads the open jar directly: a {@link java.net.URLClassLoader} of a folder in a jar opens a connection for each
 * class. Any thread.
 */
public final class AgentLoader extends ClassLoader {

    static {
        registerAsParallelCapable();
    }

    private final ZipFile jar;
    private final String folder;

    /**
     * Creates a loader.
     *
     * @param jar the agent's jar, which stays open
     * @param folder the name of the folder, with a slash at its end
     */
    public AgentLoader(ZipFile jar, String folder) {
        super("brick-profiler-agent", ClassLoader.getPlatformClassLoader());
        this.jar = jar;
        this.folder = folder;
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        try (InputStream file = open(name.replace('.', '/') + ".class")) {
            if (file == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] bytes = file.readAllBytes();
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException unreadable) {
            throw new ClassNotFoundException(name, unreadable);
        }
    }

    @Override
    public @Nullable InputStream getResourceAsStream(String name) {
        try {
            InputStream own = open(name);
            return own == null ? super.getResourceAsStream(name) : own;
        } catch (IOException unreadable) {
            return null;
        }
    }

    private @Nullable InputStream open(String name) throws IOException {
        ZipEntry entry = jar.getEntry(folder + name);
        return entry == null ? null : jar.getInputStream(entry);
    }

    @Override
    protected @Nullable URL findResource(String name) {
        if (jar.getEntry(folder + name) == null) {
            return null;
        }
        try {
            return URI.create("jar:" + new File(jar.getName()).toURI() + "!/" + folder + name)
                    .toURL();
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    @Override
    protected Enumeration<URL> findResources(String name) {
        URL found = findResource(name);
        return Collections.enumeration(found == null ? List.of() : List.of(found));
    }
}
