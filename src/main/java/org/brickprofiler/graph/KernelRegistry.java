package org.brickprofiler.graph;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * The PTX texts of kernels, by the hash that {@link ExecutionNode.Kernel} carries. Texts are told apart by their hash
 * alone and are never removed. Every method may be called from any thread; they wait for each other.
 */
public final class KernelRegistry {

    /** In the order of the latest registration. */
    private final Map<Long, KernelSource> byHash = new LinkedHashMap<>();

    /** The source registered last under each name that a source still has. */
    private final Map<String, KernelSource> byName = new HashMap<>();

    /** A registry without kernels. */
    public KernelRegistry() {}

    /**
     * Registers a text. A text that is registered already takes the new name and keeps its path.
     *
     * @param name the kernel; another text may have the same name
     * @param text its PTX text
     * @return what is now known of the text
     * @throws IllegalArgumentException when name or text is null or empty; the registry is not changed then
     */
    public KernelSource register(String name, String text) {
        return register(name, text, Optional.empty());
    }

    /**
     * Registers a text. A text that is registered already takes the new name and path.
     *
     * @param name the kernel; another text may have the same name
     * @param text its PTX text
     * @param path where the text lies
     * @return what is now known of the text
     * @throws IllegalArgumentException when name, text or path is null or empty; the registry is not changed then
     */
    public KernelSource register(String name, String text, String path) {
        Arguments.requireName("path", path);
        return register(name, text, Optional.of(path));
    }

    private KernelSource register(String name, String text, Optional<String> path) {
        Arguments.requireName("kernel name", name);
        Arguments.requireName("PTX text of kernel '" + name + "'", text);
        long hash = KernelSource.hashOf(text);
        synchronized (this) {
            KernelSource before = byHash.remove(hash);
            Optional<String> known = before == null ? Optional.empty() : before.path();
            KernelSource source = new KernelSource(name, text, path.or(() -> known), hash);
            byHash.put(hash, source);
            if (before != null && byName.remove(before.name(), before)) {
                restoreNewestOf(before.name());
            }
            byName.put(name, source);
            return source;
        }
    }

    /** Finds another text for a name that has just lost its newest one. */
    private void restoreNewestOf(String name) {
        for (KernelSource source : byHash.values()) {
            if (source.name().equals(name)) {
                byName.put(name, source);
            }
        }
    }

    /**
     * The text of a hash.
     *
     * @param hash the FNV-1a hash of a text's UTF-8 bytes
     * @return its source; empty where none is registered
     */
    public synchronized Optional<KernelSource> byHash(long hash) {
        return Optional.ofNullable(byHash.get(hash));
    }

    /**
     * The text of a name.
     *
     * @param name a kernel
     * @return of the texts that have this name now, the one registered last; empty where there is none
     */
    public synchronized Optional<KernelSource> byName(String name) {
        Objects.requireNonNull(name, "name");
        return Optional.ofNullable(byName.get(name));
    }

    /**
     * The hashes of all texts.
     *
     * @return a copy, in the order in which the texts were registered last
     */
    public synchronized List<Long> hashes() {
        return List.copyOf(byHash.keySet());
    }

    /**
     * How many texts are registered.
     *
     * @return 0 or more
     */
    public synchronized int size() {
        return byHash.size();
    }
}
