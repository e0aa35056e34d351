package org.brickprofiler.device.cuda;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import jcuda.driver.CUresult;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Failures of one queue. The latest reason is kept, and the first of each kind of call is logged. Once the device is
 * lost nothing is logged any more, and no call is to be made. Any thread.
 *
 * <h2>Reports wait until a thread has restored its state</h2>
 *
 * Which context is current, and how a thread minds captures, belongs to the operating system's thread. A virtual thread
 * that blocks may go on on another one; so between changing such a thing and putting it back nothing may block, and to
 * log may. Failures between {@link #enter} and {@link #leave} are kept, and reported once the state is restored.
 */
final class CudaFailures {

    private static final Logger LOG = LoggerFactory.getLogger(CudaFailures.class);

    /** State that a thread has changed and not restored, with the failures to report afterwards. */
    private static final class Section {
        static final ThreadLocal<Section> OF_THREAD = ThreadLocal.withInitial(Section::new);

        private int depth;
        private List<Runnable> kept = new ArrayList<>();
    }

    /**
     * The driver refused what a queue cannot be made without. The reason is reported already. Never leaves this
     * package.
     */
    static final class Refusal extends Exception {

        private static final long serialVersionUID = 1L;

        Refusal() {
            super(null, null, false, false);
        }
    }

    private final String owner;
    private final Set<Enum<?>> logged = new HashSet<>();

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

    /** From now on the calling thread must not block. */
    static void enter() {
        Section.OF_THREAD.get().depth++;
    }

    /** The calling thread has put back what it changed after {@link #enter}. */
    static void leave() {
        Section section = Section.OF_THREAD.get();
        section.depth--;
        if (section.depth == 0 && !section.kept.isEmpty()) {
            List<Runnable> kept = section.kept;
            section.kept = new ArrayList<>();
            kept.forEach(Runnable::run);
        }
    }

    /** Returns whether something is to be reported later, and is kept until then. */
    private static boolean isKept(Runnable report) {
        Section section = Section.OF_THREAD.get();
        return section.depth > 0 && section.kept.add(report);
    }

    /** A call answered something else than success. */
    void report(DriverCall call, int code) {
        report(call, code, CudaErrors.explain(call, code));
    }

    /** The same, with what comes of it; that is of no interest where the device is lost. */
    void report(DriverCall call, int code, String consequence) {
        if (isKept(() -> report(call, code, consequence))) {
            return;
        }
        String what = CudaErrors.describe(call, code);
        if (CudaErrors.isLoss(code)) {
            lose(CudaErrors.loss(code) + ": " + what);
        } else {
            report(call, what + consequence);
        }
    }

    /** Reports a code other than success, and gives up. */
    void require(DriverCall call, int code) throws Refusal {
        if (code != CUresult.CUDA_SUCCESS) {
            report(call, code);
            throw new Refusal();
        }
    }

    /**
     * Something was not done, for a reason that is known.
     *
     * @param kind a call or another kind of failure; the first of each is logged
     */
    void report(Enum<?> kind, String what) {
        if (!isKept(() -> report(kind, what))) {
            reportNow(kind, what);
        }
    }

    private synchronized void reportNow(Enum<?> kind, String what) {
        if (lost) {
            return;
        }
        latest = what;
        if (logged.add(kind)) {
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

    /** Returns whether calls are of no use any more. */
    boolean isLost() {
        return lost;
    }

    /** The queue closes. */
    void end() {
        over = true;
    }

    /** Returns whether nothing is to be enqueued any more. */
    boolean isOver() {
        return over;
    }

    Optional<String> latest() {
        return Optional.ofNullable(latest);
    }
}
