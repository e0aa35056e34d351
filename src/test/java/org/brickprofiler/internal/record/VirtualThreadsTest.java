package org.brickprofiler.internal.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Optional;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

final class VirtualThreadsTest {

    @Test
    void aPlatformThreadIsNotVirtual() {
        assertThat(PerThread.isVirtual(Thread.currentThread())).isFalse();
    }

    @Test
    void aVirtualThreadIs() throws Exception {
        Optional<VirtualThreadStarter> starter = VirtualThreadStarter.find();
        assumeTrue(starter.isPresent(), "this JDK has no virtual threads");
        FutureTask<Boolean> task = new FutureTask<>(() -> PerThread.isVirtual(Thread.currentThread()));

        starter.get().start(task);

        assertThat(Crew.result(task)).isTrue();
    }
}
