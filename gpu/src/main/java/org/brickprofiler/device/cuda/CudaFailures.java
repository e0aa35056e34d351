package org.brickprofiler.device.cuda;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import jcuda.driver.CUresult;
import org.brickprofiler.internal.base.Log;
import org.jspecify.annotations.Nullable;

/**
 * Failures of one queue. The latest reason is kept, and the first of each kind of call is logged. After the loss of the
 * device nothing is logged any more, and no call must be made. Any thread.
 *
 * <h2>Reports wait until a thread has restored its state</h2>
 *
 * The current context and the capture mode are state of the operating system's thread. A virtual thread that blocks may
 * continue on another one, so nothing may block between the change and the restoration of such state, and logging may
 * block. Failures between {@link #enter} and {@link #leave} are kept, and reported once the state is restored.
 */
final class CudaFailures {

    private static final Log LOG = Log.of(CudaFailures.class);

    /** State that a thread has changed and not restored, with the failures to report afterwards. */
    private static final class Section {
        static final ThreadLocal<Section> OF_THREAD = ThreadLocal.withInitial(Section::new);

        private int depth;
        private List<Runnable> kept = new ArrayList<>();
    }

    /**
     * Thrown if the driver refuses a call that a queue cannot be made without. The reason is reported already. It never
     * leaves this package.
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

    /** Whether the device is lost or the queue closes, as one field for the path that enqueues. */
    private volatile boolean over;

    /**
     * Creates a record without failures.
     *
     * @param owner the name of the queue, for messages
     */
    CudaFailures(String owner) {
        this.owner = owner;
    }

    /** Begins a section in which the calling thread must not block. */
    static void enter() {
        Section.OF_THREAD.get().depth++;
    }

    /** Ends the section after the calling thread has restored its state, and reports the failures in it. */
    static void leave() {
        Section section = Section.OF_THREAD.get();
        section.depth--;
        if (section.depth == 0 && !section.kept.isEmpty()) {
            List<Runnable> kept = section.kept;
            section.kept = new ArrayList<>();
            kept.forEach(Runnable::run);
        }
    }

    /** Returns whether a failure was kept, to be reported later. */
    private static boolean isKept(Runnable report) {
        Section section = Section.OF_THREAD.get();
        return section.depth > 0 && section.kept.add(report);
    }

    /** Reports the error code of a call that failed. */
    void report(DriverCall call, int code) {
        report(call, code, CudaErrors.explain(call, code));
    }

    /** Reports the code of a call with its consequence, which is left out if the device is lost. */
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
     * Reports that something was not done, with the reason.
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
            LOG.warn("{}: {}; no more marks are set there", owner, what);
        }
    }

    /** Returns whether the device or the stream is lost, so that no call must be made any more. */
    boolean isLost() {
        return lost;
    }

    /** Notes that the queue closes. */
    void end() {
        over = true;
    }

    /** Returns whether no mark must be enqueued any more. */
    boolean isOver() {
        return over;
    }

    Optional<String> latest() {
        return Optional.ofNullable(latest);
    }
}
