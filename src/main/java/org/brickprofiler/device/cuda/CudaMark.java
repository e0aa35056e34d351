package org.brickprofiler.device.cuda;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import jcuda.driver.CUevent;

/**
 * An event behind a mark's number, and who may use it. There is one owner at a time: whoever took the number from the
 * pool, until it is {@link #set()}; then whoever gets it by {@link #release()} or {@link #retire()}, which only one call
 * of all does.
 */
final class CudaMark {

    private static final int OWNED = 0;
    private static final int SET = 1;
    private static final int RETIRED = 2;

    private static final VarHandle STATE = state();

    private final CUevent event = new CUevent();

    @SuppressWarnings("unused") // through STATE
    private int state = OWNED;

    private static VarHandle state() {
        try {
            return MethodHandles.lookup().findVarHandle(CudaMark.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    CUevent event() {
        return event;
    }

    /** By its owner: the event is recorded, and no longer the owner's. */
    void set() {
        STATE.setRelease(this, SET);
    }

    /** The caller is the owner now, to give the number back. False where it is not set. */
    boolean release() {
        return STATE.compareAndSet(this, SET, OWNED);
    }

    /** The caller is the owner now, for good, to destroy the event. False where it is not set. */
    boolean retire() {
        return STATE.compareAndSet(this, SET, RETIRED);
    }

    /** By its owner: the event is to be destroyed. */
    void retireOwned() {
        STATE.setRelease(this, RETIRED);
    }
}
