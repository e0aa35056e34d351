package org.brickprofiler.device;

import org.brickprofiler.testing.DeviceStreamContract;
import org.brickprofiler.testing.FakeClock;

/** The host's own stream keeps the contract of streams. Its work is done by the time it is enqueued. */
class HostStreamTest extends DeviceStreamContract {

    @Override
    protected Device device() {
        FakeClock clock = new FakeClock();
        return new Device() {
            @Override
            public DeviceStream open() {
                return new HostStream(clock);
            }

            @Override
            public void work(long ns) {
                clock.advance(ns);
            }

            @Override
            public void pass(long ns) {
                // The time has passed with the work.
            }

            @Override
            public boolean worksLater() {
                return false;
            }

            @Override
            public int liveMarks() {
                return 0;
            }
        };
    }
}
