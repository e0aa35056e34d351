package org.brickprofiler.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IVersionProvider;

/** The version, as the manifest of the jar gives it. */
final class ProgramVersion implements IVersionProvider {

    @Override
    public String[] getVersion() {
        @Nullable String version = Brick.class.getPackage().getImplementationVersion();
        return new String[] {
            version == null ? "brick, of no known version: it does not run from its jar" : "brick " + version,
            "Java " + Runtime.version()
        };
    }
}
