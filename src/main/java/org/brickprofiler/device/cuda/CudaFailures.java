package org.brickprofiler.device.cuda;

import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What went wrong with one queue: the latest reason is kept, and the first of each kind of call is logged. Once the
 * device is lost nothing is logged any more, and no call is to be made. Any thread.
 */
final class CudaFailures {

    private static final Logger LOG = LoggerFactory.getLogger(CudaFailures.class);

    private final String owner;
    private final Set<DriverCall> told = EnumSet.noneOf(DriverCall.class);

    private volatile @Nullable String latest;
    private volatile boolean lost;

    /** Whether the device is lost or the queue closes: one question for the path that enqueues. */
    private volatile boolean over;

    /**
     * No failures yet.
     *
     * @param owner what people call the queue, for messages
     */
    CudaFailures(String owner) {
        this.owner = owner;
    }

    /** A call answered something else than success. */
    void report(DriverCall call, int code) {
        report(call, code, CudaErrors.explain(call, code));
    }

    /** The same, with what comes of it; that is of no interest where the device is lost. */
    void report(DriverCall call, int code, String consequence) {
        String what = CudaErrors.describe(call, code);
        if (CudaErrors.isLoss(code)) {
            lose(CudaErrors.loss(code) + ": " + what);
        } else {
            tell(call, what + consequence);
        }
    }

    /** Something was not done, for a reason that is known. */
    synchronized void tell(DriverCall call, String what) {
        if (lost) {
            return;
        }
        latest = what;
        if (told.add(call)) {
            LOG.warn("{}: {}; not logged again", owner, what);
        }
    }

    private synchronized void lose(String what) {
        if (!lost) {
            latest = what;
            lost = true;
            over = true;
            LOG.warn("{}: {}; nothing is marked there any more", owner, what);
        }
    }

    /** Whether calls are of no use any more. */
    boolean isLost() {
        return lost;
    }

    /** The queue closes. */
    void end() {
        over = true;
    }

    /** Whether nothing is to be enqueued any more. */
    boolean isOver() {
        return over;
    }

    Optional<String> latest() {
        return Optional.ofNullable(latest);
    }
}
