package org.brickprofiler.trace;

import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * A line of a method in which a thread stood. Immutable.
 *
 * @param method the method with its class, such as {@code org.example.VectorMath.dot}
 * @param line the line in the source; {@link #NO_LINE} if the class file has no lines, or the method is native
 * @param how how the virtual machine ran it, in its own words: {@code Interpreted}, {@code JIT compiled},
 *     {@code Inlined}, {@code Native}, or in those of async-profiler: {@code C1 compiled}, {@code C++}, {@code Kernel};
 *     empty for {@link #OTHER_PATHS}, {@link #CUT} and unknown frames
 */
public record Frame(String method, int line, String how) {

    /** In place of a line that is unknown. */
    public static final int NO_LINE = -1;

    /** In place of the frames of rare parts of a tree, which a report leaves out. No virtual machine ran it. */
    public static final Frame OTHER_PATHS = new Frame("(other paths)", NO_LINE, "");

    /** In place of the callers that the virtual machine left out of a deep stack. */
    public static final Frame CUT = new Frame("(callers left out)", NO_LINE, "");

    /** The words of the virtual machine for a frame of a native method, and of async-profiler for native code. */
    private static final Set<String> NATIVE = Set.of("Native", "C++", "Kernel");

    /** The beginnings of the names of the JDK's classes. */
    private static final List<String> JDK_CLASSES = List.of("java.", "javax.", "jdk.", "sun.", "com.sun.");

    /** Checks that nothing is null. A line that is not positive is {@link #NO_LINE}. */
    public Frame {
        Objects.requireNonNull(method, "method");
        line = line < 1 ? NO_LINE : line;
        Objects.requireNonNull(how, "how");
    }

    /**
     * Returns whether the method is one of the JDK.
     *
     * @return whether the name of its class begins like those of the JDK
     */
    public boolean isOfJdk() {
        return JDK_CLASSES.stream().anyMatch(method::startsWith);
    }

    /**
     * Returns whether the method is native code, which has no lines.
     *
     * @return whether it is a native method, or a function of a library or of the kernel
     */
    public boolean isNative() {
        return NATIVE.contains(how);
    }

    /**
     * Returns the frame in a few words.
     *
     * @return for example {@code "org.example.VectorMath.dot line 88"}
     */
    @Override
    public String toString() {
        return line == NO_LINE ? method : method + " line " + line;
    }
}
