package org.brickprofiler.internal.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.FutureTask;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.VirtualThreadStarter;
import org.junit.jupiter.api.Test;

final class VirtualThreadsTest {

    @Test
    void aPlatformThreadIsNotVirtual() {
        assertThat(PerThread.isVirtual(Thread.currentThread())).isFalse();
    }

    @Test
    void aVirtualThreadIs() throws Exception {
        VirtualThreadStarter starter = VirtualThreadStarter.orSkip();
        FutureTask<Boolean> task = new FutureTask<>(() -> PerThread.isVirtual(Thread.currentThread()));

        starter.start(task);

        assertThat(Crew.result(task)).isTrue();
    }
}
