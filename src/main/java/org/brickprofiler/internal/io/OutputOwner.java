package org.brickprofiler.internal.io;

import java.util.Optional;

/**
 * Decides which copy of the library writes the profile of the process. A virtual machine may have several copies, each
 * in its own class loader: the application's, a plug-in's, the agent's. They share only the system properties. Any
 * thread.
 */
public final class OutputOwner {

    private static final String PROPERTY = "brick.profiler.out.owner";

    private static volatile boolean taken;

    private OutputOwner() {}

    /**
     * Claims the output for a program that writes the file itself. From then on the profilers of this copy of the
     * library do not write it.
     *
     * @param claimant a class of this copy
     * @return the other copy that has the output already, in words; empty if the program has it now
     */
    public static Optional<String> take(Class<?> claimant) {
        taken = true;
        return claim(claimant);
    }

    /**
     * Returns whether a program writes the file in place of this copy of the library.
     *
     * @return true after {@link #take}
     */
    public static boolean isTaken() {
        return taken;
    }

    /**
     * Claims the output for a copy of the library, unless another copy has it.
     *
     * @param claimant a class of that copy
     * @return the copy that has the output already, in words; empty if this call or an earlier one of the same copy
     *     claimed it
     */
    public static Optional<String> claim(Class<?> claimant) {
        ClassLoader loader = claimant.getClassLoader();
        String name = loader == null ? "the boot loader" : loader + "";
        String copy = "the copy of the library in " + name + " (" + System.identityHashCode(loader) + ")";
        try {
            Object owner = System.getProperties().putIfAbsent(PROPERTY, copy);
            return owner == null || owner.equals(copy) ? Optional.empty() : Optional.of(owner.toString());
        } catch (SecurityException forbidden) {
            // Then no copy can claim the output, and the file itself decides.
            return Optional.empty();
        }
    }
}
