package org.brickprofiler.testing;

import java.nio.file.Files;
import java.nio.file.Path;

/** The whole source tree, of which the tests of each project see their own folder as the current one. */
public final class SourceTree {

    private static final Path TOP = top(Path.of("").toAbsolutePath());

    private SourceTree() {}

    /** Returns a file or folder of the tree, by its path from the top. */
    public static Path path(String first, String... more) {
        return TOP.resolve(Path.of(first, more));
    }

    private static Path top(Path folder) {
        Path parent = folder;
        while (!Files.isDirectory(parent.resolve(".mvn"))) {
            parent = parent.getParent();
            if (parent == null) {
                throw new IllegalStateException("no folder above " + folder + " is the top of the source tree");
            }
        }
        return parent;
    }
}
