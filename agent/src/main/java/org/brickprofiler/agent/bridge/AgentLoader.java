package org.brickprofiler.agent.bridge;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
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
 * are one entry of the jar, since opening a jar takes time for each entry: where each of {@value #GROUPS} groups begins
 * in the index and where the last one ends, an index of {@value #INDEXED} bytes for each class (key, offset, deflated
 * size, size), and the deflated class files; numbers begin with the lowest byte. The entry is stored, so that it is
 * read without a stream. Other files are entries in the same folder. Any thread.
 */
public final class AgentLoader extends ClassLoader {

    /** The name of the entry with the classes. */
    public static final String CLASSES = "classes";

    /** The size of the index for one class, bytes. */
    public static final int INDEXED = 20;

    /** The number of groups of classes, by the lowest bits of their keys; a group has about one class. */
    public static final int GROUPS = 1 << 12;

    private static final String SUFFIX = ".class";

    // The layout of a zip file without a comment: its end, the directory's entries, and the headers before the data.
    private static final int END = 0x0605_4b50;
    private static final int END_BYTES = 22;
    private static final int END_COUNT = 10;
    private static final int END_DIRECTORY_BYTES = 12;
    private static final int END_DIRECTORY_AT = 16;
    private static final int ENTRY_BYTES = 46;
    private static final int ENTRY_METHOD = 10;
    private static final int ENTRY_NAME_BYTES = 28;
    private static final int ENTRY_EXTRA_BYTES = 30;
    private static final int ENTRY_COMMENT_BYTES = 32;
    private static final int ENTRY_HEADER_AT = 42;
    private static final int HEADER_BYTES = 30;
    private static final int HEADER_NAME_BYTES = 26;
    private static final int HEADER_EXTRA_BYTES = 28;

    static {
        registerAsParallelCapable();
    }

    private final ZipFile jar;
    private final String folder;
    private final ByteBuffer groups;
    private final ByteBuffer index;

    /** The jar, for reading classes, and where the first of them begins. Guarded by itself, with the inflater. */
    private final RandomAccessFile file;

    private final long firstAt;
    private final Inflater inflater = new Inflater(true);

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
        file = new RandomAccessFile(jar.getName(), "r");
        long at = stored(folder + CLASSES);
        groups = read(at, (GROUPS + 1) * Integer.BYTES);
        index = read(at + groups.capacity(), groups.getInt(GROUPS * Integer.BYTES) * INDEXED);
        firstAt = file.getFilePointer();
    }

    /** Returns where the data of a stored entry begins in the jar: a stream would search it again for each class. */
    private long stored(String name) throws IOException {
        ByteBuffer end = read(file.length() - END_BYTES, END_BYTES);
        if (end.getInt(0) != END) {
            throw new IOException(jar.getName() + " was packed anew: it ends with a comment");
        }
        ByteBuffer directory = read(end.getInt(END_DIRECTORY_AT), end.getInt(END_DIRECTORY_BYTES));
        int at = 0;
        for (int i = 0; i < end.getShort(END_COUNT); i++) {
            byte[] found = new byte[directory.getShort(at + ENTRY_NAME_BYTES)];
            directory.get(at + ENTRY_BYTES, found);
            if (name.equals(new String(found, US_ASCII)) && directory.getShort(at + ENTRY_METHOD) == ZipEntry.STORED) {
                long headerAt = directory.getInt(at + ENTRY_HEADER_AT);
                ByteBuffer header = read(headerAt, HEADER_BYTES);
                return headerAt
                        + HEADER_BYTES
                        + header.getShort(HEADER_NAME_BYTES)
                        + header.getShort(HEADER_EXTRA_BYTES);
            }
            at += ENTRY_BYTES
                    + found.length
                    + directory.getShort(at + ENTRY_EXTRA_BYTES)
                    + directory.getShort(at + ENTRY_COMMENT_BYTES);
        }
        throw new IOException(jar.getName() + " was packed anew: " + name + " is not stored in it");
    }

    private ByteBuffer read(long at, int bytes) throws IOException {
        byte[] read = new byte[bytes];
        file.seek(at);
        file.readFully(read);
        return ByteBuffer.wrap(read).order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Returns the key of a class in the index: two hash codes, so that the agent finds no other class by chance.
     *
     * @param name the binary name of the class
     * @return the hash codes of the name and of its second half
     */
    public static long key(String name) {
        return (long) name.hashCode() << Integer.SIZE
                | Integer.toUnsignedLong(name.substring(name.length() / 2).hashCode());
    }

    /**
     * Returns the group of a class.
     *
     * @param key the key of the class
     * @return the number of the group, from 0
     */
    public static int group(long key) {
        return (int) key & (GROUPS - 1);
    }

    /** Looks for a class in the jar first, since the parents have none of these and take longer to say so. */
    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        int at = find(name);
        if (at < 0) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? define(name, at) : loaded;
        }
    }

    private Class<?> define(String name, int at) throws ClassNotFoundException {
        try {
            byte[] bytes = classFile(at);
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException unreadable) {
            throw new ClassNotFoundException(name, unreadable);
        }
    }

    /** Returns the class file at a place in the index. */
    private byte[] classFile(int at) throws IOException {
        byte[] deflated = new byte[index.getInt(at + 12)];
        byte[] bytes = new byte[index.getInt(at + 16)];
        synchronized (file) {
            file.seek(firstAt + index.getInt(at + 8));
            file.readFully(deflated);
            inflater.reset();
            inflater.setInput(deflated);
            try {
                inflater.inflate(bytes);
            } catch (DataFormatException malformed) {
                throw new IOException(jar.getName() + " is damaged", malformed);
            }
        }
        return bytes;
    }

    /** Returns the place of a class in the index; -1 if there is none. */
    private int find(String name) {
        long key = key(name);
        int group = group(key) * Integer.BYTES;
        int end = groups.getInt(group + Integer.BYTES) * INDEXED;
        for (int at = groups.getInt(group) * INDEXED; at < end; at += INDEXED) {
            if (index.getLong(at) == key) {
                return at;
            }
        }
        return -1;
    }

    @Override
    public @Nullable InputStream getResourceAsStream(String name) {
        try {
            if (name.endsWith(SUFFIX)) {
                int at = find(name.substring(0, name.length() - SUFFIX.length()).replace('/', '.'));
                return at < 0 ? super.getResourceAsStream(name) : new ByteArrayInputStream(classFile(at));
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
