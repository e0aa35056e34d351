package org.brickprofiler.graph;

import static org.brickprofiler.internal.base.Checks.requireName;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.brickprofiler.internal.base.Fnv1a;

/**
 * The PTX texts of kernels, by the hash that {@link ExecutionNode.Kernel} carries. Texts with the same hash count as
 * one text. Registered texts are never removed. Thread-safe: methods that read or change the registry wait for each
 * other.
 */
public final class KernelRegistry {

    /** The sources by hash, in the order of their latest registration. */
    private final Map<Long, Source> byHash = new LinkedHashMap<>();

    /** For each name that a source still has, the source that was registered last under this name. */
    private final Map<String, Source> byName = new HashMap<>();

    /** Creates a registry without kernels. */
    public KernelRegistry() {}

    /**
     * Registers a text. A text that is registered already takes the new name and keeps its path.
     *
     * @param name the kernel; another text may have the same name
     * @param text its PTX text
     * @return the text as it is registered now
     * @throws IllegalArgumentException when name or text is null or empty; the registry is not changed then
     */
    public Source register(String name, String text) {
        return register(name, text, Optional.empty());
    }

    /**
     * Registers a text. A text that is registered already takes the new name and path.
     *
     * @param name the kernel; another text may have the same name
     * @param text its PTX text
     * @param path the path of the text
     * @return the text as it is registered now
     * @throws IllegalArgumentException when name, text or path is null or empty; the registry is not changed then
     */
    public Source register(String name, String text, String path) {
        requireName("path", path);
        return register(name, text, Optional.of(path));
    }

    private Source register(String name, String text, Optional<String> path) {
        requireName("kernel name", name);
        requireName("PTX text of kernel '" + name + "'", text);
        long hash = hashOf(text);
        synchronized (this) {
            Source before = byHash.remove(hash);
            Optional<String> known = before == null ? Optional.empty() : before.path();
            Source source = new Source(name, text, path.or(() -> known), hash);
            byHash.put(hash, source);
            if (before != null && byName.remove(before.name(), before)) {
                restoreNewestOf(before.name());
            }
            byName.put(name, source);
            return source;
        }
    }

    /** Maps a name to its newest remaining text, if there is one. */
    private void restoreNewestOf(String name) {
        for (Source source : byHash.values()) {
            if (source.name().equals(name)) {
                byName.put(name, source);
            }
        }
    }

    /**
     * Returns the hash of a PTX text.
     *
     * @param text the text
     * @return the FNV-1a hash of its UTF-8 bytes
     */
    public static long hashOf(String text) {
        return Fnv1a.of(text.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Returns the text with a hash.
     *
     * @param hash the FNV-1a hash of a text's UTF-8 bytes
     * @return its source; empty if none is registered
     */
    public synchronized Optional<Source> byHash(long hash) {
        return Optional.ofNullable(byHash.get(hash));
    }

    /**
     * Returns the newest text with a name.
     *
     * @param name a kernel
     * @return the text with this name that was registered last; empty if there is none
     */
    public synchronized Optional<Source> byName(String name) {
        Objects.requireNonNull(name, "name");
        return Optional.ofNullable(byName.get(name));
    }

    /**
     * Returns the hashes of all texts.
     *
     * @return a copy, in the order of the latest registration
     */
    public synchronized List<Long> hashes() {
        return List.copyOf(byHash.keySet());
    }

    /**
     * Returns the number of registered texts.
     *
     * @return 0 or more
     */
    public synchronized int size() {
        return byHash.size();
    }

    /**
     * The PTX text of a kernel. Immutable.
     *
     * @param name the kernel
     * @param text its PTX text
     * @param path the path of the text, if known
     * @param hash the FNV-1a hash of the text's UTF-8 bytes
     */
    public record Source(String name, String text, Optional<String> path, long hash) {

        /**
         * Checks the parts.
         *
         * @throws IllegalArgumentException when name or text is null or empty, or the hash is not that of the text
         */
        public Source {
            requireName("kernel name", name);
            requireName("PTX text of kernel '" + name + "'", text);
            Objects.requireNonNull(path, "path");
            long expected = hashOf(text);
            if (hash != expected) {
                throw new IllegalArgumentException(
                        "hash 0x%016X of kernel '%s' is not that of its text, 0x%016X".formatted(hash, name, expected));
            }
        }
    }
}
