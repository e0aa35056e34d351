package org.brickprofiler.agent.bridge;

import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URL;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.jspecify.annotations.Nullable;

/**
 * Loads the agent's classes from its jar, so that agent and application do not see each other's classes. All classes
 * are one entry of the jar, since opening a jar takes time for each entry: an index of {@value #INDEXED} bytes for each
 * class (hash code of its internal name, offset, deflated size, size), sorted by hash code, and the deflated class
 * files. Other files are entries in the same folder. Any thread.
 */
public final class AgentLoader extends ClassLoader {

    /** The name of the entry with the classes. */
    public static final String CLASSES = "classes";

    /** The size of the index for one class, bytes. */
    public static final int INDEXED = 16;

    private static final String SUFFIX = ".class";

    static {
        registerAsParallelCapable();
    }

    private final ZipFile jar;
    private final String folder;
    private final ZipEntry classes;
    private final ByteBuffer index;

    /**
     * Creates a loader.
     *
     * @param jar the agent's jar, which stays open
     * @param folder the name of the folder, with a slash at its end
     * @throws IOException when the jar cannot be read
     */
    public AgentLoader(ZipFile jar, String folder) throws IOException {
        super("brick-profiler-agent", ClassLoader.getPlatformClassLoader());
        this.jar = jar;
        this.folder = folder;
        classes = jar.getEntry(folder + CLASSES);
        try (InputStream in = jar.getInputStream(classes)) {
            int count = ByteBuffer.wrap(in.readNBytes(Integer.BYTES)).getInt();
            index = ByteBuffer.wrap(in.readNBytes(count * INDEXED));
        }
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        try {
            byte[] file = classFile(name.replace('.', '/'));
            if (file == null) {
                throw new ClassNotFoundException(name);
            }
            return defineClass(name, file, 0, file.length);
        } catch (IOException unreadable) {
            throw new ClassNotFoundException(name, unreadable);
        }
    }

    private byte @Nullable [] classFile(String name) throws IOException {
        int at = find(name.hashCode());
        if (at < 0) {
            return null;
        }
        byte[] deflated;
        try (InputStream in = jar.getInputStream(classes)) {
            in.skipNBytes(Integer.BYTES + index.capacity() + index.getInt(at + 4));
            deflated = in.readNBytes(index.getInt(at + 8));
        }
        byte[] file = new byte[index.getInt(at + 12)];
        Inflater inflater = new Inflater(true);
        try {
            inflater.setInput(deflated);
            inflater.inflate(file);
        } catch (DataFormatException malformed) {
            throw new IOException(name + " is damaged in " + jar.getName(), malformed);
        } finally {
            inflater.end();
        }
        return file;
    }

    /** Returns the place of a class in the index; -1 if there is none. */
    private int find(int hash) {
        int low = 0;
        int high = index.capacity() / INDEXED - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            int other = index.getInt(middle * INDEXED);
            if (other == hash) {
                return middle * INDEXED;
            } else if (other < hash) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return -1;
    }

    @Override
    public @Nullable InputStream getResourceAsStream(String name) {
        try {
            if (name.endsWith(SUFFIX)) {
                byte[] file = classFile(name.substring(0, name.length() - SUFFIX.length()));
                return file == null ? super.getResourceAsStream(name) : new ByteArrayInputStream(file);
            }
            ZipEntry entry = jar.getEntry(folder + name);
            return entry == null ? super.getResourceAsStream(name) : jar.getInputStream(entry);
        } catch (IOException unreadable) {
            return null;
        }
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
