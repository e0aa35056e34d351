package org.brickprofiler.testing;

import java.nio.file.Path;
import java.util.List;

/** The tool in {@code gpu/src/test/native/nvtx}, which listens to NVTX and writes a line for each call. */
public final class NvtxStandIn {

    private static final NativeLibrary LIBRARY = new NativeLibrary(
            Fixture.COMPILER,
            "libnvtx_stand_in.so",
            "cc",
            List.of(SourceTree.path("gpu", "src", "test", "native", "nvtx")),
            List.of("-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-fvisibility=hidden"));

    private NvtxStandIn() {}

    /** Returns the file of the tool. Skips the test if it cannot be built. */
    public static Path build() {
        return LIBRARY.build();
    }
}
