package org.brickprofiler.device;

import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says once that a stream had no mark left, unless the stream has told a reason of its own. Any thread. */
final class ExhaustionNotice {

    private static final Logger LOG = LoggerFactory.getLogger(ExhaustionNotice.class);

    private final AtomicBoolean told = new AtomicBoolean();

    void tell(DeviceStream stream) {
        if (!told.get() && stream.failure().isEmpty() && told.compareAndSet(false, true)) {
            LOG.warn(
                    "all {} marks of stream '{}' wait for their bricks: until one is free, bricks are unresolved. End"
                            + " passes more often, or give the stream more marks",
                    stream.maxMarks(),
                    stream.name());
        }
    }
}
