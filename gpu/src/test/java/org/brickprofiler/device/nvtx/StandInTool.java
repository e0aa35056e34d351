package org.brickprofiler.device.nvtx;

import com.sun.jna.Function;
import java.util.List;
import org.brickprofiler.testing.NvtxStandIn;

/** The tool in {@code src/test/native/nvtx}, which writes a line for each call. */
final class StandInTool {

    static final int USUAL = 0;
    static final int REFUSES = 1;
    static final int WANTS_NO_RANGES = 2;
    static final int WANTS_NO_STRINGS = 3;

    private StandInTool() {}

    /** Builds the tool. Skips the test if it cannot be built. */
    static String build() {
        return NvtxStandIn.build().toString();
    }

    /** Makes the tool of a library behave in another way when it is attached. */
    static void behave(String library, int mode) {
        com.sun.jna.NativeLibrary.getInstance(library)
                .getGlobalVariableAddress("nvtx_stand_in_mode")
                .setInt(0, mode);
    }

    /** Returns the lines of all calls of this process so far. */
    static List<String> lines(String library) {
        Function lines = com.sun.jna.NativeLibrary.getInstance(library).getFunction("nvtx_stand_in_lines");
        return lines.invokeString(new Object[0], false).lines().toList();
    }
}
