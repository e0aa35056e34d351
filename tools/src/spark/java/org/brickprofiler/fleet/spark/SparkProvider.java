package org.brickprofiler.fleet.spark;

import java.io.IOException;
import org.brickprofiler.fleet.FleetEngine;

/** Starts the engine {@code spark}. Any thread. */
public final class SparkProvider implements FleetEngine.Provider {

    /** Creates the provider, for the service loader. */
    public SparkProvider() {}

    @Override
    public String name() {
        return "spark";
    }

    @Override
    public FleetEngine open(FleetEngine.Options options) throws IOException {
        return SparkEngine.open(options);
    }
}
