package org.brickprofiler.device;

import org.brickprofiler.internal.record.FakeClock;

/** The host's own stream: the contract of streams, where work is done as it is enqueued. */
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
                // It has passed with the work.
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
