package org.brickprofiler.internal.io;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.ServiceLoader;

/**
 * Writes values of one type to files, for who stands below the writers of reports. Found by {@link ServiceLoader}. Any
 * thread.
 *
 * @param <T> what is written
 */
public abstract class FileFormat<T> {

    private final Class<T> type;

    /**
     * For providers.
     *
     * @param type what is written
     */
    protected FileFormat(Class<T> type) {
        this.type = type;
    }

    /**
     * Writes a file, whole or not at all.
     *
     * @param value what to write
     * @param further what else to write behind it, by key
     * @param path where to; its folder must exist
     * @throws IOException when that fails; the message names the path and the reason
     */
    public abstract void write(T value, Map<String, ?> further, Path path) throws IOException;

    /**
     * Writes a file for people and other programs, with the values that follow from others, whole or not at all.
     *
     * @param value what to write
     * @param path where to; its folder must exist
     * @throws IOException when that fails; the message names the path and the reason
     */
    public abstract void writeFull(T value, Path path) throws IOException;

    /**
     * Reads what either method has written.
     *
     * @param path the file
     * @return the value
     * @throws IOException when it cannot be read, or is of another format; the message names the path and the reason
     */
    public abstract T read(Path path) throws IOException;

    /**
     * Looks for what the format is written with, which may be a library that not everybody has.
     *
     * @throws IllegalStateException when that is missing; the message names it
     */
    public abstract void requireLibraries();

    /**
     * The format of a type.
     *
     * @param <T> the type
     * @param type what is to be written
     * @return a format that can be written here
     * @throws IllegalStateException when there is none, or a library that it needs is missing
     */
    public static <T> FileFormat<T> of(Class<T> type) {
        for (FileFormat<?> each : ServiceLoader.load(FileFormat.class, FileFormat.class.getClassLoader())) {
            if (each.type == type) {
                @SuppressWarnings("unchecked")
                FileFormat<T> format = (FileFormat<T>) each;
                format.requireLibraries();
                return format;
            }
        }
        throw new IllegalStateException("nothing on the class path writes a " + type.getSimpleName());
    }
}
