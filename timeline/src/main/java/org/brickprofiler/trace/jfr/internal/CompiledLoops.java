package org.brickprofiler.trace.jfr.internal;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Whether the loops of compiled code have safepoints. The virtual machine knows the frames of a thread at safepoints
 * only: it states a sample in a loop without one for the caller, or from JDK 25 on also for what follows the loop. The
 * serial and the parallel collector have no safepoints in counted loops that C2 has compiled. Stateless; any thread.
 */
public final class CompiledLoops {

    private static final String SAFEPOINTS = "UseCountedLoopSafepoints";
    private static final String COMPILERS = "TieredStopAtLevel";

    /** The level of C2; the other compiler leaves safepoints in all loops. */
    private static final String C2 = "4";

    private static final String REASON =
            "loops that C2 compiled have no safepoints, as with the serial and the parallel"
                    + " collector, so samples of a loop may be in its caller, or in what follows it;"
                    + " -XX:+UseCountedLoopSafepoints -XX:LoopStripMiningIter=1000 places them";

    private CompiledLoops() {}

    /**
     * Returns whether a flag of the virtual machine says something about loops.
     *
     * @param name the name of a flag
     * @return whether {@link #doubt(Map)} reads it
     */
    public static boolean isFlag(String name) {
        return name.equals(SAFEPOINTS) || name.equals(COMPILERS);
    }

    /**
     * Returns why the methods and lines of samples may be wrong ones.
     *
     * @param flags the values of flags by their names
     * @return the reason in words; empty if there is none, or the flags do not state it
     */
    public static Optional<String> doubt(Map<String, String> flags) {
        boolean isDoubted = "false".equals(flags.get(SAFEPOINTS)) && C2.equals(flags.get(COMPILERS));
        return isDoubted ? Optional.of(REASON) : Optional.empty();
    }

    /**
     * Returns why the methods and lines of samples of this virtual machine may be wrong ones.
     *
     * @return the reason in words; empty if there is none, or this virtual machine does not state it
     */
    public static Optional<String> doubt() {
        Map<String, String> flags = new HashMap<>();
        try {
            HotSpotDiagnosticMXBean machine = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
            if (machine != null) {
                List.of(SAFEPOINTS, COMPILERS)
                        .forEach(name ->
                                flags.put(name, machine.getVMOption(name).getValue()));
            }
        } catch (IllegalArgumentException | LinkageError unknown) {
            // Another virtual machine, or one without the module jdk.management.
            return Optional.empty();
        }
        return doubt(flags);
    }
}
