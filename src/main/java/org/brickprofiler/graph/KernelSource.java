package org.brickprofiler.graph;

import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Optional;
import org.brickprofiler.io.Fnv1a;

/**
 * The PTX text of a kernel. Immutable.
 *
 * @param name the kernel
 * @param text its PTX text
 * @param path where the text lies, where known
 * @param hash the FNV-1a hash of the text's UTF-8 bytes
 */
public record KernelSource(String name, String text, Optional<String> path, long hash) {

    /**
     * Checks the parts.
     *
     * @throws IllegalArgumentException when name or text is null or empty, or the hash is not that of the text
     */
    public KernelSource {
        Arguments.requireName("kernel name", name);
        Arguments.requireName("PTX text of kernel '" + name + "'", text);
        Objects.requireNonNull(path, "path");
        long expected = hashOf(text);
        if (hash != expected) {
            throw new IllegalArgumentException(
                    "hash 0x%016X of kernel '%s' is not that of its text, 0x%016X".formatted(hash, name, expected));
        }
    }

    /**
     * The hash of a PTX text.
     *
     * @param text the text
     * @return the FNV-1a hash of its UTF-8 bytes
     */
    public static long hashOf(String text) {
        return Fnv1a.of(text.getBytes(StandardCharsets.UTF_8));
    }
}
